// Data written UNSTABLE4 is kept until a COMMIT with the same verifier covers it, and can otherwise
// be sent again without bringing back what newer writes replaced (RFC 8881 sections 18.3, 18.32).
#include "cache/data/uncommitted_data.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "tests/support/virtual_reactor.h"

namespace nfsrdma::cache {
namespace {

WriteVerifier verifier(int number) { return {std::byte(number)}; }

class UncommittedDataTest : public ::testing::Test {
 protected:
  UncommittedDataTest() : pool(std::move(*BufferPool::create(4096, 2))) {}

  Uncommitted bytes(const std::string& text) {
    Buffer slot = pool->acquire();
    return memory.keep(slot, std::as_bytes(std::span(text)));
  }
  void write(std::uint64_t offset, const std::string& text, int boot) {
    data.keep(offset, bytes(text), verifier(boot));
  }
  /// Plays the lost pieces back onto what the server has.
  std::string resend(std::string file) {
    while (auto lost = data.next_lost()) {
      const auto& part = lost->kept.data;
      if (file.size() < lost->offset + part.size()) file.resize(lost->offset + part.size(), '.');
      std::memcpy(&file[lost->offset], part.data(), part.size());
      data.supersede(lost->offset, part.size());
    }
    return file;
  }
  std::size_t commit(int boot) { return data.committed(data.mark(), verifier(boot)); }

