// What can be asked through the control socket.
#include "fuse/daemon/control_answers.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

bool is_mounted = true;
int reconnects = 0;
int captures = 0;

AskersFiles file_of(int descriptor) {
  AskersFiles files;
  files.emplace_back(UniqueFd(descriptor));
  return files;
}
CaptureTerms terms_seen;

const ControlSources kSources{
    [] { return std::string("pid 1\n"); },
    [](CounterVisitor& visitor) { visitor.visit("sends", 2); },
    [](const LineSink& line) {
      line("waiting one");
      line("ended two");
    },
    [](const LineSink& line) { line("open three"); },
    [] { return is_mounted; },
    [] { ++reconnects; },
    [] { return std::size_t{4}; },
    [] { return std::size_t{5}; },
    [](AskersFiles files, const CaptureTerms& terms) -> Result<void> {
      captures += static_cast<int>(files.size());
      terms_seen = terms;
      return {};
    },
    [] { captures = 0; },
    [](Ended since, const LineSink& line) {
      line("ended " + std::to_string(since.of_kernel + since.of_server));
      return Ended{7, 8};
    },
};

TEST(ControlAnswers, OneForEachRequest) {
  EXPECT_EQ(answer_control(kSources, "identity").value(), "pid 1\n");
  EXPECT_EQ(answer_control(kSources, "counters").value(), "sends 2\n");
  EXPECT_EQ(answer_control(kSources, "requests").value(), "waiting one\nended two\n");
  EXPECT_EQ(answer_control(kSources, "state").value(), "open three\n");
}

TEST(ControlAnswers, WhatChangesSomethingNeedsAMount) {
  is_mounted = true;
  EXPECT_EQ(answer_control(kSources, "reconnect").value(), "");
  EXPECT_EQ(reconnects, 1);
  EXPECT_EQ(answer_control(kSources, "return").value(), "4 delegations are given back\n");
  is_mounted = false;
  EXPECT_TRUE(answer_control(kSources, "reconnect").error().is(Layer::local, EAGAIN));
  EXPECT_TRUE(answer_control(kSources, "return").error().is(Layer::local, EAGAIN));
  EXPECT_EQ(reconnects, 1);
}

TEST(ControlAnswers, WhatHasEndedSince) {
  EXPECT_EQ(answer_control(kSources, "ended 1 2").value(), "next 7 8\nended 3\n");
  EXPECT_TRUE(answer_control(kSources, "ended 18446744073709551615 0"));
  for (const char* words : {"ended ", "ended 1", "ended 1 ", "ended 1 2x", "ended -1 2",
                            "ended a b", "ended 1 18446744073709551616"}) {
    EXPECT_FALSE(answer_control(kSources, words)) << words;
  }
}

TEST(ControlAnswers, ACaptureNeedsAFileAndBeginsWithANewConnection) {
  is_mounted = true;
  captures = reconnects = 0;
  EXPECT_FALSE(answer_control(kSources, "capture on"));
  EXPECT_TRUE(answer_control(kSources, "capture on", file_of(::open("/dev/null", O_WRONLY))));
  EXPECT_EQ(captures, 1);
  EXPECT_EQ(reconnects, 1);
  EXPECT_TRUE(answer_control(kSources, "capture off"));
  EXPECT_EQ(captures, 0);
  EXPECT_EQ(reconnects, 1);
  EXPECT_EQ(answer_control(kSources, "drop").value(), "5 files are forgotten\n");
  is_mounted = false;
  EXPECT_FALSE(answer_control(kSources, "capture on", file_of(::open("/dev/null", O_WRONLY))));
  EXPECT_FALSE(answer_control(kSources, "drop"));
  EXPECT_EQ(captures, 0);
}

TEST(ControlAnswers, ACaptureHasAViewAndBounds) {
  is_mounted = true;
  const auto on = [](const char* words) {
    return answer_control(kSources, std::string("capture on") + words,
                          file_of(::open("/dev/null", O_WRONLY)));
  };
  EXPECT_TRUE(on(""));
  EXPECT_FALSE(terms_seen.view);
  EXPECT_EQ(terms_seen.snap, 0u);
  EXPECT_TRUE(on(" capture_view=roce capture_snap=128 capture_size=3"));
  EXPECT_EQ(terms_seen.view, CaptureView::roce);
  EXPECT_EQ(terms_seen.snap, 128u);
  EXPECT_EQ(terms_seen.file_bytes, 3u << 20);
  for (const char* words :
       {" ", " capture_view=", " capture_view=all", " capture_snap=", " capture_snap=-1",
        " capture_size=0", " capture_size=99999999", " capture_snap=1 ", " x", "x"}) {
    EXPECT_FALSE(on(words)) << words;
  }
}

TEST(ControlAnswers, TheLogsLevelIsSet) {
  EXPECT_EQ(answer_control(kSources, "log error").value(), "");
  EXPECT_FALSE(log::enabled(log::Level::warning));
  EXPECT_FALSE(answer_control(kSources, "log loud"));
  EXPECT_FALSE(answer_control(kSources, "log "));
  EXPECT_FALSE(log::enabled(log::Level::warning));
  EXPECT_TRUE(answer_control(kSources, "log info"));
  EXPECT_TRUE(log::enabled(log::Level::warning));
}

TEST(ControlAnswers, AnythingElseIsTold) {
  for (const char* request : {"", "identit", "identity ", "log", "counters\t"}) {
    const auto answer = answer_control(kSources, request);
    ASSERT_FALSE(answer) << request;
    EXPECT_NE(answer.error().message().find("log LEVEL"), std::string::npos);
  }
}

}  // namespace
}  // namespace nfsrdma::fuse
