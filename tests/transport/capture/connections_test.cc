// Connections that share addresses and ports, and those that have no ports: dissectors tell them
// apart.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "transport/capture/sink.h"

namespace nfsrdma::capture {
namespace {

/// What tshark prints for all frames of a file.
std::string shown(const std::string& path, const std::string& options) {
  const std::string command = "tshark -n -r " + path + " " + options + " 2>/dev/null";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> part;
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), got);
  }
  ::pclose(pipe);
  return output;
}

class ConnectionsTest : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    if (std::system("tshark --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no tshark";
    std::string name = ::testing::TempDir() + "connections-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    sink_ = std::move(*Sink::create(path()));
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::string path() const { return folder_ + "/wire.pcapng"; }
  std::unique_ptr<Flow> connection(std::uint16_t port) {
    sockaddr_storage local{};
    sockaddr_storage peer{};
    local.ss_family = peer.ss_family = static_cast<sa_family_t>(GetParam());
    // The port is at the same place in both families.
    reinterpret_cast<sockaddr_in&>(local).sin_port = htons(port);
    reinterpret_cast<sockaddr_in&>(peer).sin_port = htons(2049);
    return sink_->open_flow(reinterpret_cast<sockaddr&>(local), reinterpret_cast<sockaddr&>(peer),
                            true, Carried::messages);
  }
  /// NFS version 4, procedure NULL, without credentials, behind a record mark.
  static void call(Flow& flow, std::uint32_t xid) {
    std::array<std::uint32_t, 11> words = {0x80000028, xid, 0, 2, 100003, 4, 0, 0, 0, 0, 0};
    for (std::uint32_t& word : words) word = htonl(word);
    const iovec piece{words.data(), sizeof(words)};
    flow.sent({&piece, 1}, sizeof(words));
  }
  /// Each call dissects, in a connection of its own.
  void expect_two_connections() {
    sink_.reset();
    EXPECT_EQ(shown(path(), "-Y rpc -T fields -e tcp.stream -e rpc.xid"),
              "0\t0x00000007\n1\t0x00000008\n");
    EXPECT_EQ(shown(path(), "-Y 'tcp.analysis.retransmission || tcp.analysis.lost_segment'"), "");
  }

  std::string folder_;
  std::unique_ptr<Sink> sink_;
};

TEST_P(ConnectionsTest, OneAfterAnotherWithTheSamePorts) {
  call(*connection(700), 7);
  call(*connection(700), 8);
  expect_two_connections();
}

TEST_P(ConnectionsTest, WithoutAPortOfThisSideAtTheSameTime) {
  auto one = connection(0);
  auto two = connection(0);
  call(*one, 7);
  call(*two, 8);
  one.reset();
  two.reset();
  expect_two_connections();
}

INSTANTIATE_TEST_SUITE_P(Families, ConnectionsTest, ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& family) {
                           return family.param == AF_INET ? "ip4" : "ip6";
                         });

}  // namespace
}  // namespace nfsrdma::capture
