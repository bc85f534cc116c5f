// FPDUs found in a stream that comes in any pieces, and nothing read beyond what has a place.
#include "transport/fabric/iwarp/fpdu_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "tests/support/total_length.h"
#include "tests/transport/fabric/iwarp/wire_frames.h"

namespace nfsrdma::fabric::iwarp {
namespace {

using testing::Bytes;
using testing::pattern;
namespace wire = testing::wire;

/// Bytes that arrive in pieces of a given size.
class PiecewiseStream final : public net::ByteStream {
 public:
  PiecewiseStream(Bytes bytes, std::function<std::size_t()> piece)
      : bytes_(std::move(bytes)), piece_(std::move(piece)) {}

  ssize_t read(std::span<iovec> into) override {
    ++reads;
    largest_wish = std::max(largest_wish, nfsrdma::testing::total_length(into));
    if (at_ == bytes_.size()) return -EAGAIN;
    std::size_t now =
        std::min({piece_(), nfsrdma::testing::total_length(into), bytes_.size() - at_});
    const std::size_t got = now;
    for (const iovec& part : into) {
      const std::size_t step = std::min(now, part.iov_len);
      std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(at_), step,
                  static_cast<std::byte*>(part.iov_base));
      at_ += step;
      now -= step;
    }
    return static_cast<ssize_t>(got);
  }
  ssize_t write(std::span<iovec>) override { return -EPIPE; }
  void finish_writing() override {}

  std::size_t largest_wish = 0;
  std::size_t reads = 0;

 private:
  Bytes bytes_;
  std::function<std::size_t()> piece_;
  std::size_t at_ = 0;
};

/// Takes every payload into memory of exactly its size.
class Collector final : public UlpduConsumer {
 public:
  Checked<std::span<std::byte>> place(const DdpHeader& header, std::size_t length) override {
    placed = header;
    current.assign(length, std::byte{0});
    return std::span<std::byte>(current);
  }
  Checked<> deliver(const DdpHeader& header, std::size_t length) override {
    EXPECT_EQ(length, current.size());
    EXPECT_EQ(header.msn, placed.msn);
    headers.push_back(header);
    payloads.push_back(current);
    return {};
  }

  DdpHeader placed;
  Bytes current;
  std::vector<DdpHeader> headers;
  std::vector<Bytes> payloads;
};

class FpduReaderTest : public ::testing::Test {
 protected:
  static constexpr std::array<std::size_t, 9> kSizes = {0, 1, 2, 3, 4, 5, 100, 4099, 60000};

  /// Tagged and untagged segments of all sizes, alternating.
  static Bytes dialogue() {
    Bytes stream;
    std::uint32_t msn = 0;
    for (std::size_t size : kSizes) {
      for (bool tagged : {false, true}) {
        wire::Segment segment;
        segment.tagged = tagged;
        segment.opcode = tagged ? wire::kWrite : wire::kSend;
        segment.stag = 0x100;
        segment.to = size;
        segment.msn = ++msn;
        segment.mo = 77;
        segment.payload = pattern(size, msn);
        const Bytes frame = wire::fpdu(segment);
        stream.insert(stream.end(), frame.begin(), frame.end());
      }
    }
    return stream;
  }

  void expect_dialogue(std::function<std::size_t()> piece) {
    const Bytes bytes = dialogue();
    PiecewiseStream stream(bytes, std::move(piece));
    ReadStatus status;
    do {
      status = reader.read(stream);
      ASSERT_NE(status, ReadStatus::violated) << reader.violation().detail;
    } while (collector.payloads.size() < 2 * kSizes.size());
    EXPECT_TRUE(reader.between_fpdus());
    EXPECT_EQ(reader.position(), bytes.size());
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      EXPECT_TRUE(collector.payloads[2 * i] == pattern(kSizes[i], 2 * i + 1)) << i;
      EXPECT_TRUE(collector.payloads[2 * i + 1] == pattern(kSizes[i], 2 * i + 2)) << i;
      EXPECT_EQ(collector.headers[2 * i].mo, 77u);
      EXPECT_EQ(collector.headers[2 * i + 1].to, kSizes[i]);
    }
  }

  Counters counters;
  Collector collector;
  FpduReader reader{collector, counters};
};

TEST_F(FpduReaderTest, ByteByByte) {
  expect_dialogue([] { return 1; });
}

// A Terminate message quotes the header.
TEST_F(FpduReaderTest, AHeaderThatIsRefusedShowsNothingOfTheOneBefore) {
  struct Refusing final : UlpduConsumer {
    Checked<std::span<std::byte>> place(const DdpHeader&, std::size_t length) override {
      if (refuses) return iwarp::violation(terminate::kMpaLength, Fault::protocol, "refused");
      memory.assign(length, std::byte{0});
      return std::span<std::byte>(memory);
    }
    Checked<> deliver(const DdpHeader&, std::size_t) override {
      refuses = true;
      return {};
    }
    Bytes memory;
    bool refuses = false;
  } consumer;
  FpduReader refusing(consumer, counters);
  wire::Segment segment;
  segment.mo = 0x01020304;
  segment.payload = pattern(10, 1);
  Bytes bytes = wire::fpdu(segment);
  const Bytes second = bytes;
  bytes.insert(bytes.end(), second.begin(), second.end());
  PiecewiseStream stream(bytes, [] { return ~std::size_t{0}; });
  ReadStatus status = ReadStatus::more;
  while (status == ReadStatus::more) status = refusing.read(stream);
  ASSERT_EQ(status, ReadStatus::violated);
  const auto quoted = refusing.segment().ddp;
  ASSERT_EQ(quoted.size(), kUntaggedHeader);
  for (const std::byte one : quoted.last(4)) EXPECT_EQ(one, std::byte{0}) << "MO was not read yet";
}

