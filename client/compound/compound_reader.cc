#include "client/compound/compound_reader.h"

#include <fmt/format.h>

#include "client/proto/types.h"

namespace nfsrdma::client {
namespace {

constexpr std::size_t kLeastResult = 2 * xdr::kUnit;  // operation number and status

}  // namespace

Result<void> CompoundReader::open(xdr::Decoder& in, std::span<const nfs4::nfs_opnum4> asked) {
  in_ = &in;
  asked_ = asked;
  index_ = 0;
  return of_request(begin());
}

Result<void> CompoundReader::begin() {
  xdr::Decoder& in = *in_;
  status_ = static_cast<nfs4::nfsstat4>(in.u32("COMPOUND4res status"));
  in.string(nfs4::kMaxText, "COMPOUND4res tag");
  results_ = in.count(asked_.size(), kLeastResult, "COMPOUND4res resarray");
  if (in.ok() && !nfs4::is_defined(status_)) {
    in.set_fault(xdr::Fault::bad_enum, "COMPOUND4res status");
  }
  TRY(in.status("COMPOUND"));
  if (results_ == 0) {
    // The server failed before the first operation: NFS4ERR_MINOR_VERS_MISMATCH and the like.
    if (status_ == nfs4::NFS4_OK) return fail(unexpected("no results"));
    return fail(Error{Layer::nfs, static_cast<int>(status_), "COMPOUND", {}});
  }
  if (status_ == nfs4::NFS4_OK && results_ != asked_.size()) {
    return fail(unexpected("fewer results than operations"));
  }
  return {};
}

Result<void> CompoundReader::next(nfs4::nfs_opnum4 opnum) {
  if (index_ >= results_) return fail(unexpected("a result is missing"));
  if (asked_[index_] != opnum) return fail(unexpected("result read out of order"));
  const std::uint32_t answered = in_->u32("resop");
  xdr::Decoder ahead = *in_;
  result_status_ = static_cast<nfs4::nfsstat4>(ahead.u32("status"));
  const bool illegal = answered == nfs4::OP_ILLEGAL && result_status_ == nfs4::NFS4ERR_OP_ILLEGAL;
  if (in_->ok() && answered != opnum && !illegal) in_->set_fault(xdr::Fault::unexpected, "resop");
  return in_->status(nfs4::operation_name(opnum).data());
}

bool CompoundReader::take_lone_status() {
  if (result_status_ == nfs4::NFS4_OK || in_->remaining() != xdr::kUnit) return false;
  in_->u32("status");
  return true;
}

Result<void> CompoundReader::judge() {
  const char* step = nfs4::operation_name(asked_[index_]).data();
  ++index_;
  TRY(in_->status(step));
  const bool last = index_ == results_;
  const nfs4::nfsstat4 claimed = last ? status_ : nfs4::NFS4_OK;
  if (result_status_ != claimed) return fail(unexpected("status differs from the COMPOUND's"));
  if (result_status_ == nfs4::NFS4_OK) return {};
  TRY(in_->finish(step));
  return fail(Error{Layer::nfs, static_cast<int>(result_status_), step,
                    fmt::format("op {} of {}", index_, asked_.size())});
}

Result<void> CompoundReader::finish() { return of_request(in_->finish("COMPOUND")); }

Result<void> CompoundReader::of_request(Result<void> outcome) const {
  if (!outcome) {
    outcome.error().xid = xid_;
    outcome.error().slot = slot_;
  }
  return outcome;
}

Error CompoundReader::unexpected(const char* what) const {
  return Error{
      Layer::decode, static_cast<int>(xdr::Fault::unexpected), "COMPOUND",
      fmt::format("{}: result {} of {}, {} asked", what, index_ + 1, results_, asked_.size())};
}

}  // namespace nfsrdma::client