  VirtualReactor reactor;
  std::unique_ptr<BufferPool> pool;
  UncommittedMemory memory{reactor, {.slots = 8}};
  UncommittedData data{memory};
};

TEST_F(UncommittedDataTest, ACommitWithTheSameVerifierForgetsEverything) {
  write(0, "aaaa", 1);
  write(4, "bbbb", 1);
  EXPECT_FALSE(data.empty());
  EXPECT_EQ(commit(1), 0u);
  EXPECT_TRUE(data.empty());
  EXPECT_EQ(memory.bytes_copied(), 0u);
}

TEST_F(UncommittedDataTest, ACommitDoesNotCoverWhatWasAnsweredAfterItWasSent) {
  write(0, "aaaa", 1);
  const auto mark = data.mark();
  write(4, "bbbb", 1);
  EXPECT_EQ(data.committed(mark, verifier(1)), 0u);
  EXPECT_EQ(data.pieces(), 1u);
  EXPECT_EQ(commit(1), 0u);
  EXPECT_TRUE(data.empty());
}

TEST_F(UncommittedDataTest, AnotherVerifierMeansTheDataIsSentAgain) {
  write(0, "aaaa", 1);
  write(6, "bb", 1);
  EXPECT_EQ(commit(2), 2u);
  EXPECT_EQ(resend(""), "aaaa..bb");
  EXPECT_TRUE(data.empty());
}

TEST_F(UncommittedDataTest, OnlyWhatWasWrittenBeforeTheRestartIsSentAgain) {
  write(0, "old", 1);
  write(3, "new", 2);
  EXPECT_EQ(commit(2), 1u);
  EXPECT_EQ(resend("...new"), "oldnew");
}

TEST_F(UncommittedDataTest, ARestartBetweenTwoCommitsIsNoticedByTheSecond) {
  write(0, "a", 1);
  const auto mark = data.mark();
  write(1, "b", 2);
  EXPECT_EQ(data.committed(mark, verifier(1)), 0u);
  EXPECT_EQ(commit(3), 1u);
  EXPECT_EQ(resend("a"), "ab");
}

TEST_F(UncommittedDataTest, NewerDataReplacesOlderDataInEveryOverlap) {
  write(0, "aaaaaaaaaa", 1);
  write(3, "bbb", 1);
  write(8, "cccc", 1);
  write(0, "d", 1);
  EXPECT_EQ(commit(2), 5u);
  EXPECT_EQ(resend(""), "daabbbaacccc");
}

TEST_F(UncommittedDataTest, AStableWriteKeepsOlderDataFromComingBack) {
  write(0, "aaaaaa", 1);
  data.supersede(2, 2);  // another process wrote "SS" there with O_SYNC
  EXPECT_EQ(commit(2), 2u);
  EXPECT_EQ(resend("..SS"), "aaSSaa");
}

TEST_F(UncommittedDataTest, TruncatedDataDoesNotComeBack) {
  write(0, "aaaaaa", 1);
  write(10, "bbb", 1);
  data.truncate(4);
  EXPECT_EQ(commit(2), 1u);
  EXPECT_EQ(resend(""), "aaaa");
}

TEST_F(UncommittedDataTest, TruncationToNothingLeavesNothing) {
  write(0, "aaaaaa", 1);
  data.truncate(0);
  EXPECT_TRUE(data.empty());
}

TEST_F(UncommittedDataTest, AFailedCommitForgetsWhatItCovered) {
  write(0, "aa", 1);
  const auto mark = data.mark();
  write(2, "bb", 1);
  data.abandon(mark);
  EXPECT_EQ(data.pieces(), 1u);
}

TEST_F(UncommittedDataTest, LostDataStaysLostUntilItIsSent) {
  write(0, "aa", 1);
  EXPECT_EQ(commit(2), 1u);
  EXPECT_EQ(commit(1), 1u);  // not durable, whatever a later COMMIT says
  EXPECT_EQ(resend(""), "aa");
}

TEST_F(UncommittedDataTest, APartOfALostPieceMayBeSentFirst) {
  write(5, "abcdef", 1);
  commit(2);
  data.supersede(5, 2);
  const auto rest = data.next_lost();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->offset, 7u);
  EXPECT_EQ(rest->kept.data.size(), 4u);
}

TEST_F(UncommittedDataTest, TheEndOfTheOffsetRangeDoesNotWrap) {
  write(UINT64_MAX - 4, "abc", 1);
  data.supersede(UINT64_MAX - 3, UINT64_MAX);
  EXPECT_EQ(commit(2), 1u);
  EXPECT_EQ(data.next_lost()->kept.data.size(), 1u);
}

/// Any mix of writes, stable writes, truncations, commits and restarts ends with the file that a
/// server that never lost anything would have.
TEST_F(UncommittedDataTest, RandomHistoriesEndWithTheRightFile) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<std::size_t>(random() % n); };
    std::string right;    // what programs wrote
    std::string durable;  // what survives a restart of the server
    std::string server;   // what the server shows
    int boot = 1;
    const auto put = [](std::string& file, std::size_t at, const std::string& text) {
      if (file.size() < at + text.size()) file.resize(at + text.size(), '.');
      file.replace(at, text.size(), text);
    };
    for (int step = 0; step < 60; ++step) {
      const std::size_t at = below(40);
      const std::string text(1 + below(12), static_cast<char>('a' + step % 26));
      switch (below(8)) {
        case 0:
          put(right, at, text);
          put(server, at, text);
          put(durable, at, text);
          data.supersede(at, text.size());
          break;
        case 1:
          for (std::string* file : {&right, &server, &durable}) file->resize(at, '.');
          data.truncate(at);
          break;
        case 2:
          server = durable;
          ++boot;
          break;
        case 3:
          durable = server;
          if (commit(boot) > 0) durable = server = resend(server);
          EXPECT_TRUE(data.empty());
          EXPECT_EQ(server, right) << "seed " << seed << " step " << step;
          break;
        default:
          put(right, at, text);
          put(server, at, text);
          write(at, text, boot);
      }
    }
    durable = server;
    if (commit(boot) > 0) server = resend(server);
    ASSERT_EQ(server, right) << "seed " << seed;
    EXPECT_EQ(memory.bytes_copied(), 0u);
    data.truncate(0);
  }
}

}  // namespace
}  // namespace nfsrdma::cache
