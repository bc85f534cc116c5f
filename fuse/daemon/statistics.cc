#include "fuse/daemon/statistics.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "transport/base/log.h"

namespace nfsrdma::fs {
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
    if (value != 0) log::info("counter {} {}", name, value);
  }
};

}  // namespace

std::string format_counters(const CounterSource& source) {
  Lines lines;
  source(lines);
  return std::move(lines.text);
}

Result<void> write_counters(const std::string& file, const CounterSource& source) {
  const std::string unfinished = file + ".new";
  {
    std::ofstream out(unfinished, std::ios::trunc);
    out << format_counters(source);
    out.close();
    if (!out) return fail(Error::local(EIO, "stats", unfinished));
  }
  if (std::rename(unfinished.c_str(), file.c_str()) != 0) {
    return fail(Error::from_errno(errno, "stats", file));
  }
  return {};
}

void log_counters(const CounterSource& source) {
  LogLines lines;
  source(lines);
}

}  // namespace nfsrdma::fs
