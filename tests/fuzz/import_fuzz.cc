// Traces and statistics of a kernel, as text: whatever they say, the script that is made of them
// can be read.
#include <cstdint>
#include <cstdlib>

#include "tests/lab/import/script_maker.h"
#include "tests/lab/script/statements.h"

namespace nfsrdma::fuzz {
namespace {

constexpr std::size_t kCalls = 50;

void require_script(const lab::import::MadeScript& made) {
  if (!lab::script::read_script(made.text)) std::abort();
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nfsrdma::lab::import;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Trace trace = read_trace(text);
  if (trace.steps.size() > trace.lines) std::abort();
  nfsrdma::fuzz::require_script(make_script(trace));
  for (const MountStatistics& mount : read_mountstats(text)) {
    nfsrdma::fuzz::require_script(make_script(mount, nfsrdma::fuzz::kCalls, 1));
  }
  return 0;
}
