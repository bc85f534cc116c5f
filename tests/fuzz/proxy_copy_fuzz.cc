// What clients and servers send through nfsrdma-lab proxy: a message is the same behind it, byte
// for byte but for its XID, wherever its data is found to be.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

#include "tests/lab/proxy/message_copy.h"

namespace nfsrdma::fuzz {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kXid = 0x01020304;
constexpr std::array kXidBytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
/// More than any message of a corpus.
constexpr std::size_t kRoom = 1 << 20;

/// The message with what the encoder left out, as TCP would carry it.
Bytes flatten(const xdr::Encoder& out) {
  Bytes whole;
  std::size_t done = 0;
  const auto append = [&](std::span<const std::byte> bytes) {
    whole.insert(whole.end(), bytes.begin(), bytes.end());
  };
  for (const auto& item : out.omitted()) {
    append(out.encoded().subspan(done, item.offset - done));
    append(item.data);
    whole.resize(whole.size() + xdr::pad_of(item.data.size()));
    done = item.offset;
  }
  append(out.encoded().subspan(done));
  return whole;
}

void expect_same(const xdr::Encoder& out, std::span<const std::byte> message) {
  if (!out.ok() || !std::ranges::equal(flatten(out), message)) std::abort();
}

void copy_a_call(std::span<const std::byte> arguments, std::span<std::byte> room) {
  Bytes message(kXidBytes.begin(), kXidBytes.end());
  message.insert(message.end(), arguments.begin(), arguments.end());
  xdr::Decoder in(message);
  in.u32("xid");
  xdr::Encoder out(room);
  if (!lab::proxy::copy_call(in, kXid, out)) std::abort();
  expect_same(out, message);
}

void copy_a_reply(std::span<const std::byte> results, std::span<std::byte> room) {
  std::vector<Bytes> kept;
  const auto memory = [&](std::size_t size) { return std::span(kept.emplace_back(size)); };
  const auto unforced = [](std::uint32_t) { return std::optional<std::uint32_t>(); };
  xdr::Decoder in(results);
  xdr::Encoder out(room);
  if (!lab::proxy::copy_results(in, memory, unforced, out)) std::abort();
  expect_same(out, results);
  // Each operation may be told to have failed.
  const auto forced = [](std::uint32_t) { return std::optional<std::uint32_t>(1); };
  xdr::Decoder again(results);
  xdr::Encoder failed(room);
  if (!lab::proxy::copy_results(again, memory, forced, failed) || !failed.ok()) std::abort();
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::vector<std::byte> room(nfsrdma::fuzz::kRoom);
  const auto bytes = std::as_bytes(std::span(data, size));
  nfsrdma::fuzz::copy_a_call(bytes, room);
  nfsrdma::fuzz::copy_a_reply(bytes, room);
  return 0;
}
