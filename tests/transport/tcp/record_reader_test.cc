// Record marking (RFC 5531 section 11): records come out whole whatever pieces the stream comes in.
#include "transport/tcp/record_reader.h"

#include <gtest/gtest.h>

#include <climits>

#include "tests/transport/tcp/piece_stream.h"

namespace nfsrdma::test {
namespace {

using tcp::Checked;
using tcp::Place;
using tcp::ReadStatus;

constexpr std::size_t kMaxRecord = 4096;

/// Collects records; what lies behind `head` bytes of each is payload, which must not be copied.
class Collector final : public tcp::RecordHandler {
 public:
  Checked<Place> place(std::size_t) override {
    if (no_memory) return Place{};
    const bool in_head = have_ < head;
    return Place{std::span(memory_).subspan(have_, in_head ? head - have_ : memory_.size() - have_),
                 false};
  }
  Checked<> filled(std::size_t bytes, bool copied) override {
    if (copied && have_ + bytes > head) ++payload_copies;
    have_ += bytes;
    return {};
  }
  Checked<> end_of_record() override {
    records.emplace_back(memory_.begin(), memory_.begin() + static_cast<std::ptrdiff_t>(have_));
    have_ = 0;
    return {};
  }
  std::size_t lookahead() const override {
    return head == kNoPayload ? SIZE_MAX : head + tcp::RecordMark::kSize;
  }

  static constexpr std::size_t kNoPayload = kMaxRecord;
  std::size_t head = kNoPayload;
  bool no_memory = false;
  int payload_copies = 0;
  std::vector<Bytes> records;

 private:
  Bytes memory_ = Bytes(2 * kMaxRecord);
  std::size_t have_ = 0;
};

/// Reads until the stream has nothing more, and returns why.
ReadStatus read_all(tcp::RecordReader& reader, net::ByteStream& stream) {
  for (;;) {
    const ReadStatus status = reader.read(stream);
    if (status != ReadStatus::more && status != ReadStatus::drained) return status;
  }
}

Bytes several_records(std::vector<Bytes>& messages) {
  Bytes stream;
  for (std::size_t size : {1U, 8U, 60U, 400U, 0U, 13U}) messages.push_back(pattern(size, 7));
  append(stream, record(messages[0]));
  append(stream, fragments(messages[1], 3));
  append(stream, record(messages[2]));
  append(stream, fragments(messages[3], 50, 2));
  append(stream, record(messages[4]));
  append(stream, fragments(messages[5], 1, 1));
  return stream;
}

TEST(RecordReader, EverySegmentationGivesTheSameRecords) {
  std::vector<Bytes> messages;
  const Bytes bytes = several_records(messages);
  for (std::size_t head : {std::size_t{0}, std::size_t{8}, Collector::kNoPayload}) {
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      Collector collector;
      collector.head = head;
      tcp::RecordReader reader(collector, kMaxRecord);
      PieceStream stream(bytes, [&] { return piece; });
      ASSERT_EQ(read_all(reader, stream), ReadStatus::end);
      ASSERT_EQ(collector.records, messages) << "pieces of " << piece;
      ASSERT_EQ(collector.payload_copies, 0) << "pieces of " << piece;
      EXPECT_TRUE(reader.between_records());
      EXPECT_EQ(reader.records(), messages.size());
      EXPECT_EQ(reader.position(), bytes.size());
    }
  }
}

TEST(RecordReader, OneReadTakesAReplyOfUsualLength) {
  Collector collector;
  tcp::RecordReader reader(collector, kMaxRecord);
  int reads = 0;
  PieceStream stream(record(pattern(200)), [&] {
    ++reads;
    return SIZE_MAX;
  });
  EXPECT_EQ(reader.read(stream), ReadStatus::drained);
  EXPECT_EQ(collector.records.size(), 1U);
  EXPECT_EQ(reads, 1);
}

TEST(RecordReader, PayloadTakesTwoReads) {
  Collector collector;
  collector.head = 16;
  tcp::RecordReader reader(collector, kMaxRecord);
  int reads = 0;
  PieceStream stream(record(pattern(2000)), [&] {
    ++reads;
    return SIZE_MAX;
  });
  EXPECT_EQ(reader.read(stream), ReadStatus::more);
  EXPECT_EQ(reader.read(stream), ReadStatus::drained);
  EXPECT_EQ(collector.records.size(), 1U);
  EXPECT_EQ(collector.payload_copies, 0);
  EXPECT_EQ(reads, 2);
}

TEST(RecordReader, TruncationAtEveryByte) {
  std::vector<Bytes> messages;
  const Bytes whole = several_records(messages);
  std::size_t complete = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Collector collector;
    tcp::RecordReader reader(collector, kMaxRecord);
    PieceStream stream(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)),
                       [] { return SIZE_MAX; });
    ASSERT_EQ(read_all(reader, stream), ReadStatus::end);
    ASSERT_LE(collector.records.size(), messages.size());
    EXPECT_GE(collector.records.size(), complete);
    const bool grew = collector.records.size() > complete;
    complete = collector.records.size();
    EXPECT_EQ(reader.between_records(), size == 0 || grew) << size;
  }
}

