// SETATTR among the writes of a file.
#pragma once

#include <functional>

#include "cache/file/file.h"
#include "cache/write/write_back.h"
#include "client/files/setattr.h"

namespace nfsrdma::cache {

/// The attributes to set, and the caller.
struct AttributeChange {
  client::Credential caller;
  std::int32_t pid = 0;  ///< of the caller, for locks
  client::SetAttributes set;
  /// Whether the caller has had an error while it waited (soft, or killed); null: never. Then a
  /// change of size is not made: it would come behind writes that were made since.
  std::function<bool()> given_up{};
};

/// Sets attributes and takes in the result. A change of size is made through `through`, or another
/// open of the same user that may write, in the name of its lock if there is one; it waits for the
/// writes in flight, so that none of them is sent again after it. Before other changes dirty data
/// is made durable, because WRITE sets the times, also when it is sent again.
Task<Result<void>> set_attributes(WriteBack& writes, InodeRef inode, FileRef through,
                                  AttributeChange change);

}  // namespace nfsrdma::cache
