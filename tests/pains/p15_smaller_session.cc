// P15: a new session allows less than the one before. What was made for the old one is cut anew,
// and nothing goes out with the old session's id.
#include <array>

#include "client/requests/getattr.h"
#include "client/requests/read.h"
#include "client/requests/readdir.h"
#include "client/requests/write.h"
#include "tests/pains/crowd.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::minutes;

constexpr std::size_t kMebibyte = 1 << 20;

/// A file of zeros; every message is held against the limits of the session of the moment.
class P15_SmallerSession : public FakeMount {
 protected:
  P15_SmallerSession() {
    server_.on<READ4args, READ4res>([this](const READ4args& args, READ4res& result) {
      if (args.count + kHeaders > limits().ca_maxresponsesize) ++too_big_;
      if (args.offset >= kMebibyte) result.resok4.eof = true;
      result.resok4.data.data = std::span(file_).first(args.count);
    });
    server_.on<WRITE4args, WRITE4res>([this](const WRITE4args& args, WRITE4res& result) {
      if (args.data.data.size() + kHeaders > limits().ca_maxrequestsize) ++too_big_;
      result.resok4.count = static_cast<count4>(args.data.data.size());
      written_ += args.data.data.size();
    });
    server_.on<READDIR4args, READDIR4res>([this](const READDIR4args& args, READDIR4res& result) {
      if (args.maxcount + kHeaders > limits().ca_maxresponsesize) ++too_big_;
      result.resok4.reply.eof = true;
    });
    server_.adjust_session = [this](const CREATE_SESSION4args&, CREATE_SESSION4resok& result) {
      auto& fore = result.csr_fore_chan_attrs;
      fore.ca_maxresponsesize = std::min(fore.ca_maxresponsesize, most_);
      fore.ca_maxrequestsize = std::min(fore.ca_maxrequestsize, most_);
      granted_ = fore;
    };
  }

  const channel_attrs4& limits() const { return granted_; }

  /// Requests for a mebibyte each that are in flight when the session goes.
  void lose_session_under_load(std::uint32_t most) {
    server_.fate = [](const Arrival& arrival) {
      return arrival.sequence ? Fate::hold : Fate::answer;
    };
    for (std::uint32_t i = 0; i < 2 * kSlots; ++i) {
      reads_.add(read(mount(), {}, handle(1), {}, 0, sink_));
      writes_.add(write(mount(), {}, handle(1), {}, 0, file_, UNSTABLE4));
      pages_.add(readdir(mount(), {}, handle(1), 1, {}, kMebibyte, false));
    }
    reactor_.settle();
    most_ = most;
    server_.forget(false);
    server_.fate = nullptr;
    server_.disconnect();
    reactor_.advance(minutes(2));
  }

  /// RPC and COMPOUND headers and what is around the data, at least.
  static constexpr std::uint32_t kHeaders = 128;
  std::vector<std::byte> file_ = std::vector<std::byte>(kMebibyte);
  std::vector<std::byte> sink_ = std::vector<std::byte>(kMebibyte);
  channel_attrs4 granted_;
  std::uint32_t most_ = UINT32_MAX;
  int too_big_ = 0;
  std::size_t written_ = 0;
  Crowd<ReadData> reads_;
  Crowd<Written> writes_;
  Crowd<DirectoryPage> pages_;
};

TEST_F(P15_SmallerSession, WhatIsUnderWayIsCutAnew) {
  start();
  for (std::uint32_t most = kMebibyte; most >= 64 * 1024; most /= 2) {
    lose_session_under_load(most);
    EXPECT_EQ(too_big_, 0) << most;
    EXPECT_LT(mount().rsize(), most);
    EXPECT_LT(mount().wsize(), most);
  }
  reads_.expect_success();
  writes_.expect_success();
  pages_.expect_success();
  for (auto& one : writes_.tasks()) EXPECT_GT(one.value()->count, 0U);
}

// Callers go on from where a shorter answer ended.
TEST_F(P15_SmallerSession, AShortAnswerSaysHowMuchWasDone) {
  start();
  lose_session_under_load(64 * 1024);
  for (auto& one : writes_.tasks()) EXPECT_LE(one.value()->count, 64U * 1024);
  for (auto& one : reads_.tasks()) {
    EXPECT_LE(one.value()->data.size(), 64U * 1024);
    EXPECT_FALSE(one.value()->eof);
  }
}

// Sixty-three calls on the wire when the server has forgotten the session.
TEST_F(P15_SmallerSession, NothingCarriesTheOldIdAfterwards) {
  constexpr std::uint32_t kTable = 64;
  configure({}, kTable);
  start();
  const sessionid4 old = server_.session();
  server_.fate = [](const Arrival&) { return Fate::hold; };
  Crowd<Attributes> users;
  for (int i = 0; i < 100; ++i) users.add(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  EXPECT_EQ(arrivals().size(), kTable - 1);
  server_.forget(false);
  server_.fate = nullptr;
  server_.disconnect();
  reactor_.settle();
  users.expect_success();
  bool renewed = false;
  for (const Arrival& arrival : arrivals()) {
    if (arrival.has(OP_CREATE_SESSION)) renewed = true;
    const bool old_id = arrival.sequence && arrival.sequence->sa_sessionid == old;
    EXPECT_FALSE(renewed && old_id);
  }
  EXPECT_TRUE(renewed);
}

}  // namespace
}  // namespace nfsrdma::client::test
