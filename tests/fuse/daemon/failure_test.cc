#include "fuse/daemon/failure.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "client/proto/status.h"
#include "fuse/daemon/statistics.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kSource = "server:/export";

Error fabric_error(fabric::Fault fault) {
  return Error{Layer::fabric, static_cast<int>(fault), "connect", "192.0.2.1:20049"};
}

TEST(Failure, NamesSourceStepStatusAndRemedyInOneLine) {
  nfs4::register_status_names();
  const auto failure =
      describe_failure(kSource, Error{Layer::nfs, nfs4::NFS4ERR_WRONGSEC, "LOOKUP export", ""});
  EXPECT_EQ(failure.code, kMountFailure);
  EXPECT_EQ(failure.line,
            "server:/export: LOOKUP export: NFS4ERR_WRONGSEC (the export wants another sec= than "
            "sys or none)");
}

// RDMA to a TCP port, or the other way round: both sides hang up.
TEST(Failure, AResetAsksForThePort) {
  for (const Error& error :
       {fabric_error(fabric::Fault::reset), Error::from_errno(ECONNRESET, "TCP connection")}) {
    const auto line = describe_failure(kSource, error).line;
    EXPECT_NE(line.find("is this the port of NFS over RDMA"), std::string::npos) << line;
  }
}

TEST(Failure, AnExportThatIsAFile) {
  const auto line =
      describe_failure(kSource, Error::local(ENOTDIR, "LOOKUP export", "/hello.txt")).line;
  EXPECT_NE(line.find("(/hello.txt; the export must be a directory)"), std::string::npos) << line;
  const auto other = describe_failure(kSource, Error::local(ENOTDIR, "mount", "mount point /x"));
  EXPECT_EQ(other.line.find("export must be"), std::string::npos) << other.line;
}

TEST(Failure, KeepsTheDetailBesideTheRemedy) {
  nfs4::register_status_names();
  const auto failure = describe_failure(
      kSource, Error{Layer::nfs, nfs4::NFS4ERR_NOENT, "LOOKUP export", "'export' of /export"});
  EXPECT_NE(failure.line.find("('export' of /export; the server has no such export)"),
            std::string::npos)
      << failure.line;
}

TEST(Failure, NameResolutionSpeaksItsOwnWords) {
  const auto failure = describe_failure(
      kSource, Error::local(EHOSTUNREACH, "resolve server name", "server: Name not known"));
  EXPECT_EQ(failure.line.find("No route"), std::string::npos) << failure.line;
  EXPECT_NE(failure.line.find("server: Name not known"), std::string::npos);
}

TEST(Failure, LineEndsAreTakenOut) {
  const auto failure = describe_failure(kSource, Error::local(EIO, "mount", "one\ntwo"));
  EXPECT_EQ(failure.line.find('\n'), std::string::npos);
}

TEST(Failure, ExitCodesAreThoseOfMount8) {
  EXPECT_EQ(describe_failure(kSource, Error::local(EPERM, "mount")).code, kUsage);
  EXPECT_EQ(describe_failure(kSource, Error::local(EACCES, "/dev/fuse")).code, kUsage);
  EXPECT_EQ(describe_failure(kSource, Error::from_errno(ENOMEM, "buffer pool")).code, kSystem);
  EXPECT_EQ(describe_failure(kSource, Error::local(EBUSY, "mount")).code, kMountFailure);
  EXPECT_EQ(describe_failure(kSource, fabric_error(fabric::Fault::refused)).code, kMountFailure);
  EXPECT_EQ(describe_failure(kSource, Error{Layer::nfs, nfs4::NFS4ERR_ACCESS, "LOOKUP", ""}).code,
            kMountFailure);
}

TEST(Failure, OnlyAServerThatWasNotReachedIsTriedAgain) {
  using fabric::Fault;
  for (auto fault : {Fault::refused, Fault::timed_out, Fault::reset, Fault::closed}) {
    EXPECT_TRUE(is_unreachable(fabric_error(fault)));
  }
  EXPECT_TRUE(is_unreachable(Error::from_errno(EHOSTUNREACH, "connect")));
  EXPECT_TRUE(is_unreachable(Error::local(EHOSTUNREACH, "resolve server name")));
  EXPECT_FALSE(is_unreachable(fabric_error(Fault::remote_access)));
  EXPECT_FALSE(is_unreachable(Error{Layer::nfs, nfs4::NFS4ERR_NOENT, "LOOKUP", ""}));
  EXPECT_FALSE(is_unreachable(Error::local(ENOTDIR, "mount")));
}

// A firewall that rejects IPv6, or a machine without it, says nothing of the other addresses.
TEST(Failure, AnotherAddressIsTriedWhereOneCannotBeUsed) {
  for (const int error : {EACCES, EPERM, EADDRNOTAVAIL, EAFNOSUPPORT}) {
    EXPECT_TRUE(is_unreachable(Error::from_errno(error, "connect")));
    EXPECT_TRUE(is_unreachable(Error::from_errno(error, "socket")));
    EXPECT_FALSE(is_unreachable(Error::from_errno(error, "open log"))) << "of something else";
    EXPECT_FALSE(is_unreachable(Error::local(error, "connect")));
  }
  EXPECT_FALSE(is_unreachable(Error::from_errno(EMFILE, "socket")));
}

TEST(Failure, TheAddressThatCouldBeTriedIsTold) {
  const Error refused = fabric_error(fabric::Fault::refused);
  const Error family = Error::from_errno(EAFNOSUPPORT, "socket");
  EXPECT_EQ(telling_more(refused, family).code, refused.code);
  EXPECT_EQ(telling_more(family, refused).code, refused.code);
  EXPECT_EQ(telling_more(family, Error::from_errno(EACCES, "connect")).code, EACCES);
}

// Nothing listens at [::1], and at 127.0.0.1 something else than NFS over RDMA does.
TEST(Failure, TheAddressWhereMostWasDoneIsTold) {
  const Error refused = fabric_error(fabric::Fault::refused);
  for (const auto fault : {fabric::Fault::closed, fabric::Fault::reset, fabric::Fault::rejected}) {
    const Error taken = fabric_error(fault);
    EXPECT_EQ(telling_more(refused, taken).code, taken.code);
    EXPECT_EQ(telling_more(taken, refused).code, taken.code);
  }
  const Error late = fabric_error(fabric::Fault::timed_out);
  EXPECT_EQ(telling_more(refused, late).code, refused.code) << "the first of two that are alike";
  EXPECT_EQ(telling_more(late, refused).code, late.code);
}

TEST(Failure, OfSeveralAddressesOneIsNamedOnce) {
  Error error = fabric_error(fabric::Fault::closed);
  error.detail = "after 0 bytes";
  error = at_address(std::move(error), "127.0.0.1:7");
  EXPECT_EQ(error.detail, "127.0.0.1:7: after 0 bytes");
  EXPECT_EQ(at_address(error, "127.0.0.1:7").detail, error.detail);
  error.detail.clear();
  EXPECT_EQ(at_address(error, "[::1]:7").detail, "[::1]:7");
}

TEST(Statistics, OneNameAndValueALine) {
  const CounterSource source = [](CounterVisitor& visitor) {
    visitor.visit("first", 1);
    visitor.visit("second", 0);
  };
  EXPECT_EQ(format_counters(source), "first 1\nsecond 0\n");
}

}  // namespace
}  // namespace nfsrdma::fuse
