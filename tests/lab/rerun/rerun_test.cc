// A recorded mount is rerun with the same messages; what is not the same is named, and no
// recording, cut, flipped or made up, does harm.
#include "tests/lab/rerun/rerun.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tests/lab/rerun/reduced.h"
#include "tests/lab/rerun/samples.h"
#include "tests/lab/rerun/words.h"
#include "transport/base/log.h"
#include "transport/journal/entry.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::lab::rerun::test {
namespace {

constexpr int kSame = 0;
constexpr int kDiffers = 1;
constexpr int kNoMount = 2;

/// One recording is enough for all cases.
const Bytes& recorded() {
  static const Bytes bytes = record_writes();
  return bytes;
}

/// Runs it in a child, of which nothing is left; its status, or minus a signal.
int status_of(const Bytes& bytes) {
  const auto recording = read_recording(bytes);
  if (!recording) return kNoMount;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto outcome = run_again(*recording, [](const Difference&) { std::_Exit(kDiffers); });
    std::_Exit(outcome ? kSame : kNoMount);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class Rerun : public ::testing::Test {
 protected:
  void SetUp() override { log::set_level(log::Level::error); }
};

TEST_F(Rerun, GivesTheSameMessages) {
  const auto recording = read_recording(recorded());
  ASSERT_TRUE(recording) << recording.error().message();
  EXPECT_TRUE(recording->ended);
  EXPECT_FALSE(recording->cut);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status_of(recorded()), kSame);
}

TEST_F(Rerun, DirectoriesAndRecallsToo) {
  EXPECT_EQ(status_of(record_names()), kSame);
  EXPECT_EQ(status_of(record_recall()), kSame);
}

TEST_F(Rerun, NamesWhatIsNotTheSame) {
  Bytes bytes = recorded();
  const auto hello = std::as_bytes(std::span("hello", 5));
  const auto at = std::ranges::search(bytes, hello);
  ASSERT_FALSE(at.empty());
  *at.begin() = std::byte{'j'};
  const auto recording = read_recording(bytes);
  ASSERT_TRUE(recording);
  const auto end = [](const Difference& found) {
    std::fputs((found.recorded + '\n' + found.made).c_str(), stderr);
    std::_Exit(kDiffers);
  };
  // WRITE's data has another hash.
  EXPECT_EXIT((void)run_again(*recording, end), ::testing::ExitedWithCode(kDiffers),
              "WRITE.*5 bytes of data with hash(.|\n)*WRITE.*5 bytes of data with hash");
}

TEST_F(Rerun, OneThatIsCutOffIsMadeAgainAsFarAsItGoes) {
  for (std::size_t size = 0; size < recorded().size(); size += recorded().size() / 40) {
    const Bytes cut(recorded().begin(), recorded().begin() + static_cast<std::ptrdiff_t>(size));
    const int status = status_of(cut);
    EXPECT_TRUE(status == kSame || status == kNoMount) << size << " bytes: " << status;
  }
}

TEST_F(Rerun, OneThatIsDamagedDoesNoHarm) {
  for (std::size_t at = journal::kMagic.size(); at < recorded().size();
       at += recorded().size() / 200) {
    Bytes flipped = recorded();
    flipped[at] ^= std::byte{0x41};
    const int status = status_of(flipped);
    EXPECT_GE(status, 0) << "byte " << at;
  }
}

// No channel calls back before it is given to its user, or while a call is submitted to it.
TEST_F(Rerun, WhatCannotComeFromWithinOtherWorkDoesNoHarm) {
  const auto recording = read_recording(recorded());
  ASSERT_TRUE(recording);
  for (const Entry& entry : recording->entries) {
    const auto at = entry.body.data() - recording->bytes.data() - 3 * xdr::kUnit - 1;
    Bytes nested = recorded();
    nested.at(at) ^= std::byte{1};
    EXPECT_GE(status_of(nested), 0) << to_words(entry);
  }
}

TEST_F(Rerun, OneThatBeginsInTheMidstOfTheMountCannotBeRun) {
  auto recording = read_recording(recorded());
  ASSERT_TRUE(recording);
  EXPECT_TRUE(recording->begun);
  // As record_last= leaves it: the head, and what came last.
  const Entry& second = recording->entries.at(recording->entries.size() / 2);
  const auto place_of = [&](const Entry& entry) {
    return entry.body.data() - 5 * xdr::kUnit - recording->bytes.data();
  };
  Bytes last = recorded();
  last.erase(last.begin() + place_of(recording->entries.front()), last.begin() + place_of(second));
  const auto read = read_recording(last);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->begun);
  EXPECT_FALSE(list_of(*read).empty());
  const auto ran = run_again(*read, [](const Difference&) { std::_Exit(kDiffers); });
  ASSERT_FALSE(ran);
  EXPECT_NE(ran.error().message().find("--list prints"), std::string::npos);
}

TEST_F(Rerun, WhatIsNoRecordingIsRefused) {
  EXPECT_FALSE(read_recording(Bytes()));
  EXPECT_FALSE(read_recording(Bytes(1000)));
  EXPECT_FALSE(read_recording("/nonexistent"));
}

TEST_F(Rerun, EntriesHaveWords) {
  const auto recording = read_recording(recorded());
  ASSERT_TRUE(recording);
  std::string all;
  for (const Entry& entry : recording->entries) all += to_words(entry) + '\n';
  for (const char* word : {"create of inode 1", "EXCHANGE_ID", "WRITE", "connection down", "end"}) {
    EXPECT_NE(all.find(word), std::string::npos) << word;
  }
}

TEST_F(Rerun, RequestsCanBeLeftOut) {
  const auto recording = read_recording(recorded());
  ASSERT_TRUE(recording);
  auto list = read_list(list_of(*recording));
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 7U) << "five requests, a lost connection, and the one that ends";
  list->erase(list->begin() + 2, list->begin() + 4);  // the lost connection, FSYNC
  const auto lines = [&]() -> std::string {
    const auto outcome = run_reduced(*recording, *list, [](const Difference&) { std::_Exit(1); });
    std::string all;
    for (const std::string& line : outcome->given) all += line + '\n';
    return all;
  };
  EXPECT_EXIT(
      {
        std::fputs(lines().c_str(), stderr);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "answer to create: errno 0(.|\n)*answer to read: errno 0, 5 ");
  EXPECT_FALSE(read_list("nonsense"));
}

// A lease would be renewed for all of the time.
TEST_F(Rerun, ATimeFarAwayIsReachedAtOnce) {
  auto recording = read_recording(recorded());
  ASSERT_TRUE(recording);
  const auto list = read_list(list_of(*recording));
  ASSERT_TRUE(list);
  recording->entries[list->at(4)].time += std::chrono::hours(24 * 365 * 50);  // the read
  EXPECT_EXIT(
      {
        const auto outcome =
            run_reduced(*recording, *list, [](const Difference&) { std::_Exit(1); });
        std::_Exit(outcome ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nfsrdma::lab::rerun::test
