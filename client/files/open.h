// OPEN (RFC 8881 section 18.16): of a file by handle (CLAIM_FH), by name (CLAIM_NULL), and with
// creation. The delegation that may come with it is the DelegationTable's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "client/files/open_ref.h"
#include "client/proto/object.h"
#include "client/requests/open.h"
#include "client/requests/read.h"
#include "client/requests/set_attributes.h"

namespace nfsrdma::client {

struct Files;

struct Opened {
  FileHandle handle;
  Attributes attributes;
  OpenRef open;
  /// The server keeps an open file that was removed (OPEN4_RESULT_PRESERVE_UNLINKED).
  bool preserve_unlinked = false;
  NameChange directory{};  ///< of create(): the directory that the name was made in
  /// Of open(): the bytes that the same request read, at least as new as the attributes.
  std::optional<ReadData> first_bytes{};
};

/// Whether a delegation is asked for. Not for a file whose data are not cached.
enum class Delegating : std::uint8_t { wanted, unwanted };

enum class CreateMode : std::uint8_t {
  unchecked,  ///< an existing file is opened
  guarded,    ///< an existing file is EEXIST; a lost reply is covered by the session's replay cache
  exclusive,  ///< EXCLUSIVE4_1: as guarded, and recognises its own earlier attempt by a verifier
};

/// Nothing is denied to others. Fails with NFS4ERR_ACCESS where the server has let the caller open
/// the file and `use` is another right (ACCESS in the same request). `first`: where the
/// first bytes of the file are read to in the same request; empty: none are. `by`: the name that
/// must lead to the file still; its view is valid until the end.
Task<Result<Opened>> open(Files& files, Credential caller, FileHandle file, OpenFor use,
                          Delegating delegating = Delegating::wanted, ReadSink first = {},
                          std::optional<NameOfFile> by = {});
Task<Result<Opened>> open_by_name(Files& files, Credential caller, FileHandle dir,
                                  std::string_view name, OpenFor use);
/// Without asking the server: under a delegation that covers it. Empty when there is none; the
/// attributes that are known stay right as long as it is held.
struct OpenedLocally {
  OpenRef open;
  bool preserve_unlinked = false;
};
std::optional<OpenedLocally> open_locally(Files& files, const Credential& caller,
                                          const FileHandle& file, OpenFor use);
/// `initial` is applied to a new file; of an existing one only size 0 is applied (unchecked).
Task<Result<Opened>> create(Files& files, Credential caller, FileHandle dir, std::string_view name,
                            CreateMode mode, SetAttributes initial, OpenFor use,
                            Delegating delegating = Delegating::wanted);

}  // namespace nfsrdma::client
