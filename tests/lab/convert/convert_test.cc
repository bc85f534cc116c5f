// What convert makes of captures that lack data.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/lab/capture/capture_maker.h"
#include "tests/lab/convert/rpc_view.h"

namespace nfsrdma::lab::test {
namespace {

namespace files = std::filesystem;

constexpr Side C = Side::client;
constexpr Side S = Side::server;
constexpr std::uint32_t kXid = 0x1000;
constexpr std::uint32_t kHandle = 0x500;
constexpr std::uint32_t kSink = 7;
constexpr std::size_t kPart = 1000;
constexpr std::size_t kParts = 3;
constexpr std::uint32_t kLength = kPart * kParts;
/// Of an RPC call with neither credentials nor arguments: behind its header.
constexpr std::uint32_t kBehindHeader = 40;

class ConvertTest : public ::testing::Test {
 protected:
  ConvertTest() {
    std::string name = ::testing::TempDir() + "convert-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~ConvertTest() override { files::remove_all(folder_); }

  /// Parts of a reply's data, in this order, but for those that the capture lacks.
  ConvertSummary written(const std::vector<std::size_t>& parts) {
    CaptureMaker file;
    IwarpMaker wire(file);
    wire.send(C, null_call(kXid, write_chunk(kHandle, kLength)));
    for (const std::size_t part : parts) wire.write(S, {kHandle, part * kPart}, Bytes(kPart));
    wire.send(S, null_reply(kXid, write_chunk(kHandle, kLength)), kHandle);
    wire.tcp.close();
    return convert(file);
  }
  /// The same of a call's data.
  ConvertSummary read(const std::vector<std::size_t>& parts) {
    CaptureMaker file;
    IwarpMaker wire(file);
    wire.send(C, null_call(kXid, read_chunk(kBehindHeader, kHandle, kLength)));
    wire.read_request(S, {kSink, 0, kLength, kHandle, 0});
    for (const std::size_t part : parts) {
      wire.read_response(C, {kSink, part * kPart}, Bytes(kPart));
    }
    wire.tcp.close();
    return convert(file);
  }
  ConvertSummary convert(const CaptureMaker& file) {
    const std::string from = folder_ + "/from.pcap";
    const Bytes& bytes = file.bytes();
    std::ofstream(from, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    auto summary = convert_to_rpc_view(from, folder_ + "/to.pcapng");
    EXPECT_TRUE(summary) << summary.error().message();
    return summary.value_or(ConvertSummary());
  }

  std::string folder_;
};

TEST_F(ConvertTest, AReplyWithAllOfItsDataIsWritten) {
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 2, 1}}) {
    const ConvertSummary all = written(order);
    EXPECT_EQ(all.messages, 2u);
    EXPECT_EQ(all.incomplete, 0u);
  }
}

// Zeros would stand in it, and nothing would tell them from data.
TEST_F(ConvertTest, AReplyWithAHoleInItsDataIsLeftOut) {
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 2}, {2, 0}, {1, 2}, {0, 1}, {0, 2, 2}, {0, 0, 2}, {}}) {
    const ConvertSummary some = written(order);
    EXPECT_EQ(some.messages, 1u) << "the call alone";
    EXPECT_EQ(some.incomplete, 1u);
  }
}

TEST_F(ConvertTest, ACallWithAllOfItsDataIsWritten) {
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 1, 2}, {2, 0, 1}, {1, 0, 2}}) {
    const ConvertSummary all = read(order);
    EXPECT_EQ(all.messages, 1u);
    EXPECT_EQ(all.incomplete, 0u);
  }
}

TEST_F(ConvertTest, ACallWithAHoleInItsDataIsLeftOut) {
  for (const std::vector<std::size_t>& order :
       {std::vector<std::size_t>{0, 2}, {2, 0}, {1, 2}, {0, 1}, {0, 0, 2}, {}}) {
    const ConvertSummary none = read(order);
    EXPECT_EQ(none.messages, 0u);
    EXPECT_EQ(none.incomplete, 1u);
  }
}

}  // namespace
}  // namespace nfsrdma::lab::test
