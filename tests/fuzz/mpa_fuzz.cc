// MPA: startup frames of both kinds with the decisions about them, and FPDUs in a stream that comes
// in any pieces. The first byte says which, the second how the stream is cut.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <vector>

#include "tests/responder/fabric/mpa_answer.h"
#include "tests/support/total_length.h"
#include "transport/fabric/iwarp/fpdu_reader.h"
#include "transport/fabric/iwarp/mpa_frame.h"

namespace nfsrdma::fuzz {
namespace {

using namespace fabric;
using namespace fabric::iwarp;

void require(bool holds) {
  if (!holds) std::abort();
}

/// The input as a stream: pieces of at most `piece` bytes, then the end.
class InputStream final : public net::ByteStream {
 public:
  InputStream(std::span<const std::byte> bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}

  ssize_t read(std::span<iovec> into) override {
    std::size_t now = std::min({bytes_.size(), piece_, testing::total_length(into)});
    const auto got = static_cast<ssize_t>(now);
    for (const iovec& part : into) {
      const std::size_t step = std::min(now, part.iov_len);
      std::copy_n(bytes_.begin(), step, static_cast<std::byte*>(part.iov_base));
      bytes_ = bytes_.subspan(step);
      now -= step;
    }
    return got;
  }
  ssize_t write(std::span<iovec>) override { return -EPIPE; }
  void finish_writing() override {}

 private:
  std::span<const std::byte> bytes_;
  std::size_t piece_;
};

/// Gives every payload memory of exactly its size, so that a sanitizer sees what goes beyond.
class Exact final : public UlpduConsumer {
 public:
  Checked<std::span<std::byte>> place(const DdpHeader&, std::size_t length) override {
    memory_ = std::vector<std::byte>(length);
    return std::span<std::byte>(memory_);
  }
  Checked<> deliver(const DdpHeader&, std::size_t length) override {
    require(length == memory_.size());
    return {};
  }

 private:
  std::vector<std::byte> memory_;
};

void read_fpdus(InputStream& stream, bool crc) {
  Counters counters;
  Exact consumer;
  FpduReader reader(consumer, counters);
  reader.use_crc(crc);
  for (;;) {
    const ReadStatus status = reader.read(stream);
    if (status == ReadStatus::end) return;
    if (status == ReadStatus::violated) {
      require(!reader.violation().detail.empty());
      (void)reader.segment();
      return;
    }
    require(status != ReadStatus::failed);
  }
}

/// A frame that was understood is written as it was read, and answered with one that is understood.
void judge(const StartupFrame& frame) {
  const Terms terms{16, 16, true, {}};
  if (frame.kind == StartupFrame::Kind::reply) {
    (void)judge_reply(frame, terms, kMpaRevision2);
    (void)wants_revision_1(frame, kMpaRevision2);
    return;
  }
  const StartupFrame answer = judge_request(frame) ? answer_request(frame, terms).reply
                                                   : make_rejection(frame, frame.private_data);
  const std::vector<std::byte> bytes = encode(answer);
  InputStream stream(bytes, bytes.size());
  StartupReader reader(StartupFrame::Kind::reply);
  auto whole = reader.read(stream);
  require(whole && *whole);
}

void read_startup(InputStream& stream, StartupFrame::Kind kind) {
  StartupReader reader(kind);
  auto whole = reader.read(stream);
  if (whole && *whole) judge(reader.frame());
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nfsrdma::fuzz;
  constexpr std::size_t choices = 2;
  if (size < choices) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(choices);
  const std::size_t piece = data[1] == 0 ? size : data[1];
  InputStream stream(bytes, piece);
  switch (data[0] % 4) {
    case 0: read_startup(stream, StartupFrame::Kind::request); break;
    case 1: read_startup(stream, StartupFrame::Kind::reply); break;
    default: read_fpdus(stream, data[0] % 4 == 2); break;
  }
  return 0;
}
