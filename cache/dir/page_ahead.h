// The page of a directory behind the present one, requested before a program needs it.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <optional>

#include "cache/dir/directory_stream.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::cache {

/// Owned by its request, and by the open directory while it may be of use. Belongs to one shard.
struct PageAhead : boost::intrusive_ref_counter<PageAhead, boost::thread_unsafe_counter> {
  PageAhead(Reactor& reactor, const DirectoryStream::Asked& with, std::uint32_t user)
      : asked(with), uid(user), arrived(reactor) {}

  DirectoryStream::Asked asked;
  std::uint32_t uid;                                  ///< in whose name it is asked for
  std::optional<Result<client::DirectoryPage>> page;  ///< nothing until it has arrived
  WaitQueue arrived;
};

using PageAheadRef = boost::intrusive_ptr<PageAhead>;

}  // namespace nfsrdma::cache
