#include "fuse/daemon/statistics.h"

#include <fmt/format.h>

#include "transport/base/log.h"

namespace nfsrdma::fuse {
namespace {

class Lines final : public CounterVisitor {
 public:
  void visit(std::string_view name, std::uint64_t value) override {
    text += fmt::format("{} {}\n", name, value);
  }
  std::string text;
};

class LogLines final : public CounterVisitor {
 public:
  void visit(std::string_view name, std::uint64_t value) override {
    // Asked for: whatever the level.
    if (value != 0) log::write(log::Level::info, fmt::format("counter {} {}", name, value));
  }
};

}  // namespace

std::string format_counters(const CounterSource& source) {
  Lines lines;
  source(lines);
  return std::move(lines.text);
}

void log_counters(const CounterSource& source) {
  LogLines lines;
  source(lines);
}

}  // namespace nfsrdma::fuse
