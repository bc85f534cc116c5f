#include "tests/lab/lint/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string_view>

namespace nfsrdma::lab {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// UTC, as Wireshark shows it with -t ud.
std::string time_text(std::int64_t ns) {
  const auto seconds = static_cast<std::time_t>(ns / kSecond);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:02}.{:09}", parts.tm_hour, parts.tm_min, parts.tm_sec,
                     ns % kSecond);
}

/// A string of JSON. What comes from a capture is in numbers, but names of files may be anything.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string connection_text(const Judged& judged) {
  return fmt::format("connection {}: {} {} to {}, {} messages{}", judged.info.number,
                     lower_layer_name(judged.info.lower_layer), judged.info.client.text(),
                     judged.info.server.text(), judged.messages,
                     judged.lossy ? "; not all of it is in the capture: rules that need that were "
                                    "not tried"
                                  : "");
}

void print_counts(std::FILE* to, const Findings& findings) {
  std::map<std::pair<std::string, std::string_view>, std::uint64_t> counts;
  for (const Finding& finding : findings.all()) {
    if (finding.note) continue;
    ++counts[{fmt::format("{}, {}", side_name(finding.source.from), finding.rule.where),
              finding.rule.text}];
  }
  for (const auto& [rule, count] : counts) {
    fmt::print(to, "{:6} times by the {}: {}\n", count, rule.first, rule.second);
  }
}

}  // namespace

void print_text(std::FILE* to, const CaptureSummary& summary, const Linter& linter) {
  const Findings& findings = linter.findings();
  for (const Finding& each : findings.all()) {
    fmt::print(to, "frame {} {} connection {} {}{}: {}: {} Seen: {}.\n", each.source.at.frame,
               time_text(each.source.at.ns), each.connection, side_name(each.source.from),
               each.note ? " (note)" : "", each.rule.where, each.rule.text, each.seen);
  }
  for (const auto& judged : linter.connections()) {
    fmt::print(to, "{}\n", connection_text(*judged));
  }
  if (summary.cut != 0) {
    fmt::print(to, "{} of {} frames are cut: capture them whole (tcpdump -s 0)\n", summary.cut,
               summary.frames);
  }
  if (summary.dropped != 0) {
    fmt::print(to, "{} connections were given up: too many at a time\n", summary.dropped);
  }
  print_counts(to, findings);
  const auto first = std::find_if(findings.all().begin(), findings.all().end(),
                                  [](const Finding& finding) { return !finding.note; });
  fmt::print(to, "{} frames, {} connections, {} rules broken", summary.frames, summary.connections,
             findings.broken());
  if (first != findings.all().end()) {
    fmt::print(to, ", first by the {} in frame {}", side_name(first->source.from),
               first->source.at.frame);
  }
  fmt::print(to, "\n");
}

void print_json(std::FILE* to, const CaptureSummary& summary, const Linter& linter) {
  fmt::print(to,
             "{{\"frames\": {}, \"cut\": {}, \"broken\": {}, \"notes\": {},\n \"connections\": [",
             summary.frames, summary.cut, linter.findings().broken(), linter.findings().notes());
  const char* separator = "";
  for (const auto& judged : linter.connections()) {
    fmt::print(to,
               "{}\n  {{\"number\": {}, \"carrier\": {}, \"client\": {}, \"server\": {}, "
               "\"messages\": {}, \"complete\": {}}}",
               std::exchange(separator, ","), judged->info.number,
               quoted(lower_layer_name(judged->info.lower_layer)),
               quoted(judged->info.client.text()), quoted(judged->info.server.text()),
               judged->messages, !judged->lossy);
  }
  fmt::print(to, "],\n \"findings\": [");
  separator = "";
  for (const Finding& each : linter.findings().all()) {
    fmt::print(to,
               "{}\n  {{\"frame\": {}, \"time_ns\": {}, \"connection\": {}, \"from\": {}, "
               "\"note\": {}, \"where\": {}, \"rule\": {}, \"seen\": {}}}",
               std::exchange(separator, ","), each.source.at.frame, each.source.at.ns,
               each.connection, quoted(side_name(each.source.from)), each.note,
               quoted(each.rule.where), quoted(each.rule.text), quoted(each.seen));
  }
  fmt::print(to, "]}}\n");
}

}  // namespace nfsrdma::lab
