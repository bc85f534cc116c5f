// RFC 8797: the private data of the connection manager.
#include "transport/rdma/private_data.h"

#include <gtest/gtest.h>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::rdma {
namespace {

using test::Bytes;

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

const Bytes kVector = bytes({0xf6, 0xab, 0x0e, 0x18, 0x01, 0x01, 0x03, 0x03});

void expect_absent(const Bytes& buffer) {
  const PrivateData data = decode_private_data(buffer);
  EXPECT_FALSE(data.remote_invalidation);
  EXPECT_EQ(data.send_size, kDefaultThreshold);
  EXPECT_EQ(data.receive_size, kDefaultThreshold);
}

// E-8797-1
TEST(PrivateData, VectorFor4096AndRemoteInvalidation) {
  const auto wire =
      encode_private_data({.remote_invalidation = true, .send_size = 4096, .receive_size = 4096});
  EXPECT_EQ(Bytes(wire.begin(), wire.end()), kVector);
  const PrivateData data = decode_private_data(kVector);
  EXPECT_TRUE(data.remote_invalidation);
  EXPECT_EQ(data.send_size, 4096u);
  EXPECT_EQ(data.receive_size, 4096u);
}

// E-8797-2
TEST(PrivateData, SizesAreKibibytesLessOne) {
  for (const auto& [byte, size] : {std::pair{0, 1024}, {3, 4096}, {255, 262144}}) {
    Bytes wire = kVector;
    wire[6] = wire[7] = static_cast<std::byte>(byte);
    const PrivateData data = decode_private_data(wire);
    EXPECT_EQ(data.send_size, static_cast<std::size_t>(size));
    const auto back = encode_private_data(data);
    EXPECT_EQ(Bytes(back.begin(), back.end()), wire);
  }
  EXPECT_EQ(encode_private_data({.send_size = 1, .receive_size = 5000})[6], std::byte{0});
  EXPECT_EQ(encode_private_data({.send_size = 1, .receive_size = 5000})[7], std::byte{3});
  EXPECT_EQ(encode_private_data({.send_size = 1U << 30})[6], std::byte{255});
}

// E-8797-3, V1-3.3.2-1
TEST(PrivateData, EachDirectionTakesTheSmallerSize) {
  const Thresholds agreed =
      agree({.send_size = 8192, .receive_size = 2048}, {.send_size = 4096, .receive_size = 65536});
  EXPECT_EQ(agreed.call, 8192u);
  EXPECT_EQ(agreed.reply, 2048u);
}

// E-8797-4
TEST(PrivateData, ReservedBitsAreIgnoredAndSentAsZero) {
  Bytes wire = kVector;
  wire[5] = std::byte{0xFE};
  EXPECT_FALSE(decode_private_data(wire).remote_invalidation);
  wire[5] = std::byte{0xFF};
  EXPECT_TRUE(decode_private_data(wire).remote_invalidation);
  EXPECT_EQ(encode_private_data({})[5], std::byte{0});
}

// E-8797-6
TEST(PrivateData, RemoteInvalidationNeedsBothSides) {
  for (bool client : {false, true}) {
    for (bool server : {false, true}) {
      EXPECT_EQ(agree({.remote_invalidation = client}, {.remote_invalidation = server})
                    .remote_invalidation,
                client && server);
    }
  }
}

// E-8797-8, E-8797-11, V1-3.3.3-4: without conforming data, 1024 and no remote invalidation.
TEST(PrivateData, NonConformingDataCountsAsAbsent) {
  expect_absent({});
  Bytes wrong_version = kVector;
  wrong_version[4] = std::byte{2};
  expect_absent(wrong_version);
  Bytes wrong_identifier = kVector;
  wrong_identifier[0] = std::byte{0};
  expect_absent(wrong_identifier);
}

// E-8797-9
TEST(PrivateData, IsFoundAtAnyOffset) {
  for (std::size_t offset : {1u, 4u, 7u, 48u}) {
    Bytes buffer(offset, std::byte{0xf6});
    buffer.insert(buffer.end(), kVector.begin(), kVector.end());
    EXPECT_EQ(decode_private_data(buffer).send_size, 4096u) << offset;
    buffer.pop_back();
    expect_absent(buffer);
  }
}

}  // namespace
}  // namespace nfsrdma::rdma
