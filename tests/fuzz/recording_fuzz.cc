// The recording of a mount that was made to harm: whatever is in it, it is taken apart, put in
// words, and rerun, whole and without some of its requests, to its end or to what is not as
// recorded. A run is never destroyed, so each is in a child.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "tests/lab/rerun/reduced.h"
#include "tests/lab/rerun/rerun.h"
#include "tests/lab/rerun/words.h"
#include "transport/base/log.h"

namespace nfsrdma::fuzz {
namespace {

using namespace lab::rerun;

/// The least an entry takes: kind, nested, time, length of the body.
constexpr std::size_t kLeastEntry = 20;
/// Of the processor, for one run; a thousand times what the seeds need.
constexpr rlim_t kMostSeconds = 10;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Ends well in a child, of which nothing is left; a difference is an end, too.
template <class Work>
void in_child(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{kMostSeconds, kMostSeconds};
    ::setrlimit(RLIMIT_CPU, &limit);
    work([](const Difference&) { std::_Exit(0); });
    std::_Exit(0);
  }
  require(child > 0);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) require(errno == EINTR);
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// What can be left out, but every third; which, the number of entries decides.
std::vector<std::size_t> some_of(const Recording& recording) {
  const auto list = read_list(list_of(recording));
  require(list.has_value());
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if ((i + recording.entries.size()) % 3 != 0) some.push_back((*list)[i]);
  }
  return some;
}

void run(std::span<const std::byte> bytes) {
  const auto recording = read_recording(std::vector<std::byte>(bytes.begin(), bytes.end()));
  if (!recording) return;
  require(recording->entries.size() <= bytes.size() / kLeastEntry);
  for (const Entry& entry : recording->entries) require(!to_words(entry).empty());
  const auto some = some_of(*recording);
  in_child([&](OnDifference ended) { (void)run_again(*recording, std::move(ended)); });
  in_child([&](OnDifference ended) { (void)run_reduced(*recording, some, std::move(ended)); });
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nfsrdma::log::set_level(nfsrdma::log::Level::off);
  (void)nfsrdma::lab::rerun::read_list({reinterpret_cast<const char*>(data), size});
  nfsrdma::fuzz::run(std::as_bytes(std::span(data, size)));
  return 0;
}
