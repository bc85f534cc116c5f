// RDMA_ERROR: header errors that the server reports (RFC 8166 section 4.5).
#include <gtest/gtest.h>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

using rdma::ERR_CHUNK;
using rdma::ERR_VERS;
using rdma::RDMA_ERROR;

class Errors : public testing::Test {
 protected:
  void SetUp() override { harness_.connect(); }

  Harness harness_;
};

// V1-4.5-6, V1-4.5-8, E-8267-5, E-8267-11, F-3: ERR_CHUNK, 20 bytes long, ends its RPC at once and
// for good; the memory of its chunks is out of reach first.
TEST_F(Errors, ErrChunkEndsTheCall) {
  TestCall call(harness_, 5);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.submit();
  const auto segment =
      parse(harness_.peer().sent(0).bytes)->header.chunks.write_entries[0].target[0];
  bool reachable_when_done = true;
  call.on_done = [&] { reachable_when_done = harness_.peer().reachable(segment.handle); };
  harness_.deliver(words({5, 1, 32, RDMA_ERROR, ERR_CHUNK}));
  ASSERT_TRUE(call.done());
  EXPECT_TRUE(call.error().is(Layer::transport, static_cast<int>(rdma::Fault::err_chunk)));
  EXPECT_FALSE(reachable_when_done);
  EXPECT_EQ(harness_.peer().sent_count(), 1u) << "nothing is sent again";
  EXPECT_EQ(harness_.observer.closings, 0);
}

// V1-4.5-6, V1-4.5.1-1, V1-7-2, D05-5.3-1, F-20: ERR_VERS is understood whatever its version word
// says.
TEST_F(Errors, ErrVersEndsTheCall) {
  for (std::uint32_t version : {1u, 2u, 0u}) {
    const std::size_t index = harness_.peer().sent_count();
    TestCall call(harness_, 10 + version);
    call.submit();
    ASSERT_EQ(harness_.peer().sent_count(), index + 1);
    harness_.deliver(words({10 + version, version, 32, RDMA_ERROR, ERR_VERS, 3, 4}));
    ASSERT_TRUE(call.done());
    EXPECT_TRUE(call.error().is(Layer::transport, static_cast<int>(rdma::Fault::err_vers)));
    EXPECT_NE(call.error().message().find("3 to 4"), std::string::npos);
  }
}

// V1-4.5-7, F-2: an error for an XID that is not open is dropped.
TEST_F(Errors, ErrorForAnUnknownXidIsDropped) {
  TestCall call(harness_, 5);
  call.submit();
  harness_.deliver(words({6, 1, 32, RDMA_ERROR, ERR_CHUNK}));
  EXPECT_FALSE(call.done());
  EXPECT_EQ(counter(*harness_.channel, "bad_xids"), 1u);
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-4.5-7, F-9: an error that cannot be decoded is dropped; with the XID of an open Call the
// connection ends, for nothing else will come for it.
TEST_F(Errors, UndecodableErrorsAreDropped) {
  TestCall call(harness_, 5);
  call.submit();
  harness_.deliver(words({6, 1, 32, RDMA_ERROR, 9}));
  harness_.deliver(words({6, 1, 32, RDMA_ERROR, ERR_VERS, 1}));
  EXPECT_FALSE(call.done());
  EXPECT_EQ(harness_.observer.closings, 0);
  harness_.deliver(words({5, 1, 32, RDMA_ERROR, 9}));
  ASSERT_TRUE(call.done());
  EXPECT_EQ(call.error().layer, Layer::fabric);
}

// E-8267-16: an RDMA_ERROR right before the disconnect: its RPC has ended and is no loss of the
// connection.
TEST_F(Errors, ErrorBeforeADisconnectCounts) {
  TestCall call(harness_, 5);
  call.submit();
  harness_.peer().deliver(words({5, 1, 32, RDMA_ERROR, ERR_CHUNK}));
  harness_.peer().lose(fabric::Fault::closed);
  harness_.settle();
  ASSERT_TRUE(call.done());
  EXPECT_EQ(call.error().layer, Layer::transport);
  EXPECT_EQ(call.call.losses.total, 0u);
  EXPECT_EQ(call.done_count(), 1);
}

// E-8267-14: the credit of a failed Call is free again and the connection goes on.
TEST_F(Errors, ConnectionGoesOnAfterAnError) {
  TestCall failed(harness_, 5);
  failed.submit();
  harness_.deliver(words({5, 1, 32, RDMA_ERROR, ERR_CHUNK}));
  TestCall next(harness_, 6);
  next.submit();
  harness_.answer(1);
  EXPECT_TRUE(next.ok());
}

}  // namespace
}  // namespace nfsrdma::test
