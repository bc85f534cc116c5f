#include "client/session/client_id.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

constexpr std::size_t kHostNameBytes = 256;

std::string host_name() {
  char name[kHostNameBytes] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

std::uint64_t random_number() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

/// Different for every start, also of the same identity: the server then drops the state of the
/// instance before (RFC 8881 section 18.35.4, client restart).
nfs4::verifier4 make_verifier() {
  const std::uint64_t value = random_number();
  nfs4::verifier4 verifier;
  std::memcpy(verifier.data(), &value, verifier.size());
  return verifier;
}

}  // namespace

// The random part tells mounts apart that start at once in containers of one name.
std::string make_client_owner() {
  const auto started = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("nfsrdma {} {} {:x} {:016x}", host_name(), getpid(), started, random_number());
}

ClientId::ClientId(Reactor& reactor, std::string identity)
    : identity_(identity.empty() ? reactor.seen("client owner", make_client_owner())
                                 : std::move(identity)),
      verifier_(reactor.seen("client verifier", make_verifier())) {
  if (identity_.size() > nfs4::NFS4_OPAQUE_LIMIT) identity_.resize(nfs4::NFS4_OPAQUE_LIMIT);
}

void ClientId::add_exchange(Compound& compound) const {
  nfs4::EXCHANGE_ID4args args;
  args.eia_clientowner.co_verifier = verifier_;
  args.eia_clientowner.co_ownerid = std::as_bytes(std::span(identity_));
  args.eia_flags = nfs4::EXCHGID4_FLAG_USE_NON_PNFS;
  compound.add(args);
}

Result<bool> ClientId::accept_exchange(CompoundReader& results) {
  nfs4::EXCHANGE_ID4res result;
  TRY(results.read(result));
  TRY(results.finish());
  const nfs4::EXCHANGE_ID4resok& ok = result.eir_resok4;
  if (ok.eir_state_protect.spr_how != nfs4::SP4_NONE) {
    return fail(Error::local(EPROTO, "EXCHANGE_ID", "the server chose state protection unasked"));
  }
  const std::uint32_t roles = ok.eir_flags & nfs4::EXCHGID4_FLAG_MASK_PNFS;
  if (roles == nfs4::EXCHGID4_FLAG_USE_PNFS_DS) {
    return fail(Error::local(ENOTSUP, "EXCHANGE_ID", "a pNFS data server only; mount its MDS"));
  }
  const bool confirmed = (ok.eir_flags & nfs4::EXCHGID4_FLAG_CONFIRMED_R) != 0;
  // A confirmed client id goes on with its own numbers (RFC 8881 section 18.35.4).
  const bool fresh = !confirmed || ok.eir_clientid != clientid_;
  if (fresh) {
    sequence_ = ok.eir_sequenceid;
    guessed_ = 0;
  }
  clientid_ = ok.eir_clientid;
  known_ = true;
  log::debug("client id {:016x}, {}", clientid_, confirmed ? "confirmed" : "new");
  return fresh;
}

void ClientId::sequence_used() {
  ++sequence_;
  guessed_ = 0;
}

void ClientId::sequence_refused(nfs4::nfsstat4 status) {
  switch (status) {
    case nfs4::NFS4ERR_SEQ_MISORDERED:
      if (guessed_ == 0) return;
      --guessed_;
      --sequence_;
      return;
    case nfs4::NFS4ERR_STALE_CLIENTID:
    case nfs4::NFS4ERR_DELAY: return;  // refused before the number was looked at
    default: ++sequence_; ++guessed_;
  }
}

}  // namespace nfsrdma::client
