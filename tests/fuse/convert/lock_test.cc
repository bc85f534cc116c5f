// Locks of the kernel (struct fuse_file_lock) and of the client (RFC 8881 section 18.10).
#include "fuse/convert/lock.h"

#include <gtest/gtest.h>

namespace nfsrdma::fuse {
namespace {

client::ByteRange range(std::uint64_t start, std::uint64_t end) {
  fuse_file_lock lock{};
  lock.start = start;
  lock.end = end;
  return to_range(lock);
}

// A lock to the last byte that the kernel knows is one to any end: a server that has larger files
// must not give what is behind to another client.
TEST(LockRange, ToTheKernelsLastByteIsToAnyEnd) {
  EXPECT_EQ(range(0, kLastOffset).last, client::ByteRange::whole_file().last);
  EXPECT_EQ(range(5, kLastOffset).first, 5U);
  EXPECT_EQ(range(5, kLastOffset - 1).last, kLastOffset - 1);
  EXPECT_EQ(range(5, 5).last, 5U);
}

TEST(LockRange, ThatEndsBeforeItBeginsIsToAnyEnd) {
  EXPECT_EQ(range(5, 4).last, client::ByteRange::whole_file().last);
}

}  // namespace
}  // namespace nfsrdma::fuse