TEST_F(FpduReaderTest, AllAtOnce) {
  expect_dialogue([] { return ~std::size_t{0}; });
  EXPECT_EQ(counters.fpdus_received.value(), 2 * kSizes.size());
}

class FragmentationTest : public FpduReaderTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(FragmentationTest, AnyPiecesGiveTheSame) {
  std::mt19937 random(GetParam());
  expect_dialogue([&random] { return 1 + random() % (random() % 4 == 0 ? 5000 : 23); });
}

INSTANTIATE_TEST_SUITE_P(Seeds, FragmentationTest, ::testing::Range(0u, 64u));

constexpr auto kWhatThereIs = [] { return ~std::size_t{0}; };

TEST_F(FpduReaderTest, OneReadTakesManySmallFpdus) {
  Bytes bytes;
  for (std::uint32_t i = 0; i < 10; ++i) {
    bytes = wire::join({bytes, wire::write(1, i, pattern(1442, i))});
  }
  PiecewiseStream stream(bytes, kWhatThereIs);
  EXPECT_EQ(reader.read(stream), ReadStatus::more);
  EXPECT_EQ(collector.payloads.size(), 1u);  // each is told by itself
  EXPECT_TRUE(reader.staged());
  while (reader.staged()) reader.read(stream);
  EXPECT_EQ(stream.reads, 1u);
  EXPECT_EQ(collector.payloads.size(), 10u);
  EXPECT_EQ(counters.payload_bytes_copied.value(), 10u * 1442);
  EXPECT_TRUE(reader.between_fpdus());
}

TEST_F(FpduReaderTest, AStagedFpduIsNotBetweenFpdus) {
  const Bytes bytes = wire::join({wire::write(1, 2, pattern(8)), wire::write(1, 2, pattern(8))});
  PiecewiseStream stream(bytes, kWhatThereIs);
  reader.read(stream);
  EXPECT_FALSE(reader.between_fpdus());
  reader.read(stream);
  EXPECT_TRUE(reader.between_fpdus());
}

TEST_F(FpduReaderTest, LongRunsOfSmallFpdusAreReadInLargerSteps) {
  Bytes bytes;
  constexpr std::size_t kFrames = 724;  // 1 MiB in Ethernet frames, as Linux siw sends it
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    const Bytes frame = wire::write(1, i, pattern(1448, i));
    bytes.insert(bytes.end(), frame.begin(), frame.end());
  }
  PiecewiseStream stream(bytes, kWhatThereIs);
  while (collector.payloads.size() < kFrames) {
    ASSERT_NE(reader.read(stream), ReadStatus::violated) << reader.violation().detail;
  }
  EXPECT_LE(stream.reads, 20u);
  EXPECT_TRUE(collector.payloads.back() == pattern(1448, kFrames - 1));
}

TEST_F(FpduReaderTest, LargePayloadIsReadStraightToItsPlace) {
  Bytes bytes;
  constexpr std::size_t kFrames = 20;
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    bytes = wire::join({bytes, wire::write(1, i, pattern(60000, i))});
  }
  PiecewiseStream stream(bytes, kWhatThereIs);
  while (collector.payloads.size() < kFrames) reader.read(stream);
  // The first read could not know what came; behind each large payload, only a header comes along.
  EXPECT_LE(counters.payload_bytes_copied.value(), 16u * 1024);
  EXPECT_LE(stream.reads, kFrames + 1);
  EXPECT_EQ(stream.largest_wish, 60000u + 4 + 16);
}

TEST_F(FpduReaderTest, EveryByteIsCoveredByTheCrc) {
  const Bytes right = wire::send(1, pattern(21));
  for (std::size_t i = 2; i < right.size(); ++i) {  // 0 and 1: the length, another error
    Bytes wrong = right;
    wrong[i] ^= std::byte{0x20};
    Collector each;
    FpduReader fresh(each, counters);
    PiecewiseStream stream(wrong, [] { return ~std::size_t{0}; });
    ReadStatus status;
    do {
      status = fresh.read(stream);
    } while (status == ReadStatus::more);
    // A flipped T bit makes the header shorter; the CRC is wrong all the same.
    EXPECT_EQ(status, ReadStatus::violated) << i;
    EXPECT_EQ(fresh.violation().code, terminate::kMpaCrc) << i;
    EXPECT_TRUE(each.payloads.empty());
  }
}

TEST_F(FpduReaderTest, WithoutCrcTheFieldIsNotLookedAt) {
  reader.use_crc(false);
  Bytes bytes = wire::send(1, pattern(21));
  bytes.back() ^= std::byte{1};
  PiecewiseStream stream(bytes, [] { return ~std::size_t{0}; });
  EXPECT_EQ(reader.read(stream), ReadStatus::drained);
  EXPECT_EQ(collector.payloads.size(), 1u);
}

}  // namespace
}  // namespace nfsrdma::fabric::iwarp
