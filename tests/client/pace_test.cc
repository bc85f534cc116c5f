// CLOSEs that may go with the next request, and who hurries them.
#include "client/requests/getattr.h"
#include "tests/client/open_fixture.h"

namespace nfsrdma::client::test {
namespace {

/// A session with one slot for ordinary requests.
class PaceOfCloses : public OpenTest {
 protected:
  PaceOfCloses() { configure({}, 2); }
  void hold(nfs_opnum4 operation) {
    server_.fate = [operation](const Arrival& arrival) {
      return arrival.has(operation) ? Fate::hold : Fate::answer;
    };
  }
  void release() {
    server_.fate = nullptr;
    server_.release();
    reactor_.settle();
  }
};

TEST_F(PaceOfCloses, ARequestWithoutASlotHurriesTheCloseThatHasIt) {
  start();
  OpenRef open = must_open(kRead);
  hold(OP_CLOSE);
  Pending<Result<void>> closing(mount().opens().close(std::move(open)));
  reactor_.settle();
  const int before = server_.hurries();
  Pending<Result<Attributes>> asking(getattr(mount(), {}, handle(2)));
  reactor_.settle();
  EXPECT_EQ(server_.hurries(), before + 1);
  release();
  EXPECT_TRUE(closing.done() && asking.done());
}

TEST_F(PaceOfCloses, ACloseForWhoseSlotOthersWaitIsPrompt) {
  start();
  OpenRef open = must_open(kRead);
  hold(OP_GETATTR);
  Pending<Result<Attributes>> first(getattr(mount(), {}, handle(2)));
  reactor_.settle();
  Pending<Result<void>> closing(mount().opens().close(std::move(open)));
  Pending<Result<Attributes>> second(getattr(mount(), {}, handle(2)));
  reactor_.settle();
  release();
  EXPECT_TRUE(first.done() && closing.done() && second.done());
  const auto closes = server_.arrivals_of(OP_CLOSE);
  ASSERT_EQ(closes.size(), 1U);
  EXPECT_EQ(closes[0].pace, net::Pace::prompt);
}

TEST_F(PaceOfCloses, ACloseThatAnOpenWaitsForBeforeItIsSentIsPrompt) {
  start();
  OpenRef open_file = must_open(kRead);
  hold(OP_GETATTR);
  Pending<Result<Attributes>> first(getattr(mount(), {}, handle(2)));
  reactor_.settle();
  Pending<Result<void>> closing(mount().opens().close(std::move(open_file)));
  reactor_.advance(std::chrono::milliseconds(1));
  Pending<Result<Opened>> opening(open(mount(), {}, handle(1), kRead));
  reactor_.settle();
  release();
  ASSERT_TRUE(closing.done() && opening.done());
  const auto closes = server_.arrivals_of(OP_CLOSE);
  ASSERT_EQ(closes.size(), 1U);
  EXPECT_EQ(closes[0].pace, net::Pace::prompt);
  EXPECT_TRUE(must_close(std::move(opening.value()->open)));
}

TEST_F(PaceOfCloses, ACloseThatIsSentAgainIsPrompt) {
  start();
  OpenRef open = must_open(kRead);
  int closes = 0;
  server_.fate = [&](const Arrival& arrival) {
    return arrival.has(OP_CLOSE) && ++closes == 1 ? Fate::disconnect_before : Fate::answer;
  };
  EXPECT_TRUE(must_close(std::move(open)));
  const auto arrived = server_.arrivals_of(OP_CLOSE);
  ASSERT_EQ(arrived.size(), 2U);
  EXPECT_EQ(arrived[0].pace, net::Pace::unhurried);
  EXPECT_EQ(arrived[1].pace, net::Pace::prompt);
}

}  // namespace
}  // namespace nfsrdma::client::test
