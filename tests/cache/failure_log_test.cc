// What an administrator finds of an error that a program was told.
#include "cache/file/failure_log.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>

#include "client/proto/status.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::cache {
namespace {

using namespace std::chrono_literals;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

Error nfs_error(nfs4::nfsstat4 status) {
  return Error{Layer::nfs, static_cast<int>(status), "READ", "at byte 9"};
}

constexpr Failed kRead{.operation = "read", .fileid = 12, .caller = 34};

class FailureLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    nfs4::register_status_names();
    log::set_level(log::Level::warning);
  }
  void TearDown() override { log::set_level(log::Level::info); }

  std::string said_of(const Failed& failed, const Error& error, TimePoint now = {}) {
    CaptureStderr();
    failures_.reported(failed, error, now);
    return GetCapturedStderr();
  }
  std::uint64_t counter(std::string_view name) const {
    return nfsrdma::testing::counter_of(failures_, name);
  }

  FailureLog failures_;
};

TEST_F(FailureLogTest, SaysOperationFileCallerStepStatusAndDetail) {
  const auto said = said_of(kRead, nfs_error(nfs4::NFS4ERR_IO));
  for (const char* part : {"read of inode 12 for process 34", "READ", "NFS4ERR_IO", "at byte 9",
                           "Input/output error"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in: " << said;
  }
  EXPECT_EQ(counter("errors_read_NFS4ERR_IO"), 1u);
  EXPECT_EQ(counter("errors_other"), 1u);
}

// What finds the request in a capture and in the server's log, and the file on both machines.
TEST_F(FailureLogTest, SaysServerPathNameXidAndSlot) {
  FailureLog failures("server.example");
  failures.set_paths([](const Failed& failed) { return failed.caller == 34 ? "/mnt/a\nb" : ""; });
  Error error = nfs_error(nfs4::NFS4ERR_IO);
  error.xid = 0x1f;
  CaptureStderr();
  failures.reported(kRead, error, {});
  error.slot = 3;
  failures.reported({.operation = "mkdir", .fileid = 5, .name = "d'\x1b"}, error, {});
  const auto said = GetCapturedStderr();
  for (const char* part :
       {"read of inode 12 '/mnt/a\\x0ab' for process 34 at server.example: READ: NFS4ERR_IO (at "
        "byte 9) (XID 0x0000001f); the program",
        "mkdir of 'd\\x27\\x1b' in inode 5 at server.example: READ: NFS4ERR_IO (at byte 9) (XID "
        "0x0000001f, slot 3); the program"}) {
    EXPECT_NE(said.find(part), std::string::npos) << part << " in: " << said;
  }
}

// NFS-Ganesha 4.3 answers so for ever: ls fails, and nothing says why.
TEST_F(FailureLogTest, AListingThatTheServerFindsInvalidIsNoEverydayError) {
  const auto said = said_of({.operation = "readdirplus", .fileid = 12},
                            Error{Layer::nfs, nfs4::NFS4ERR_INVAL, "READDIR", {}});
  EXPECT_NE(said.find("readdirplus of inode 12: READDIR: NFS4ERR_INVAL"), std::string::npos)
      << said;
  EXPECT_EQ(said_of({.operation = "setattr"}, nfs_error(nfs4::NFS4ERR_INVAL)), "");
}

TEST_F(FailureLogTest, AnEverydayErrorIsCountedOnly) {
  for (auto status : {nfs4::NFS4ERR_NOENT, nfs4::NFS4ERR_ACCESS, nfs4::NFS4ERR_EXIST,
                      nfs4::NFS4ERR_NOTEMPTY, nfs4::NFS4ERR_DENIED}) {
    EXPECT_EQ(said_of(kRead, nfs_error(status)), "");
  }
  EXPECT_EQ(said_of(kRead, Error::local(EINTR, "LOCK")), "");
  EXPECT_EQ(counter("errors_everyday"), 6u);
  EXPECT_EQ(counter("errors_read_NFS4ERR_NOENT"), 1u);
}

// The errno that a program gets says nothing about that: an RPC that is not authorised is EACCES.
TEST_F(FailureLogTest, WhatComesFromBelowNfsIsNoEverydayError) {
  for (auto layer : {Layer::rpc, Layer::transport, Layer::decode, Layer::fabric, Layer::system}) {
    EXPECT_NE(said_of(kRead, Error{layer, EACCES, "READ", ""}), "") << layer_name(layer);
  }
  EXPECT_NE(said_of(kRead, Error::local(EIO, "READ", "an open file is lost")), "");
}

TEST_F(FailureLogTest, DataThatIsLostIsNoEverydayError) {
  Failed failed{.operation = "write-behind", .data_lost = true};
  EXPECT_NE(said_of(failed, nfs_error(nfs4::NFS4ERR_ACCESS)), "");
}

TEST_F(FailureLogTest, LinesOfOneKindAreBounded) {
  const Error error = nfs_error(nfs4::NFS4ERR_IO);
  int lines = 0;
  for (int i = 0; i < 1000; ++i) lines += said_of(kRead, error, TimePoint{i * 1ms}).empty() ? 0 : 1;
  EXPECT_LE(lines, 10);
  EXPECT_EQ(counter("errors_read_NFS4ERR_IO"), 1000u);
  EXPECT_NE(said_of(kRead, nfs_error(nfs4::NFS4ERR_STALE)), "") << "another kind";
  const auto later = said_of(kRead, error, TimePoint{1h});
  EXPECT_NE(later.find("left out"), std::string::npos) << later;
}

// A server that answers with a new code each time neither fills the memory nor the log.
TEST_F(FailureLogTest, KindsAreBounded) {
  int lines = 0;
  for (int code = 20000; code < 30000; ++code) {
    const auto said = said_of(kRead, nfs_error(static_cast<nfs4::nfsstat4>(code)));
    lines += said.empty() ? 0 : 1;
  }
  EXPECT_LE(lines, 300);
  EXPECT_EQ(counter("errors_other"), 10000u);
  EXPECT_GT(counter("errors_of_more_kinds"), 0u);
}

TEST_F(FailureLogTest, DebugHasAllOfThem) {
  log::set_level(log::Level::debug);
  EXPECT_NE(said_of(kRead, nfs_error(nfs4::NFS4ERR_NOENT)), "");
  for (int i = 0; i < 50; ++i) EXPECT_NE(said_of(kRead, nfs_error(nfs4::NFS4ERR_IO)), "");
}

}  // namespace
}  // namespace nfsrdma::cache
