// Lines that a thread of their own writes, where no reader may be.
#include "transport/base/log_thread.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "transport/base/log.h"

namespace nfsrdma::log {
namespace {

using namespace std::chrono_literals;

/// More than a pipe holds, and more than may wait.
constexpr int kManyLines = 20'000;
/// A child that hangs is ended by SIGALRM, and the test fails.
constexpr unsigned kPatienceSeconds = 60;
/// Root may have any number of threads.
constexpr uid_t kOrdinaryUser = 65534;

/// In a child: standard error is a pipe from now on; what reads it is returned.
int log_into_a_pipe() {
  ::alarm(kPatienceSeconds);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::_Exit(100);
  ::dup2(ends[1], STDERR_FILENO);
  ::close(ends[1]);
  configure(Sink::standard_error, Level::info, "test");
  write_beside();
  return ends[0];
}

struct Read {
  std::size_t lines = 0;
  std::size_t lost = 0;  ///< by what the log says
};

/// Reads lines until one that ends with `last`.
Read read_until(int pipe, const std::string& last) {
  Read read;
  std::FILE* const file = ::fdopen(pipe, "r");
  char* line = nullptr;
  std::size_t room = 0;
  while (::getline(&line, &room, file) > 0) {
    const std::string text(line);
    const auto report = text.find(" lines of the log were lost");
    if (report == std::string::npos) {
      ++read.lines;
    } else {
      read.lost += std::stoul(text.substr(text.rfind(' ', report - 1) + 1));
    }
    if (text.ends_with(last + "\n")) break;
  }
  std::free(line);
  std::fclose(file);
  return read;
}

void write_many() {
  for (int i = 0; i < kManyLines; ++i) info("line");
}

// The thread that writes waits in write(2) here, and must not hold stdio's lock meanwhile.
TEST(LogThread, NobodyWhoLogsFlushesOrEndsWaitsForAReaderThatNeverReads) {
  EXPECT_EXIT(
      {
        log_into_a_pipe();
        write_many();
        finish(50ms);
        std::fflush(nullptr);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(LogThread, FinishReturnsWhenTheLastLineIsWritten) {
  EXPECT_EXIT(
      {
        const int pipe = log_into_a_pipe();
        Read read;
        std::thread reader([&] { read = read_until(pipe, "last"); });
        for (int i = 0; i < 1000; ++i) info("line");
        info("last");
        finish(std::chrono::seconds(2 * kPatienceSeconds));
        reader.join();
        std::exit(read.lines == 1001 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(LogThread, LinesThatAreLostAreCountedAndFinishDoesNotWaitForThem) {
  EXPECT_EXIT(
      {
        const int pipe = log_into_a_pipe();
        write_many();
        info("last");
        Read read;
        std::thread reader([&] { read = read_until(pipe, "last"); });
        finish(std::chrono::seconds(2 * kPatienceSeconds));
        reader.join();
        std::exit(read.lost > 0 && read.lines + read.lost == kManyLines + 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

/// In a child: from now on nobody starts a thread.
void forbid_threads() {
  const rlimit none{};
  const bool ordinary = ::geteuid() != 0 || ::setuid(kOrdinaryUser) == 0;
  if (!ordinary || ::setrlimit(RLIMIT_NPROC, &none) != 0) std::_Exit(101);
}

TEST(LogThread, WithoutAThreadTheCallerWrites) {
  EXPECT_EXIT(
      {
        forbid_threads();
        const int pipe = log_into_a_pipe();
        info("last");
        finish(50ms);
        // What the log says of the thread, and the line.
        std::_Exit(read_until(pipe, "last").lines == 2 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nfsrdma::log
