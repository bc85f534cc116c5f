// Shared by the operations of one COMPOUND.
#pragma once

#include <algorithm>
#include <optional>

#include "tests/proto/operations.h"
#include "tests/responder/nfs/server_state.h"
#include "tests/responder/service.h"

namespace nfsrdma::responder {

class CompoundContext {
 public:
  CompoundContext(ServerState& server_state, ServerCall& server_call);
  CompoundContext(const CompoundContext&) = delete;
  CompoundContext& operator=(const CompoundContext&) = delete;

  FileTable& files() { return *server.files; }
  StateTable& states() { return server.clients->states; }

  /// Makes a file the current one; `stat`: its attributes, if known.
  void set_current(FileRef file, std::optional<FileStat> stat = {});
  /// Attributes of the current file, read once until something changes it.
  Outcome<FileStat> current_stat();
  /// This operation has changed an inode.
  void changed(const FileRef& file);

  /// The stateid itself, or the one behind the current stateid (RFC 8881 section 16.2.3.1.2).
  nfs4::stateid4 effective(const nfs4::stateid4& stateid) const;
  void set_current_stateid(const State& state) {
    current_stateid = server.clients->states.stateid_of(state);
  }

  /// Bytes of the unreduced reply so far, and the limit of the session.
  std::size_t reply_size() const { return out.message_size(); }
  std::size_t reply_limit() const;
  /// Bytes that the reply may still grow by.
  std::size_t room() const { return reply_limit() - std::min(reply_limit(), reply_size()); }

  /// The same number when this client asks the same again, on another slot and with another XID;
  /// most likely another one for another operation or request. Only behind SEQUENCE.
  std::uint64_t identity() const;

  ServerState& server;
  ServerCall& call;
  xdr::Decoder& in;
  xdr::Encoder& out;
  Identity who;
  Principal principal;

  SessionRef session;  ///< null in requests without SEQUENCE
  Client* client = nullptr;
  nfs4::slotid4 slot = 0;
  bool cache_this = false;

  std::uint32_t operations = 0;                 ///< in this COMPOUND
  std::uint32_t index = 0;                      ///< of the operation being executed
  std::optional<xdr::Decoder> behind_sequence;  ///< the other operations

  FileRef current;
  FileRef saved;
  nfs4::stateid4 current_stateid = kInvalidStateid;
  nfs4::stateid4 saved_stateid = kInvalidStateid;

 private:
  std::optional<FileStat> current_stat_;
};

/// A directory's change attribute before and after an operation.
class DirectoryChange {
 public:
  DirectoryChange(CompoundContext& context, FileRef directory);
  /// Call when the directory has been changed.
  nfs4::change_info4 finish();
  /// For an operation that turned out to change nothing.
  nfs4::change_info4 unchanged() const { return {true, before_, before_}; }

 private:
  nfs4::changeid4 read() const;

  CompoundContext& context_;
  FileRef directory_;
  nfs4::changeid4 before_;
};

}  // namespace nfsrdma::responder
