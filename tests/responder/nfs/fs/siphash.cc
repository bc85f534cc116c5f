#include "tests/responder/nfs/fs/siphash.h"

#include <bit>
#include <cstring>

namespace nfsrdma::responder {

namespace {

struct HashState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

std::uint64_t load(std::span<const std::byte> data) {
  std::uint64_t word = 0;
  if (!data.empty()) std::memcpy(&word, data.data(), data.size());
  return word;
}

}  // namespace

std::uint64_t siphash(const SipKey& key, std::span<const std::byte> data) {
  HashState state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                  key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
  const std::uint64_t length_byte = static_cast<std::uint64_t>(data.size()) << 56;
  while (data.size() >= sizeof(std::uint64_t)) {
    state.absorb(load(data.first(sizeof(std::uint64_t))));
    data = data.subspan(sizeof(std::uint64_t));
  }
  state.absorb(load(data) | length_byte);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace nfsrdma::responder
