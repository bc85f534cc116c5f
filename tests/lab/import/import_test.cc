// Texts of the kernel in their real form become scripts that can be read; others do no harm.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/lab/import/script_maker.h"
#include "tests/lab/import/trace_line.h"
#include "tests/lab/script/statements.h"

namespace nfsrdma::lab::import {
namespace {

std::string sample(const std::string& name) {
  std::ifstream file(std::string(NFSRDMA_SAMPLES) + "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(TraceLine, OfEitherTool) {
  const auto report = read_line("  cp-12  [000]   512.100001: rpc_request:   task:1@2 nfsv4 OPEN");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->event, "rpc_request");
  EXPECT_EQ(report->text, "task:1@2 nfsv4 OPEN");
  const auto ftrace = read_line("   a b-12    [001] d..1.  9001.000100: nfs4_mkdir: error=0 (OK)");
  ASSERT_TRUE(ftrace);
  EXPECT_EQ(ftrace->event, "nfs4_mkdir");
  for (const char* none : {"", "# tracer: nop", "cpus=2", "512.1:", "512.1: x", "512.1: X: y"})
    EXPECT_FALSE(read_line(none)) << none;
}

TEST(TraceLine, Fields) {
  const std::string_view text = "xid=0x10: name=a b oldname=c count=12,";
  EXPECT_EQ(number_field(text, "xid"), 16u);
  EXPECT_EQ(number_field(text, "count"), 12u);
  EXPECT_EQ(rest_of_field(text, "name"), "a b oldname=c count=12,");
  EXPECT_FALSE(field(text, "nam"));
  EXPECT_FALSE(number_field(text, "oldname"));
}

TEST(ImportTrace, CallsWithTheirChunks) {
  const Trace trace = read_trace(sample("rpcrdma.txt"));
  ASSERT_EQ(trace.steps.size(), 9u);
  const TraceStep& open = trace.steps[0];
  EXPECT_EQ(open.procedure, "OPEN");
  ASSERT_TRUE(open.rdma && open.ended);
  EXPECT_EQ(open.rdma->xid, 0x5f2b7a10u);
  EXPECT_EQ(open.ended->name, "copy of notes");
  const TraceStep& write = trace.steps[1];
  ASSERT_TRUE(write.rdma && write.ended);
  EXPECT_EQ(write.rdma->reads, (std::vector<std::uint64_t>{16384, 3001}));
  EXPECT_EQ(write.rdma->pages, 19385u);
  EXPECT_EQ(write.ended->file, 131u);
  EXPECT_EQ(trace.steps[3].rdma->writes, (std::vector<std::uint64_t>{19385}));
  EXPECT_EQ(trace.steps[4].rdma->reply, (std::vector<std::uint64_t>{4096, 4096}));
  EXPECT_TRUE(trace.steps[5].rdma->long_call);
  EXPECT_EQ(trace.steps[6].loss, "xprtrdma_wc_send RETRY_EXC_ERR");
  EXPECT_EQ(trace.steps[7].procedure, "GETATTR");
}

TEST(ImportTrace, BecomesAScript) {
  const MadeScript made = make_script(read_trace(sample("rpcrdma.txt")));
  EXPECT_EQ(made.calls, 7u);
  EXPECT_EQ(made.left_out, 1u);  // LAYOUTGET
  EXPECT_TRUE(script::read_script(made.text).has_value()) << made.text;
  for (const char* part :
       {"file=\"import.copy of notes\"", "read=[payload seg 16384 seg 3001]",
        "data={length=19385 fill=0x41}", "write=[[seg 19385]]", "READ {", "count=19385",
        "reply=[seg 4096 times=2]", "proc=NOMSG read=[pos=0 seg 2312 seg 4096]",
        "disconnect reset  # line 31: xprtrdma_wc_send RETRY_EXC_ERR\nreconnect\n",
        "xid 0x5f2b7a13"}) {
    EXPECT_TRUE(has(made.text, part)) << part << "\n" << made.text;
  }
}

TEST(ImportTrace, EventsOfNfsAloneAreEnough) {
  const MadeScript made = make_script(read_trace(sample("nfs4.txt")));
  EXPECT_EQ(made.calls, 6u);
  EXPECT_TRUE(script::read_script(made.text).has_value()) << made.text;
  EXPECT_TRUE(has(made.text, "oldname=\"import.new folder\" newname=\"import.old folder\""))
      << made.text;
  EXPECT_TRUE(has(made.text, "REMOVE \"import.old folder\""));
  EXPECT_TRUE(has(made.text, "LOOKUP \"import.none\"")) << made.text;
  EXPECT_TRUE(has(made.text, "offset=4096 count=8192"));
}

TEST(ImportTrace, OlderKernelsSayItOtherwise) {
  const Trace trace = read_trace(
      " dd-1 [000] 5.1: xprtrdma_chunk_write: task:18@5 1024@0x00001000:0x00000001 (last)\n"
      " dd-1 [000] 5.1: xprtrdma_marshal: task:18@5 xid=0x0000000a: hdr=52 xdr=100/0/0 "
      "inline/write list\n"
      " dd-1 [000] 5.2: rpc_stats_latency: task:18@5 xid=0x0000000a nfsv4 READ backlog=1 rtt=2 "
      "execute=3\n"
      " dd-1 [000] 5.3: xprtrdma_wc_receive: rep=00000000abc 0 bytes: WR_FLUSH_ERR (5/0x244)\n");
  ASSERT_EQ(trace.steps.size(), 2u);
  EXPECT_EQ(trace.steps[0].procedure, "READ");
  EXPECT_EQ(trace.steps[0].rdma->writes, (std::vector<std::uint64_t>{1024}));
  EXPECT_EQ(trace.steps[1].loss, "xprtrdma_wc_receive WR_FLUSH_ERR");
}

TEST(ImportTrace, NamesAndNumbersThatHarmAreBounded) {
  const std::string text =
      " a-1 [0] 1.1: nfs4_lookup: error=0 (OK) name=00:01:2/a\" }\\ ; send raw\n"
      " a-1 [0] 1.1: nfs4_read: error=0 (OK) fileid=0:0:1 offset=18446744073709551615 "
      "count=99999999999\n"
      " a-1 [0] 1.1: xprtrdma_chunk_write: task:1@1 18446744073709551615@0x0:0x0 (last)\n"
      " a-1 [0] 1.1: xprtrdma_marshal: task:1@1 xid=0xffffffffff hdr= xdr=/ write list\n";
  const MadeScript made = make_script(read_trace(text));
  EXPECT_TRUE(script::read_script(made.text).has_value()) << made.text;
  EXPECT_EQ(count(made.text, "send raw"), 1u);  // within the name
}

TEST(ImportMountstats, BecomesAMixOfItsProportions) {
  const auto mounts = read_mountstats(sample("mountstats.txt"));
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].mount_point, "/mnt");
  EXPECT_EQ(mounts[0].requests(), 1433u);
  const MadeScript made = make_script(mounts[0], 128, 7);
  EXPECT_EQ(made.calls, 128u);
  EXPECT_EQ(made.left_out, 3u);  // NULL, CLOSE, EXCHANGE_ID
  EXPECT_EQ(count(made.text, " READ {"), 30u);
  EXPECT_EQ(count(made.text, " LOOKUP "), 8u);
  EXPECT_TRUE(has(made.text, "count=10285")) << made.text;
  EXPECT_TRUE(has(made.text, "} shuffle seed=7")) << made.text;
  EXPECT_TRUE(script::read_script(made.text).has_value()) << made.text;
}

TEST(ImportMountstats, CountersThatAreMadeUp) {
  const auto mounts = read_mountstats(
      "device a mounted on /b with fstype nfs4\n\tper-op statistics\n"
      "READ: 18446744073709551615 0 0 0 18446744073709551615\n"
      "WRITE: 18446744073709551615 0 0 18446744073709551615 0\n");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].requests(), UINT64_MAX);
  const MadeScript made = make_script(mounts[0], 10, 1);
  EXPECT_EQ(made.calls, 10u);
  EXPECT_TRUE(script::read_script(made.text).has_value()) << made.text;
}

}  // namespace
}  // namespace nfsrdma::lab::import
