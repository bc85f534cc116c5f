// Keeps the opens at the server equal to the opens in use here.
#pragma once

#include <cstdint>
#include <vector>

#include "client/files/open_ref.h"
#include "client/requests/close.h"
#include "client/state/delegation_table.h"
#include "client/state/open_table.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

struct RequestContext;

/// Sends CLOSE, OPEN_DOWNGRADE and the claims of opens that a delegation covered; the races are
/// told in open_table.h. Belongs to one shard; outlives every OpenRef.
class OpenFiles {
 public:
  OpenFiles(RequestContext& context, OpenTable& table, DelegationTable& delegations)
      : context_(context), table_(table), delegations_(delegations) {}

  /// Takes over the result of a successful OPEN.
  OpenRef merge(const Credential& caller, const FileHandle& handle, std::uint32_t share_access,
                const nfs4::stateid4& stateid);
  /// One more open of a file whose delegation covers it: nothing is sent. Empty when there is no
  /// such delegation, or the server has not authorized this caller yet.
  OpenRef open_locally(const Credential& caller, const FileHandle& handle, OpenFor use);
  /// CLOSE on the last reference of the file and owner, OPEN_DOWNGRADE when the remaining ones need
  /// less access, else nothing is sent.
  Task<Result<void>> close(OpenRef open);
  /// The same without a caller that waits for it.
  void close_in_background(OpenRef open);
  /// Has the server know every open in use that only the delegation covered: OPEN with
  /// CLAIM_DELEG_CUR_FH (RFC 8881 section 10.2.1). An open that the server does not take is
  /// reopened.
  Task<Result<void>> claim(OpenFileRef file);
  /// No open uses the delegation any more; returns those that did. One that the server does not
  /// know is opened anew.
  std::vector<OpenFileRef> detach(const Delegation& delegation);
  /// Downgrades the open at the server to the accesses in use.
  Task<void> narrow_quietly(OpenFileRef file);
  /// Returns the delegation, and in the same request CLOSEs this open of the user it was granted
  /// to, which nothing uses (detach()). False: neither was done, and each is to be sent by itself.
  Task<bool> close_with(DelegationRef delegation, OpenFileRef file);
  /// CLOSEs everything, also what still has references. No open is given back to the server
  /// afterwards.
  Task<Result<void>> close_all();

  std::size_t open_files() const { return table_.open_files(); }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  Task<void> close_quietly(OpenRef open);
  Task<Result<void>> narrow(OpenFileRef file, net::Pace pace = net::Pace::prompt);
  /// Whether the answer to an OPEN of the file has come within this time.
  Task<bool> merged_within(OpenFileRef file, Duration longest);
  Task<Result<void>> narrow_once(OpenFileRef file, std::uint32_t needed, net::Pace pace);
  Task<Result<void>> send_close(OpenFileRef file, net::Pace pace);
  Task<void> unlock_all(OpenFileRef file);
  Result<void> note_closed(OpenFile& file, const nfs4::stateid4& closing, const Narrowed& closed);
  Task<Result<void>> send_downgrade(OpenFileRef file, std::uint32_t needed);
  /// What claim() does. The file's changing() is held.
  Task<Result<void>> claim_each(OpenFileRef file);
  Task<Result<void>> claim(OpenFileRef file, std::uint32_t share_access);

  RequestContext& context_;
  OpenTable& table_;
  DelegationTable& delegations_;
  bool closed_ = false;
  Counter closes_;
  Counter downgrades_;
  Counter claims_;
  Counter old_stateids_;
};

}  // namespace nfsrdma::client
