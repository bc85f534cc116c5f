// Reads a COMPOUND reply operation by operation and compares it with the request.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "client/proto/codec.h"
#include "client/proto/opnum.h"
#include "client/proto/status.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::client {

/// Every result must be of the operation asked for, in order; nothing may follow a failed one, and
/// nothing may be left over. Violations are errors of Layer::decode; a failed operation is an error
/// of Layer::nfs whose step is the operation and whose detail is its place.
class CompoundReader {
 public:
  /// The request that its errors name (Error::xid). Call before open().
  void set_request(std::uint32_t xid, std::uint32_t slot) {
    xid_ = xid;
    slot_ = slot;
  }
  /// Stands at the first result. `in` and `asked` must stay as long as the reader is used.
  Result<void> open(xdr::Decoder& in, std::span<const nfs4::nfs_opnum4> asked);

  /// Reads the next result. On an error of Layer::nfs `result` has the failed arm.
  template <class Res>
  Result<void> read(Res& result) {
    auto outcome = next(Res::opnum);
    if (outcome) {
      if constexpr (requires { Res::may_end_with_status; }) {
        result.status = result_status_;
        if (!take_lone_status()) nfs4::decode(*in_, result);
      } else {
        nfs4::decode(*in_, result);
      }
      outcome = judge();
    }
    return of_request(std::move(outcome));
  }
  /// After the last result: nothing may be left.
  Result<void> finish();

  /// Of the whole COMPOUND: NFS4_OK, or the status of the operation that failed.
  nfs4::nfsstat4 status() const { return status_; }
  /// Index of the last operation the server has answered; it is the one that failed, if any has.
  std::uint32_t last_index() const { return results_ - 1; }

 private:
  Result<void> begin();
  /// Adds the request (Error::xid, Error::slot) to the error of `outcome`, if it is one.
  Result<void> of_request(Result<void> outcome) const;
  Result<void> next(nfs4::nfs_opnum4 opnum);
  /// The result is a failure of which there is nothing but its status: takes that.
  bool take_lone_status();
  Result<void> judge();
  Error unexpected(const char* what) const;

  xdr::Decoder* in_ = nullptr;
  std::span<const nfs4::nfs_opnum4> asked_;
  std::uint32_t xid_ = 0;
  std::uint32_t slot_ = Error::kNoSlot;
  std::uint32_t results_ = 0;  // how many the server sent
  std::uint32_t index_ = 0;    // of the result to be read next
  nfs4::nfsstat4 status_ = nfs4::NFS4_OK;
  nfs4::nfsstat4 result_status_ = nfs4::NFS4_OK;
};

}  // namespace nfsrdma::client
