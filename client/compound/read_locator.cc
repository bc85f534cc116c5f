#include "client/compound/read_locator.h"

#include "client/proto/types.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::client {
namespace {

using rpc::PayloadPlace;
using Kind = PayloadPlace::Kind;

constexpr std::size_t kWord = xdr::kUnit;
constexpr std::size_t kResultHead = 2 * kWord;  // operation number and status
/// COMPOUND4res: status, length of the tag, number of results.
constexpr std::size_t kCompoundHead = 3 * kWord;
constexpr std::size_t kSequenceResult = nfs4::NFS4_SESSIONID_SIZE + 5 * kWord;
/// READ4resok: eof, length of the data.
constexpr std::size_t kReadHead = 2 * kWord;
constexpr std::size_t kLeastOffset = rpc::kAcceptedReplyHeader + kCompoundHead + kResultHead +
                                     kSequenceResult + kResultHead + kResultHead + kReadHead;

/// Skips the result of a successful operation; false: it failed, or is another operation.
bool passed(xdr::Decoder& in, nfs4::nfs_opnum4 opnum, std::size_t result) {
  const bool same = in.u32("resop") == opnum;
  const bool succeeded = in.u32("status") == nfs4::NFS4_OK;
  if (same && succeeded && in.ok()) in.raw(result, "result");
  return same && succeeded && in.ok();
}

/// Only the verifier and the tag can make a reply longer than usual in front of its data.
PayloadPlace locate(std::span<const std::byte> head) {
  xdr::Decoder in(head);
  in.raw(4 * kWord, "xid, msg_type, reply_stat, verf flavor");
  const std::size_t verifier = xdr::padded(in.u32("verf body"));
  if (verifier > rpc::kMaxAuthBody) return {};
  if (head.size() < kLeastOffset + verifier) return {Kind::unknown, kLeastOffset + verifier, 0};
  in.raw(verifier, "verf body");
  in.raw(2 * kWord, "accept_stat, COMPOUND4res status");
  const std::size_t tag = xdr::padded(in.u32("COMPOUND4res tag"));
  if (tag > nfs4::kMaxText) return {};
  const std::size_t needed = kLeastOffset + verifier + tag;
  if (head.size() < needed) return {Kind::unknown, needed, 0};
  in.raw(tag, "COMPOUND4res tag");
  in.u32("COMPOUND4res resarray");
  if (!passed(in, nfs4::OP_SEQUENCE, kSequenceResult) || !passed(in, nfs4::OP_PUTFH, 0) ||
      !passed(in, nfs4::OP_READ, kWord)) {
    return {};
  }
  const std::uint32_t length = in.u32("data");
  if (!in.ok()) return {};
  return {Kind::found, in.offset(), length};
}

}  // namespace

const rpc::PayloadLocator kReadLocator{kLeastOffset, locate};

}  // namespace nfsrdma::client
