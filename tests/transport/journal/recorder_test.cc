// What a recording does with what stands in its place.
#include "transport/journal/recorder.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "transport/journal/entry.h"

namespace nfsrdma::journal {
namespace {

namespace files = std::filesystem;
using namespace std::chrono_literals;

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    std::string name = ::testing::TempDir() + "recorder-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~RecorderTest() override { files::remove_all(folder_); }

  std::string path(const std::string& suffix = "") const { return folder_ + "/run.rec" + suffix; }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  void write(const std::string& suffix, const std::string& text) const {
    std::ofstream(path(suffix), std::ios::binary) << text;
  }
  static Body body(const std::string& text) { return std::move(Body().string(text)); }
  Result<std::unique_ptr<Recorder>> create(Duration last = Duration::zero()) const {
    return Recorder::create(path(), body("a head"), last);
  }
  /// A run that ends anyhow.
  void record(Kind kind, const std::string& text, Duration last = Duration::zero()) const {
    auto recorder = create(last);
    ASSERT_TRUE(recorder) << recorder.error().message();
    (*recorder)->input(kind, body(text), 1s, false);
  }

  std::string folder_;
};

TEST_F(RecorderTest, TheNextRunKeepsWhatTheOneBeforeHasLeft) {
  record(Kind::request, "of the first");
  const std::string first = content(path());
  EXPECT_NE(first.find("of the first"), std::string::npos);
  record(Kind::request, "of the second");
  EXPECT_EQ(content(path(".old")), first);
  EXPECT_NE(content(path()).find("of the second"), std::string::npos);
  EXPECT_EQ(content(path()).find("of the first"), std::string::npos);
  record(Kind::request, "of the third");
  EXPECT_NE(content(path(".old")).find("of the second"), std::string::npos);
}

// After a crash the server may be away, too.
TEST_F(RecorderTest, StartsThatFailDoNotCostTheRecordingOfBefore) {
  record(Kind::request, "of the crash");
  for (int start = 0; start < 3; ++start) record(Kind::work, "a start");
  EXPECT_NE(content(path(".old")).find("of the crash"), std::string::npos);
}

// Each tries for longer than what is kept.
TEST_F(RecorderTest, NorDoStartsThatTakeLong) {
  record(Kind::request, "of the crash", 10s);
  for (int start = 0; start < 3; ++start) {
    auto recorder = create(10s);
    ASSERT_TRUE(recorder);
    for (int i = 1; i < 10; ++i) (*recorder)->input(Kind::work, body("a try"), i * 20s, false);
  }
  EXPECT_NE(content(path(".old")).find("of the crash"), std::string::npos);
  EXPECT_FALSE(files::exists(path(".1")));
}

// In a directory of somebody else's, say.
TEST_F(RecorderTest, BeginsAlsoWhereTheOneOfBeforeCannotBeKept) {
  files::create_directories(path(".old") + "/full");
  record(Kind::request, "one");
  record(Kind::request, "two");
  EXPECT_NE(content(path()).find("two"), std::string::npos);
  EXPECT_EQ(content(path()).find("one"), std::string::npos);
}

// A mount that was unmounted ends a moment later.
TEST_F(RecorderTest, WaitsForTheLastOwner) {
  auto first = create();
  ASSERT_TRUE(first);
  std::thread ending([&] { first->reset(); });
  constexpr Duration kLong = 1h;
  const auto second = Recorder::create(path(), body("a head"), Duration::zero(), kLong);
  EXPECT_TRUE(second);
  ending.join();
}

TEST_F(RecorderTest, BothPartsOfTheLastSecondsAreKept) {
  write(".old", "older");
  record(Kind::request, "the last part", 10s);
  write(".1", "the part before");
  record(Kind::request, "anew", 10s);
  EXPECT_EQ(content(path(".old.1")), "the part before");
  EXPECT_NE(content(path(".old")).find("the last part"), std::string::npos);
  EXPECT_FALSE(files::exists(path(".1")));
  // One that has only one part does not stand beside the other part of an earlier one.
  record(Kind::request, "third", 10s);
  EXPECT_FALSE(files::exists(path(".old.1")));
  EXPECT_NE(content(path(".old")).find("anew"), std::string::npos);
}

TEST_F(RecorderTest, APartThatIsNoneOfThisRecordingStays) {
  write(".1", "of somebody");
  record(Kind::request, "one");
  record(Kind::request, "two");
  EXPECT_EQ(content(path(".1")), "of somebody");
}

TEST_F(RecorderTest, WhatIsNoRecordingIsKept) {
  write("", "a letter");
  record(Kind::request, "one");
  EXPECT_EQ(content(path(".old")), "a letter");
  EXPECT_EQ(content(path()).substr(0, kMagic.size()), kMagic);
}

TEST_F(RecorderTest, DamagedRecordingsAreLookedThroughToTheirEnd) {
  for (const std::string& rest : {std::string(), std::string("\0\0\0", 3), std::string(19, '\xff'),
                                  std::string(20, '\xff'), std::string(4000, '\xff')}) {
    write("", std::string(kMagic) + rest);
    record(Kind::work, "one");
    EXPECT_FALSE(files::exists(path(".old")));
  }
}

TEST_F(RecorderTest, ASymbolicLinkIsNeitherFollowedNorRenamed) {
  write(".other", "of somebody");
  files::create_symlink(path(".other"), path());
  EXPECT_FALSE(create());
  EXPECT_TRUE(files::is_symlink(path()));
  EXPECT_FALSE(files::exists(path(".old")));
  EXPECT_EQ(content(path(".other")), "of somebody");
}

TEST_F(RecorderTest, AFileThatIsBeingRecordedIntoIsRefused) {
  auto first = create();
  ASSERT_TRUE(first);
  (*first)->input(Kind::request, body("of the first"), 1s, false);
  const std::string before = content(path());
  const auto second = create();
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().is(Layer::local, EBUSY)) << second.error().message();
  EXPECT_NE(second.error().message().find("another program records into it"), std::string::npos);
  EXPECT_EQ(content(path()), before);
  EXPECT_FALSE(files::exists(path(".old")));
}

// The new part is locked as the first one was.
TEST_F(RecorderTest, BeginsAnew) {
  auto recorder = create(10s);
  ASSERT_TRUE(recorder);
  (*recorder)->input(Kind::request, body("early"), 1s, false);
  (*recorder)->input(Kind::request, body("late"), 20s, false);
  EXPECT_NE(content(path(".1")).find("early"), std::string::npos);
  EXPECT_NE(content(path()).find("late"), std::string::npos);
  EXPECT_FALSE(create(10s));
}

}  // namespace
}  // namespace nfsrdma::journal
