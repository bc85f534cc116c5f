// The stream of a hostile server over TCP: records in any fragments and pieces, replies to three
// open calls, callbacks. Whatever comes, nothing behind a sink is written, no payload is copied,
// every call is answered at most once, and no message is held in the end.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "client/compound/read_locator.h"
#include "tests/fuzz/record_inputs.h"
#include "tests/transport/tcp/piece_stream.h"
#include "transport/base/log.h"
#include "transport/tcp/receive_path.h"

namespace nfsrdma::fuzz {
namespace {

constexpr std::size_t kLargeSlot = 16384;
constexpr std::size_t kMaxRecord = 2 * kLargeSlot;

void require(bool holds) {
  if (!holds) std::abort();
}

/// The open calls, and what is behind the receive path.
class Owner final : public tcp::MessageHandler {
 public:
  explicit Owner(BufferPool& heads) {
    for (std::uint32_t i = 0; i < kCalls; ++i) {
      sinks_[i].assign(kSinkBytes + kGuardBytes, kGuard);
      calls_[i] = std::make_unique<rpc::Call>(heads.acquire());
      calls_[i]->xid = i + 1;
      contexts_[i].call = calls_[i].get();
      if (i + 1 == kPlainXid) continue;
      calls_[i]->result_sink = std::span(sinks_[i]).first(kSinkBytes);
      calls_[i]->locator = &client::kReadLocator;
    }
  }

  tcp::CallContext* find_open(std::uint32_t xid) override {
    const bool open = xid >= 1 && xid <= kCalls && !contexts_[xid - 1].answered;
    return open ? &contexts_[xid - 1] : nullptr;
  }
  std::size_t least_payload_offset() const override {
    const bool none = contexts_[kReadXid - 1].answered && contexts_[kSecondReadXid - 1].answered;
    return none ? SIZE_MAX : client::kReadLocator.least_offset;
  }
  void on_reply(tcp::CallContext& context, tcp::Received reply) override {
    require(!context.answered && reply.bytes.size() >= 8);
    require(xdr::Decoder(reply.bytes).u32("xid") == context.call->xid);
    require(reply.payload.value_or(0) <= context.call->result_sink.size());
    context.answered = true;
  }
  void on_call(std::uint32_t xid, tcp::Received call) override {
    require(xdr::Decoder(call.bytes).u32("xid") == xid);
  }
  void on_memory_free() override {}

  void check_guards() const {
    for (const auto& sink : sinks_) {
      require(std::all_of(sink.begin() + kSinkBytes, sink.end(),
                          [](std::byte byte) { return byte == kGuard; }));
    }
  }

 private:
  static constexpr std::uint32_t kCalls = kSecondReadXid;
  static constexpr std::byte kGuard{0x5A};
  std::array<std::vector<std::byte>, kCalls> sinks_;
  std::array<std::unique_ptr<rpc::Call>, kCalls> calls_;
  std::array<tcp::CallContext, kCalls> contexts_;
};

struct Memory {
  std::unique_ptr<BufferPool> heads = std::move(*BufferPool::create(4096, 8));
  std::unique_ptr<BufferPool> large = std::move(*BufferPool::create(kLargeSlot, 2));
  std::unique_ptr<tcp::Pools> pools = std::move(*tcp::Pools::create({}, *large));
};

void run(std::size_t piece, std::span<const std::byte> bytes) {
  static Memory memory;
  tcp::Counters counters;
  Owner owner(*memory.heads);
  tcp::ReceivePath path(owner, *memory.pools, counters);
  tcp::RecordReader reader(path, kMaxRecord);
  test::PieceStream stream(test::Bytes(bytes.begin(), bytes.end()), [piece] { return piece; });
  for (;;) {
    const tcp::ReadStatus status = reader.read(stream);
    require(status != tcp::ReadStatus::no_place && status != tcp::ReadStatus::failed);
    if (status == tcp::ReadStatus::violated) require(reader.what()[0] != '\0');
    if (status != tcp::ReadStatus::more && status != tcp::ReadStatus::drained) break;
  }
  require(reader.position() <= bytes.size());
  path.clear();
  owner.check_guards();
  require(counters.payload_copies.value() == 0);
  require(memory.pools->messages->in_use() == 0);
  require(memory.large->available() == memory.large->slots());
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  nfsrdma::log::set_level(nfsrdma::log::Level::off);
  const std::size_t piece = data[0] == 0 ? SIZE_MAX : data[0];
  nfsrdma::fuzz::run(piece, std::as_bytes(std::span(data, size)).subspan(1));
  return 0;
}
