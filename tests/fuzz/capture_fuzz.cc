// A capture file that was made to harm: whatever is in it, it is read to its end or to where it is
// damaged, judged, and no more is found than there are packets for. What a replay makes of it is a
// script that can be read.
#include <cstdio>
#include <cstdlib>

#include "tests/lab/lint/linter.h"
#include "tests/lab/replay/steps.h"
#include "tests/lab/script/reader.h"

namespace nfsrdma::fuzz {
namespace {

/// The least a packet takes in a file of pcap.
constexpr std::size_t kLeastPacket = 16;

void require(bool holds) {
  if (!holds) std::abort();
}

void run(std::span<const std::byte> bytes) {
  std::FILE* stream = ::fmemopen(const_cast<std::byte*>(bytes.data()), bytes.size(), "rb");
  require(stream != nullptr);
  auto file = lab::PacketFile::open(stream, "input");
  if (!file) return;
  lab::Linter linter;
  const lab::CaptureSummary summary = lab::read_capture(**file, linter);
  require(summary.frames <= bytes.size() / kLeastPacket + 1);
  require(summary.connections == linter.connections().size());
  for (const lab::Finding& finding : linter.findings().all()) {
    require(finding.source.at.frame <= summary.frames && !finding.seen.empty());
  }
}

void replay(std::span<const std::byte> bytes) {
  std::FILE* stream = ::fmemopen(const_cast<std::byte*>(bytes.data()), bytes.size(), "rb");
  require(stream != nullptr);
  auto recording = lab::replay::read_recording(stream, 0);
  if (!recording) return;
  const std::size_t calls = recording->exchanges.size();
  const auto steps = lab::replay::make_steps(*recording, false);
  require(calls <= bytes.size() / kLeastPacket + 1);
  require(lab::script::read_script(steps.prologue).has_value());
  for (const auto& step : steps.steps) require(lab::script::read_script(step.text).has_value());
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  nfsrdma::fuzz::run(std::as_bytes(std::span(data, size)));
  nfsrdma::fuzz::replay(std::as_bytes(std::span(data, size)));
  return 0;
}
