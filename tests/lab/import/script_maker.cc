#include "tests/lab/import/script_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "tests/lab/import/operation_text.h"

namespace nfsrdma::lab::import {
namespace {

/// Files of a trace that are told apart; the rest share the last one.
constexpr std::size_t kMostFiles = 256;
/// Largest offset and size of a file: what every server takes.
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 40;
/// Of READ and WRITE where nothing tells.
constexpr std::uint64_t kUsualCount = 4096;
/// What surrounds the data of a READ's reply and of a WRITE's call, about.
constexpr std::uint64_t kAround = 200;

std::uint64_t total(const std::vector<std::uint64_t>& lengths) {
  return std::accumulate(
      lengths.begin(), lengths.end(), std::uint64_t{0},
      [](std::uint64_t before, std::uint64_t each) { return before + std::min(each, kLongest); });
}

/// What a call without a name in the trace was, by its chunks.
std::string guessed(const TraceStep& step) {
  if (!step.rdma) return {};
  if (step.rdma->pages != 0 && !step.rdma->reads.empty()) return "WRITE";
  return step.rdma->writes.empty() ? std::string() : "READ";
}

class TraceScript {
 public:
  MadeScript make(const Trace& trace);

 private:
  Request request_of(const TraceStep& step);
  std::size_t file_of(std::uint64_t fileid);
  void add(const TraceStep& step);

  MadeScript made_;
  std::map<std::uint64_t, std::size_t> files_;
  std::vector<std::uint64_t> sizes_;  // of the files, by their numbers less one
  std::string body_;
};

std::size_t TraceScript::file_of(std::uint64_t fileid) {
  const auto found = files_.find(fileid);
  if (found != files_.end()) return found->second;
  if (sizes_.size() < kMostFiles) sizes_.push_back(0);
  return files_[fileid] = sizes_.size();
}

Request TraceScript::request_of(const TraceStep& step) {
  Request request;
  request.procedure = step.procedure.empty() ? guessed(step) : step.procedure;
  const Ended ended = step.ended.value_or(Ended());
  request.rdma = step.rdma ? &*step.rdma : nullptr;
  request.offset = std::min(ended.offset, kFarthest);
  request.count = ended.count;
  if (request.rdma && request.procedure == "WRITE") request.count = request.rdma->pages;
  if (request.rdma && request.procedure == "READ" && !request.rdma->writes.empty())
    request.count = total(request.rdma->writes);
  if (request.count == 0) request.count = kUsualCount;
  request.count = std::min(request.count, kLongest);
  request.name = ended.name;
  request.new_name = ended.new_name;
  return request;
}

void TraceScript::add(const TraceStep& step) {
  if (!step.loss.empty()) {
    body_ += fmt::format("disconnect reset  # line {}: {}\nreconnect\n", step.line, step.loss);
    return;
  }
  Request request = request_of(step);
  const std::uint64_t fileid = step.ended ? step.ended->file : 0;
  request.file = file_of(fileid);
  const std::string statement = to_statement(request);
  if (statement.empty()) {
    ++made_.left_out;
    return;
  }
  ++made_.calls;
  std::uint64_t& size = sizes_[request.file - 1];
  const bool data = request.procedure == "READ" || request.procedure == "WRITE";
  if (data) size = std::max(size, request.offset + request.count);
  body_ += fmt::format("{}  # line {}", statement, step.line);
  if (step.rdma) body_ += fmt::format(", xid {:#010x}", step.rdma->xid);
  const std::string operation = main_operation(request.procedure);
  const bool succeeded = step.ended && step.ended->error == 0 && !operation.empty();
  body_ += succeeded ? fmt::format("\nexpect reply.{}.status = NFS4_OK within 5s\n", operation)
                     : std::string("\nexpect reply within 5s\n");
}

MadeScript TraceScript::make(const Trace& trace) {
  for (const TraceStep& step : trace.steps) add(step);
  made_.text = "connect\nsession\n";
  for (std::size_t i = 0; i < sizes_.size(); ++i) made_.text += make_file(i + 1, sizes_[i]);
  made_.text += body_ + "expect server\n";
  return std::move(made_);
}

/// Shares of `calls`, which sum up to it, in the proportions of the requests.
std::vector<std::size_t> shares(const std::vector<OperationCount>& operations, std::size_t calls) {
  double all = 0;
  for (const OperationCount& each : operations) all += static_cast<double>(each.requests);
  std::vector<std::size_t> result;
  double before = 0;
  std::size_t given = 0;
  for (const OperationCount& each : operations) {
    before += static_cast<double>(each.requests);
    const auto upto = static_cast<std::size_t>(before / all * static_cast<double>(calls));
    result.push_back(std::min(upto, calls) - given);
    given += result.back();
  }
  return result;
}

std::uint64_t mean_data(const OperationCount& operation) {
  const std::uint64_t bytes =
      operation.name == "READ" ? operation.bytes_received : operation.bytes_sent;
  const std::uint64_t mean = bytes / std::max<std::uint64_t>(operation.requests, 1);
  return std::clamp<std::uint64_t>(mean > kAround ? mean - kAround : 1, 1, kLongest);
}

}  // namespace

MadeScript make_script(const Trace& trace) { return TraceScript().make(trace); }

MadeScript make_script(const MountStatistics& mount, std::size_t calls, std::uint64_t seed) {
  MadeScript made;
  std::vector<OperationCount> known;
  for (const OperationCount& each : mount.operations) {
    Request request;
    request.procedure = each.name;
    request.file = 1;
    if (each.requests == 0) continue;
    if (to_statement(request).empty()) {
      ++made.left_out;
    } else {
      known.push_back(each);
    }
  }
  made.text = "connect\nsession\n" + make_file(1, kLongest);
  if (!known.empty()) made.text += "repeat 1 {\n";
  const auto wanted = shares(known, calls);
  for (std::size_t i = 0; i < known.size(); ++i) {
    Request request;
    request.procedure = known[i].name;
    request.file = 1;
    request.count = mean_data(known[i]);
    for (std::size_t n = 0; n < wanted[i]; ++n) made.text += "  " + to_statement(request) + "\n";
    made.calls += wanted[i];
  }
  if (!known.empty()) made.text += fmt::format("}} shuffle seed={}\n", seed);
  made.text += "expect server\n";
  return made;
}

}  // namespace nfsrdma::lab::import
