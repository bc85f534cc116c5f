// RPC messages put together as NFS over TCP has them.
#include "transport/recording/recorded_message.h"

#include <gtest/gtest.h>

#include <string>

namespace nfsrdma::recording {
namespace {

std::string bytes_of(const RecordedMessage& message) {
  std::string bytes;
  for (const iovec& piece : message.pieces()) {
    bytes.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
  }
  EXPECT_EQ(bytes.size(), message.size());
  return bytes;
}

std::span<const std::byte> view(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(RecordedMessageTest, ACallHasItsItemsWhereTheyBelong) {
  std::array<std::byte, 64> memory;
  xdr::Encoder call(memory);
  call.u32(1);
  call.payload(view("data!"));
  call.u32(2);
  const std::string expected(
      "\x80\0\0\x14"
      "\0\0\0\1"
      "\0\0\0\5"
      "data!\0\0\0"
      "\0\0\0\2",
      24);
  EXPECT_EQ(bytes_of(RecordedMessage(call)), expected);
}

TEST(RecordedMessageTest, AReplyEndsWithWhatWasPlaced) {
  const std::string message("\0\0\0\1\0\0\0\5", 8);
  const std::array<xdr::PlacedItem, 1> placed{{{.data = view("data!")}}};
  xdr::Decoder reply(view(message));
  reply.place_in_order(placed);
  reply.u32("read by somebody already");
  EXPECT_EQ(bytes_of(RecordedMessage(reply)),
            std::string("\x80\0\0\x10", 4) + message + std::string("data!\0\0\0", 8));
}

// pad_included: the server may place the pad, and nothing here tells whether it did.
TEST(RecordedMessageTest, APadThatMightHaveBeenPlacedIsAdded) {
  const std::string message("\0\0\0\5", 4);
  const std::array<xdr::PlacedItem, 1> placed{{{.data = view("data!"), .pad_included = true}}};
  xdr::Decoder reply(view(message));
  reply.place_in_order(placed);
  EXPECT_EQ(bytes_of(RecordedMessage(reply)),
            std::string("\x80\0\0\x0c", 4) + message + std::string("data!\0\0\0", 8));
}

TEST(RecordedMessageTest, APadThatWasPlacedIsNotPaddedAgain) {
  const std::string message("\0\0\0\5", 4);
  const std::string data("data!\0\0\0", 8);
  const std::array<xdr::PlacedItem, 1> placed{{{.data = view(data), .pad_included = true}}};
  xdr::Decoder reply(view(message));
  reply.place_in_order(placed);
  EXPECT_EQ(bytes_of(RecordedMessage(reply)), std::string("\x80\0\0\x0c", 4) + message + data);
}

TEST(RecordedMessageTest, AnUnusedChunkAddsNothing) {
  const std::string message("\0\0\0\0", 4);
  const std::array<xdr::PlacedItem, 1> placed{};
  xdr::Decoder reply(view(message));
  reply.place_in_order(placed);
  EXPECT_EQ(bytes_of(RecordedMessage(reply)), std::string("\x80\0\0\x04", 4) + message);
}

}  // namespace
}  // namespace nfsrdma::recording
