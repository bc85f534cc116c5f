#include "tests/fuse/channel/io_uring_offer.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cstring>
#include <fstream>

namespace nfsrdma::testing {
namespace {

constexpr const char* kSwitch = "/sys/module/fuse/parameters/enable_uring";
/// Locked shared by each test that needs it; holds what is to be put back.
constexpr const char* kLock = "/tmp/nfsrdma-test-io-uring.lock";

char read_switch() {
  char value = 0;
  std::ifstream(kSwitch) >> value;
  return value;
}

bool write_switch(char value) {
  return static_cast<bool>(std::ofstream(kSwitch) << value << std::flush);
}

}  // namespace

IoUringOffer::IoUringOffer() {
  const char found = read_switch();
  if (found == 0) {
    reason_ = "the kernel has no FUSE over io_uring (Linux 6.14)";
    return;
  }
  lock_.reset(::open(kLock, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_ || ::flock(lock_.get(), LOCK_SH) != 0) {
    reason_ = std::string(kLock) + ": " + std::strerror(errno);
  } else if (read_switch() != 'Y') {
    if (!write_switch('Y')) reason_ = "needs root, or fuse.enable_uring=1";
    (void)!::pwrite(lock_.get(), "N", 1, 0);
  }
}

IoUringOffer::~IoUringOffer() {
  if (!lock_ || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) return;
  char found = 0;
  if (::pread(lock_.get(), &found, 1, 0) != 1 || found != 'N') return;
  write_switch('N');
  (void)!::ftruncate(lock_.get(), 0);
}

}  // namespace nfsrdma::testing
