// Records that the kernel takes in pieces go out whole (RFC 5531 section 11).
#include "transport/tcp/record_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/transport/tcp/wire.h"

namespace nfsrdma::test {
namespace {

using tcp::WriteStatus;

/// Takes at most `most` bytes of each write.
class NarrowStream final : public net::ByteStream {
 public:
  explicit NarrowStream(std::size_t most) : most_(most) {}
  ssize_t read(std::span<iovec>) override { return -EAGAIN; }
  ssize_t write(std::span<iovec> from) override {
    std::size_t left = most_;
    for (const iovec& part : from) {
      const std::size_t step = std::min(left, part.iov_len);
      append(taken, {static_cast<const std::byte*>(part.iov_base), step});
      left -= step;
    }
    return static_cast<ssize_t>(most_ - left);
  }
  void finish_writing() override {}

  Bytes taken;

 private:
  const std::size_t most_;
};

struct Message final : tcp::Outgoing {
  void on_sent() override { ++sent; }
  int sent = 0;
};

TEST(RecordWriter, AMessageThatIsTakenInPiecesIsWhole) {
  const Bytes item = pattern(101, 5);
  Bytes memory(256);
  xdr::Encoder encoder(memory);
  for (std::uint32_t i = 0; i < 10; ++i) encoder.u32(i);
  encoder.payload(item);
  encoder.u32(77);
  NarrowStream wide(~std::size_t{0} >> 1);
  Message whole;
  whole.set_message(encoder);
  tcp::RecordWriter writer;
  writer.add(whole);
  ASSERT_EQ(writer.flush(wide), WriteStatus::idle);
  for (std::size_t most = 1; most <= wide.taken.size(); ++most) {
    NarrowStream narrow(most);
    Message message;
    message.set_message(encoder);
    writer.add(message);
    WriteStatus status = writer.flush(narrow);
    while (status == WriteStatus::blocked) status = writer.flush(narrow);
    EXPECT_EQ(status, WriteStatus::idle);
    EXPECT_EQ(message.sent, 1) << most;
    EXPECT_EQ(narrow.taken, wide.taken) << most;
  }
}

TEST(RecordWriter, MessagesThatWaitGoTogetherHoweverTheyAreTaken) {
  constexpr std::size_t kMessages = 5;
  Bytes memory(64);
  xdr::Encoder encoder(memory);
  for (std::uint32_t i = 0; i < 3; ++i) encoder.u32(i);
  constexpr std::size_t kRecord = 4 + 12;
  for (std::size_t most = 1; most <= kMessages * kRecord; ++most) {
    NarrowStream narrow(most);
    std::array<Message, kMessages> messages;
    tcp::RecordWriter writer;
    for (Message& message : messages) {
      message.set_message(encoder);
      writer.add(message);
    }
    std::size_t calls = 1;
    while (writer.flush(narrow) == WriteStatus::blocked) ++calls;
    EXPECT_EQ(calls, (kMessages * kRecord + most - 1) / most);
    EXPECT_EQ(writer.waiting_bytes(), 0U);
    ASSERT_EQ(narrow.taken.size(), kMessages * kRecord);
    for (std::size_t i = 0; i < kMessages; ++i) {
      EXPECT_EQ(messages[i].sent, 1) << most;
      EXPECT_TRUE(std::ranges::equal(std::span(narrow.taken).subspan(i * kRecord, kRecord),
                                     std::span(narrow.taken).first(kRecord)));
    }
  }
}

TEST(RecordWriter, MoreMessagesThanOneCallTakesAreWhole) {
  Bytes memory(64);
  xdr::Encoder encoder(memory);
  encoder.u32(7);
  NarrowStream wide(~std::size_t{0} >> 1);
  std::array<Message, 100> messages;
  tcp::RecordWriter writer;
  for (Message& message : messages) {
    message.set_message(encoder);
    writer.add(message);
  }
  EXPECT_EQ(writer.flush(wide), WriteStatus::idle);
  EXPECT_EQ(wide.taken.size(), messages.size() * 8);
  for (const Message& message : messages) EXPECT_EQ(message.sent, 1);
}

/// Sends another one when it is sent, as a call that ends makes room for the next.
struct Followed final : tcp::Outgoing {
  void on_sent() override {
    writer->add(*next);
    EXPECT_EQ(writer->flush(*stream), WriteStatus::idle);
  }
  tcp::RecordWriter* writer = nullptr;
  net::ByteStream* stream = nullptr;
  Message* next = nullptr;
};

TEST(RecordWriter, AMessageThatASentOneSetsOffGoesOnceAndLast) {
  std::array<Bytes, 3> memories{Bytes(8), Bytes(8), Bytes(8)};
  NarrowStream wide(~std::size_t{0} >> 1);
  tcp::RecordWriter writer;
  Followed first;
  Message second;
  Message third;
  first.writer = &writer;
  first.stream = &wide;
  first.next = &third;
  const std::array<tcp::Outgoing*, 3> all{&first, &second, &third};
  for (std::size_t i = 0; i < all.size(); ++i) {
    xdr::Encoder encoder(memories[i]);
    encoder.u32(static_cast<std::uint32_t>(i));
    all[i]->set_message(encoder);
  }
  writer.add(first);
  writer.add(second);
  EXPECT_EQ(writer.flush(wide), WriteStatus::idle);
  EXPECT_EQ(wide.taken, words({0x8000'0004, 0, 0x8000'0004, 1, 0x8000'0004, 2}));
  EXPECT_EQ(second.sent, 1);
  EXPECT_EQ(third.sent, 1);
}

/// The first words of records of one word each, in the order they were taken.
std::vector<std::uint32_t> order_of(const Bytes& taken) {
  std::vector<std::uint32_t> order;
  xdr::Decoder in(taken);
  for (std::size_t left = taken.size() / 8; left > 0; --left) {
    in.u32("mark");
    order.push_back(in.u32("word"));
  }
  return order;
}

// However far the kernel has come when they are added: a record that has begun is not broken up.
TEST(RecordWriter, UrgentMessagesGoBeforeThoseThatHaveNotBegun) {
  constexpr std::size_t kRecord = 8;
  for (std::size_t before = 0; before < 3 * kRecord; ++before) {
    std::vector<Bytes> memories(5, Bytes(4));
    std::array<Message, 5> messages;
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
      xdr::Encoder encoder(memories[i]);
      encoder.u32(i);
      messages[i].set_message(encoder);
    }
    tcp::RecordWriter writer;
    for (std::size_t i : {0U, 1U, 2U}) writer.add(messages[i]);
    NarrowStream narrow(before);
    EXPECT_EQ(writer.flush(narrow), WriteStatus::blocked);
    for (std::size_t i : {3U, 4U}) writer.add_urgent(messages[i]);
    EXPECT_EQ(writer.waiting(), 5 - before / kRecord);
    NarrowStream slow(3);
    while (writer.flush(slow) == WriteStatus::blocked) {
    }
    Bytes all = narrow.taken;
    append(all, slow.taken);
    std::vector<std::uint32_t> expected{0, 1, 2};
    const auto begun = static_cast<std::ptrdiff_t>((before + kRecord - 1) / kRecord);
    expected.insert(expected.begin() + begun, {3, 4});
    EXPECT_EQ(order_of(all), expected) << before;
    for (const Message& message : messages) EXPECT_EQ(message.sent, 1);
    EXPECT_EQ(writer.waiting_bytes(), 0U);
  }
}

}  // namespace
}  // namespace nfsrdma::test
