#include "fuse/daemon/guard_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57
#endif

/// Half of what would keep it from being killed at all: a program that eats all memory goes last.
constexpr int kOomScore = -500;

}  // namespace

void guard_process() {
  if (::geteuid() != 0) return;
  if (::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) != 0) log::debug("PR_SET_IO_FLUSHER: errno {}", errno);
  std::ofstream score("/proc/self/oom_score_adj");
  score << kOomScore << std::endl;
  if (!score) log::debug("oom_score_adj is not writable");
}

}  // namespace nfsrdma::fuse
