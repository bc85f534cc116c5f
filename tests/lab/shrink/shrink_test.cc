// What is left of a script that was cut down.
#include <gtest/gtest.h>

#include "tests/lab/shrink/failure.h"
#include "tests/lab/shrink/parts.h"
#include "tests/lab/shrink/program.h"
#include "tests/lab/shrink/reduce.h"

namespace nfsrdma::lab::shrink {
namespace {

constexpr const char* kScript =
    "# a report\n"
    "connect private-data={R=1 send=4096}\n"
    "session; compound slot=0 { PUTROOTFH LOOKUP \"} READ { # f\" GETFH } -> o  # frame 3\n"
    "send write=[[seg 65536]] {\n"
    "  PUTFH $o.GETFH.resok4.object READ {count=65536}\n"
    "  GETATTR [size] }\n"
    "repeat 3 {\n"
    "  compound slot=0 { PUTROOTFH\n"
    "    GETATTR [type] }\n"
    "  pause 1ms\n"
    "} shuffle seed=7\n"
    "expect reply.READ.status = NFS4_OK\n";

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

TEST(Parts, AreStatementsAndOperations) {
  const Part script = read_parts(kScript);
  ASSERT_EQ(script.parts.size(), 6u);
  EXPECT_EQ(script.parts[0].before, "connect private-data={R=1 send=4096}");
  ASSERT_EQ(script.parts[2].parts.size(), 3u);
  EXPECT_EQ(script.parts[2].parts[1].before, "LOOKUP \"} READ { # f\"");
  ASSERT_EQ(script.parts[3].parts.size(), 3u);
  EXPECT_EQ(script.parts[3].parts[1].before, "READ {count=65536}");
  ASSERT_EQ(script.parts[4].parts.size(), 2u);
  EXPECT_EQ(script.parts[4].parts[0].parts.size(), 2u);
  EXPECT_EQ(script.parts[4].after, "} shuffle seed=7");
  EXPECT_EQ(count_statements(script), 8u);
  EXPECT_EQ(count_operations(script), 8u);
}

TEST(Parts, SayTheSameWhenWrittenAndReadAgain) {
  const std::string once = to_text(read_parts(kScript));
  EXPECT_EQ(to_text(read_parts(once)), once);
  EXPECT_FALSE(has(once, "# a report"));
  EXPECT_TRUE(has(once, "# frame 3"));
}

TEST(Parts, KeepCommentsFromTheNextOperation) {
  const Part script = read_parts("send { GETATTR [size]#READ {\n GETFH } -> x # y\nsession");
  ASSERT_EQ(script.parts.size(), 2u);
  EXPECT_EQ(to_text(script), "send { GETATTR [size]#READ {\nGETFH } -> x # y\nsession\n");
}

TEST(Reducer, LeavesWhatIsNeeded) {
  Reducer reducer(read_parts(kScript), 1000, [](const std::string& text) {
    return has(text, "GETATTR [type]") && has(text, "session");
  });
  EXPECT_EQ(to_text(reducer.run()),
            "session\nrepeat 3 {\ncompound slot=0 { GETATTR [type] }\n} shuffle seed=7\n");
  EXPECT_FALSE(reducer.exhausted());
}

TEST(Reducer, EndsWithItsTries) {
  std::size_t tried = 0;
  Reducer reducer(read_parts(kScript), 3, [&](const std::string&) {
    ++tried;
    return false;
  });
  EXPECT_EQ(to_text(reducer.run()), to_text(read_parts(kScript)));
  EXPECT_EQ(tried, 3u);
  EXPECT_TRUE(reducer.exhausted());
}

TEST(Failure, IsTheSameInEachRun) {
  EXPECT_EQ(
      without_numbers("7: expectation 12 does not hold: expect reply.READ.status = NFS4_OK; it "
                      "is NFS4ERR_IO, in {xid=7}"),
      "expect reply.READ.status = NFS4_OK; it is NFS4ERR_IO");
  EXPECT_EQ(without_numbers("3: no reply to xid=1818321416: time is over"),
            without_numbers("4: no reply to xid=7: time is over"));
  EXPECT_EQ(without_numbers("2: OPEN has failed: {xid=1}"), "OPEN has failed");
}

TEST(Program, TellsHowItEnded) {
  const auto end_of = [](const char* shell, Duration limit) {
    return run_program({"/bin/sh", "-c", shell}, limit).value_or("none");
  };
  constexpr Duration kLong = std::chrono::seconds(600);
  EXPECT_EQ(end_of("exit 0", kLong), kSuccess);
  EXPECT_EQ(end_of("exit 7", kLong), "exit status 7");
  EXPECT_EQ(end_of("kill -TERM $$", kLong), "signal 15");
  EXPECT_EQ(end_of("exec sleep 600", Duration::zero()), "no end");
  EXPECT_FALSE(run_program({"/nonexistent/program"}, kLong).has_value());
}

TEST(Judge, AsksAProgram) {
  const auto judge = judge_by_program({"grep", "-q", "fine", "{}"}, std::chrono::seconds(600));
  EXPECT_EQ(judge->failure_of("all is fine\n").value_or("none"), "");
  EXPECT_EQ(judge->failure_of("nothing is\n").value_or("none"), "exit status 1");
}

}  // namespace
}  // namespace nfsrdma::lab::shrink
