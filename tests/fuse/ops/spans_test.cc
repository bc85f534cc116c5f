// NFS requests name the kernel's request that they are for.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "client/session/trace.h"
#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class SpansTest : public KernelRequests {
 protected:
  /// The number of the kernel's request that was answered last.
  EndedRequest last_answered() {
    std::optional<EndedRequest> last;
    kernel_->in_flight().visit_ended(1, [&](const EndedRequest& ended) { last = ended; });
    EXPECT_TRUE(last);
    return last.value_or(EndedRequest{});
  }
  std::vector<client::Span> spans_of(nfs4::nfs_opnum4 operation) {
    std::vector<client::Span> found;
    mount().trace().visit_ended(client::Trace::kSpans, [&](const client::Span& span) {
      if (span.operation == operation) found.push_back(span);
    });
    return found;
  }
};

TEST_F(SpansTest, AReadIsForTheRequestThatAskedForIt) {
  server_.write_file("file", text_of(100));
  const Opened file = kernel_open("file");
  EXPECT_EQ(spans_of(nfs4::OP_OPEN).back().origin, last_answered().unique);
  ASSERT_EQ(read(file, 0, 4096).error, 0);
  const EndedRequest ended = last_answered();
  EXPECT_EQ(ended.opcode, static_cast<std::uint32_t>(FUSE_READ));
  EXPECT_EQ(ended.node, file.node);
  EXPECT_EQ(ended.error_number, 0);
  EXPECT_EQ(ended.bytes_sent, 100U);
  ASSERT_EQ(spans_of(nfs4::OP_READ).size(), 1U);
  const client::Span span = spans_of(nfs4::OP_READ)[0];
  EXPECT_EQ(span.origin, ended.unique);
  EXPECT_LE(ended.received, span.begun);
  EXPECT_LE(span.ended, ended.answered);
  release(file);
}

// As many NFS requests as it takes, all for one.
TEST_F(SpansTest, SeveralReadsAreForOneRequest) {
  const std::size_t size = 2 * mount().rsize();
  server_.write_file("file", text_of(size));
  const Opened file = kernel_open("file");
  ASSERT_EQ(read(file, 0, static_cast<std::uint32_t>(size)).error, 0);
  const auto reads = spans_of(nfs4::OP_READ);
  ASSERT_EQ(reads.size(), 2U);
  for (const client::Span& span : reads) EXPECT_EQ(span.origin, last_answered().unique);
  release(file);
}

// What was answered before it was sent is for no request, whichever has it sent.
TEST_F(SpansTest, WriteBehindIsForNone) {
  const Opened file = kernel_open("file");
  ASSERT_EQ(write(file, 0, "text"), 0);
  ASSERT_EQ(writes(), 0) << "it was gathered";
  ASSERT_EQ(fsync(file), 0);
  const auto sent = spans_of(nfs4::OP_WRITE);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].origin, kNoOrigin);
  EXPECT_EQ(last_answered().opcode, static_cast<std::uint32_t>(FUSE_FSYNC));
  release(file);
}

TEST_F(SpansTest, WhatWaitsIsSeen) {
  server_.write_file("file", text_of(100));
  const Opened file = kernel_open("file");
  const std::uint64_t unique = begin(FUSE_READ, file.node, read_in(file, 0, 4096));
  std::vector<std::uint64_t> running;
  kernel_->in_flight().visit_running(
      [&](const PendingRequest& pending) { running.push_back(pending.unique); });
  EXPECT_EQ(running, std::vector{unique});
  std::vector<Origin> origins;
  mount().trace().visit_in_flight(
      [&](client::Compound& compound) { origins.push_back(compound.span().origin); });
  EXPECT_EQ(origins, std::vector<Origin>{unique});
  EXPECT_EQ(end(unique).error, 0);
  release(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
