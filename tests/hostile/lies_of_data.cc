// Results of READ, WRITE and COMMIT that cannot be.
#include <algorithm>

#include "tests/hostile/lies.h"
#include "tests/proto/operations.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

template <bool Eof>
void read_eof(SpoiledReply& reply) {
  reply.edit<READ4res>([](READ4res& result) { result.resok4.eof = Eof; });
}
void read_nothing(SpoiledReply& reply, bool eof) {
  reply.edit<READ4res>([&](READ4res& result) {
    result.resok4.eof = eof;
    result.resok4.data.data = {};
  });
}
void nothing_no_end(SpoiledReply& reply) { read_nothing(reply, false); }
void nothing_and_end(SpoiledReply& reply) { read_nothing(reply, true); }
constexpr std::size_t kSome = 50;
void some_bytes(SpoiledReply& reply) {
  reply.edit<READ4res>([](READ4res& result) {
    result.resok4.eof = false;
    auto& data = result.resok4.data.data;
    data = data.first(std::min(kSome, data.size()));
  });
}
template <std::size_t Length>
void read_of(SpoiledReply& reply) {
  static const Bytes data(Length, std::byte{0x77});
  reply.edit<READ4res>([](READ4res& result) { result.resok4.data.data = data; });
}
/// More is said than there is.
template <std::uint32_t Count>
void read_count(SpoiledReply& reply) {
  ResultItem* item = reply.find(OP_READ);
  constexpr std::size_t kCountAt = 8;
  if (item->body.size() < kCountAt + 4) return;
  for (std::size_t i = 0; i < 4; ++i) {
    item->body[kCountAt + i] = static_cast<std::byte>(Count >> (24 - 8 * i));
  }
}

template <void (*Change)(WRITE4resok&)>
void write(SpoiledReply& reply) {
  reply.edit<WRITE4res>([](WRITE4res& result) { Change(result.resok4); });
}
template <std::uint32_t Count>
void count(WRITE4resok& result) {
  result.count = Count;
}
void one_more(WRITE4resok& result) { ++result.count; }
void one_less(WRITE4resok& result) { --result.count; }
template <std::uint32_t How>
void committed(WRITE4resok& result) {
  result.committed = static_cast<stable_how4>(How);
}
template <class Resok>
void other_verifier(Resok& result) {
  static std::uint8_t number = 0;
  result.writeverf.fill(std::byte{++number});
}
template <class Resok>
void zero_verifier(Resok& result) {
  result.writeverf.fill(std::byte{0});
}
template <void (*Change)(COMMIT4resok&)>
void commit(SpoiledReply& reply) {
  reply.edit<COMMIT4res>([](COMMIT4res& result) { Change(result.resok4); });
}

constexpr std::uint32_t kMost = 0xffffffff;

constexpr Lie kLies[] = {
    {"the end, early", OP_READ, read_eof<true>, true},
    {"no end", OP_READ, read_eof<false>},
    {"no data and no end", OP_READ, nothing_no_end, true},
    {"no data and the end", OP_READ, nothing_and_end, true},
    {"50 bytes at a time", OP_READ, some_bytes, true},
    {"READ of 20000 bytes", OP_READ, read_of<20000>, true},
    {"READ of 131072 bytes", OP_READ, read_of<131072>, true},
    {"READ of 200000 bytes", OP_READ, read_of<200000>, true},
    {"READ says 2^31 bytes", OP_READ, read_count<0x80000000>},
    {"READ says 2^32 - 1 bytes", OP_READ, read_count<kMost>},
    {"READ says 2^32 - 3 bytes", OP_READ, read_count<kMost - 2>},
    {"READ says 0 bytes", OP_READ, read_count<0>, true},
    {"WRITE of 0 bytes", OP_WRITE, write<count<0>>},
    {"WRITE of 1000 bytes", OP_WRITE, write<count<1000>>, true},
    {"WRITE of a byte more", OP_WRITE, write<one_more>},
    {"WRITE of a byte less", OP_WRITE, write<one_less>},
    {"WRITE of 2^31 bytes", OP_WRITE, write<count<0x80000000>>},
    {"WRITE of 2^32 - 1 bytes", OP_WRITE, write<count<kMost>>},
    {"WRITE is not stable", OP_WRITE, write<committed<UNSTABLE4>>},
    {"WRITE is stable", OP_WRITE, write<committed<FILE_SYNC4>>},
    {"WRITE is stable in way 3", OP_WRITE, write<committed<3>>},
    {"WRITE is stable in way 2^32 - 1", OP_WRITE, write<committed<kMost>>},
    {"WRITE has another verifier each time", OP_WRITE, write<other_verifier<WRITE4resok>>},
    {"WRITE has a verifier of zeros", OP_WRITE, write<zero_verifier<WRITE4resok>>},
    {"COMMIT has another verifier each time", OP_COMMIT, commit<other_verifier<COMMIT4resok>>},
    {"COMMIT has a verifier of zeros", OP_COMMIT, commit<zero_verifier<COMMIT4resok>>},
};

}  // namespace

std::span<const Lie> lies_of_data() { return kLies; }

}  // namespace nfsrdma::hostile
