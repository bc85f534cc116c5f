// Records that the kernel takes in pieces go out whole (RFC 5531 section 11).
#include "transport/tcp/record_writer.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  ASSERT_EQ(writer.send(wide, whole), WriteStatus::idle);
  for (std::size_t most = 1; most <= wide.taken.size(); ++most) {
    NarrowStream narrow(most);
    Message message;
    message.set_message(encoder);
    WriteStatus status = writer.send(narrow, message);
    while (status == WriteStatus::blocked) status = writer.flush(narrow);
    EXPECT_EQ(status, WriteStatus::idle);
    EXPECT_EQ(message.sent, 1) << most;
    EXPECT_EQ(narrow.taken, wide.taken) << most;
  }
}

}  // namespace
}  // namespace nfsrdma::test
