#include "tests/transport/tcp/wire.h"

namespace nfsrdma::test {
namespace {

constexpr std::uint32_t kPutFh = 22;
constexpr std::uint32_t kRead = 25;
constexpr std::uint32_t kSequence = 53;
constexpr std::size_t kSequenceResult = 36;

void append_zeros(Bytes& to, std::size_t count) { to.resize(to.size() + count); }
void append_opaque(Bytes& to, std::size_t length) {
  append(to, words({static_cast<std::uint32_t>(length)}));
  append_zeros(to, xdr::padded(length));
}

}  // namespace

Bytes read_reply(const ReadReply& reply) {
  const auto length = static_cast<std::uint32_t>(reply.data.size());
  Bytes out = words({reply.xid, 1, 0, 0});
  append_opaque(out, reply.verifier);
  append(out, words({0, 0}));  // accept_stat, COMPOUND4res status
  append_opaque(out, reply.tag);
  append(out, words({3, kSequence, 0}));
  append_zeros(out, kSequenceResult);
  append(out, words({kPutFh, 0, kRead, 0, 1, reply.claimed > 0 ? reply.claimed : length}));
  append(out, reply.data);
  append_zeros(out, xdr::pad_of(length));
  append(out, reply.trailer);
  return out;
}

}  // namespace nfsrdma::test