ReadStatus status_of(const Bytes& bytes, const char** what) {
  static Collector collector;
  collector = Collector();
  tcp::RecordReader reader(collector, kMaxRecord);
  PieceStream stream(bytes, [] { return SIZE_MAX; });
  const ReadStatus status = read_all(reader, stream);
  *what = reader.what();
  return status;
}

TEST(RecordReader, TooLongRecordsAreRefused) {
  const char* what = nullptr;
  EXPECT_EQ(status_of(record(pattern(kMaxRecord)), &what), ReadStatus::end);
  EXPECT_EQ(status_of(record(pattern(kMaxRecord + 1)), &what), ReadStatus::violated);
  EXPECT_STREQ(what, "a record longer than any message");
  EXPECT_EQ(status_of(fragments(pattern(kMaxRecord + 1), 1000), &what), ReadStatus::violated);
  Bytes absurd;
  append(absurd, tcp::encode({tcp::RecordMark::kMaxLength, true}));
  EXPECT_EQ(status_of(absurd, &what), ReadStatus::violated);
}

// The bound is one of a record, not of a connection.
TEST(RecordReader, ManyRecordsAreLongerThanOneMayBe) {
  Bytes bytes;
  for (int i = 0; i < 5; ++i) append(bytes, fragments(pattern(kMaxRecord - 100), 1000));
  Collector collector;
  tcp::RecordReader reader(collector, kMaxRecord);
  PieceStream stream(bytes, [] { return SIZE_MAX; });
  EXPECT_EQ(read_all(reader, stream), ReadStatus::end);
  EXPECT_EQ(collector.records.size(), 5U);
}

TEST(RecordReader, EmptyFragmentsAreBounded) {
  const char* what = nullptr;
  EXPECT_EQ(status_of(fragments(pattern(8), 4, 16), &what), ReadStatus::end);
  EXPECT_EQ(status_of(fragments(pattern(8), 4, 17), &what), ReadStatus::violated);
  EXPECT_STREQ(what, "too many empty fragments");
}

TEST(RecordReader, WaitsForMemory) {
  Collector collector;
  tcp::RecordReader reader(collector, kMaxRecord);
  const Bytes message = pattern(300);
  PieceStream stream(record(message), [] { return SIZE_MAX; });
  collector.no_memory = true;
  EXPECT_EQ(reader.read(stream), ReadStatus::no_place);
  EXPECT_EQ(reader.read(stream), ReadStatus::no_place);
  collector.no_memory = false;
  EXPECT_EQ(reader.read(stream), ReadStatus::drained);
  ASSERT_EQ(collector.records.size(), 1U);
  EXPECT_EQ(collector.records[0], message);
}

TEST(RecordReader, DrynessIsReported) {
  Collector collector;
  tcp::RecordReader reader(collector, kMaxRecord);
  bool dry = true;
  PieceStream stream(record(pattern(10)), [&]() -> std::size_t {
    dry = !dry;
    return dry ? 0 : 2;
  });
  EXPECT_EQ(reader.read(stream), ReadStatus::drained) << "less than asked";
  EXPECT_EQ(reader.read(stream), ReadStatus::drained) << "EAGAIN";
  EXPECT_FALSE(reader.between_records());
}

}  // namespace
}  // namespace nfsrdma::test
