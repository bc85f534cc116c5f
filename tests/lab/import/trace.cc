#include "tests/lab/import/trace.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "tests/lab/import/trace_line.h"

namespace nfsrdma::lab::import {
namespace {

/// Tasks that have begun and sent nothing.
constexpr std::size_t kMostTasks = 4096;
constexpr std::size_t kLongestWord = 255;

/// Events of nfs4 that tell how an operation has ended, and the RPC it is of.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kEnds = {{
    {"nfs4_read", "READ"},
    {"nfs4_write", "WRITE"},
    {"nfs4_commit", "COMMIT"},
    {"nfs4_getattr", "GETATTR"},
    {"nfs4_setattr", "SETATTR"},
    {"nfs4_lookup", "LOOKUP"},
    {"nfs4_open_file", "OPEN"},
    {"nfs4_close", "CLOSE"},
    {"nfs4_access", "ACCESS"},
    {"nfs4_readdir", "READDIR"},
    {"nfs4_readlink", "READLINK"},
    {"nfs4_symlink", "SYMLINK"},
    {"nfs4_mkdir", "CREATE"},
    {"nfs4_remove", "REMOVE"},
    {"nfs4_rename", "RENAME"},
}};

/// "4096@0x00000000abcd0000:0x12345678"
std::optional<std::uint64_t> segment_length(std::string_view text) {
  while (!text.empty()) {
    const std::string_view word = next_word(text);
    if (word.find("@0x") != std::string_view::npos && !word.starts_with("task:"))
      return number(word);
  }
  return {};
}

/// "00:2f:131": the last of the three.
std::uint64_t last_number(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  return number(colon == std::string_view::npos ? word : word.substr(colon + 1)).value_or(0);
}

/// "00:2f:131/name", where another field may follow a blank.
void take_name(std::string_view word, std::string_view next_field, Ended& ended,
               std::string& name) {
  const std::size_t slash = word.find('/');
  if (slash == std::string_view::npos) return;
  ended.file = last_number(word.substr(0, slash));
  std::string_view rest = word.substr(slash + 1);
  if (!next_field.empty()) rest = rest.substr(0, rest.find(next_field));
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
  name = rest.substr(0, kLongestWord);
}

Ended read_end(std::string_view text) {
  Ended ended;
  if (const auto error = field(text, "error")) {
    const bool negative = error->starts_with('-');
    const auto value = number(negative ? error->substr(1) : *error);
    ended.error = static_cast<std::int64_t>(std::min<std::uint64_t>(value.value_or(0), INT32_MAX));
  }
  if (const auto file = field(text, "fileid")) ended.file = last_number(*file);
  ended.offset = number_field(text, "offset").value_or(0);
  ended.count = number_field(text, "count").value_or(0);
  if (const auto name = rest_of_field(text, "name"))
    take_name(*name, " stateid=", ended, ended.name);
  if (const auto to = rest_of_field(text, "newname")) take_name(*to, "", ended, ended.new_name);
  if (const auto from = rest_of_field(text, "oldname"))
    take_name(*from, " newname=", ended, ended.name);
  return ended;
}

class Reader {
 public:
  void line(std::string_view text);
  Trace finish() { return std::move(trace_); }

 private:
  struct Task {
    std::string procedure;
    Marshalled rdma;
  };

  Task& task_of(std::string_view text);
  bool of_rpcrdma(const TraceLine& line);
  bool of_sunrpc(const TraceLine& line);
  bool of_nfs4(const TraceLine& line);
  bool completion(const TraceLine& line);
  void marshal(const TraceLine& line);
  TraceStep* add();

  Trace trace_;
  std::map<std::string, Task, std::less<>> tasks_;
  std::map<std::string, std::deque<std::size_t>, std::less<>> waiting_;  // steps, by procedure
  std::unordered_map<std::uint64_t, std::size_t> by_xid_;
};

/// "task:00000001@00000002 ..."
Reader::Task& Reader::task_of(std::string_view text) {
  std::string key(next_word(text).substr(0, kLongestWord));
  if (tasks_.size() >= kMostTasks && !tasks_.contains(key)) tasks_.clear();
  return tasks_[std::move(key)];
}

TraceStep* Reader::add() {
  if (trace_.steps.size() >= kMostSteps) {
    ++trace_.dropped;
    return nullptr;
  }
  TraceStep& step = trace_.steps.emplace_back();
  step.line = trace_.lines;
  return &step;
}

void Reader::marshal(const TraceLine& line) {
  Task& task = task_of(line.text);
  Task sent = std::exchange(task, Task());
  task.procedure = sent.procedure;  // of a call that is sent again
  TraceStep* step = add();
  if (!step) return;
  sent.rdma.xid = static_cast<std::uint32_t>(number_field(line.text, "xid").value_or(0));
  if (const auto parts = field(line.text, "xdr")) {
    const std::size_t slash = parts->find('/');
    if (slash != std::string_view::npos)
      sent.rdma.pages = number(parts->substr(slash + 1)).value_or(0);
  }
  sent.rdma.long_call = line.text.find("*read list") != std::string_view::npos;
  step->procedure = std::move(sent.procedure);
  step->rdma = std::move(sent.rdma);
  by_xid_[step->rdma->xid] = trace_.steps.size() - 1;
  if (!step->procedure.empty()) waiting_[step->procedure].push_back(trace_.steps.size() - 1);
}

/// "status=FLUSH_ERR (5/0xf5)"; older kernels: "rep=... 0 bytes: WR_FLUSH_ERR (5/0x0)".
bool Reader::completion(const TraceLine& line) {
  const std::size_t open = line.text.rfind('(');
  const std::size_t slash = open == std::string_view::npos ? open : line.text.find("/0x", open);
  if (slash == std::string_view::npos) return true;
  if (number(line.text.substr(open + 1)).value_or(0) == 0) return true;
  // Everything that was posted fails when a connection ends: one loss.
  if (!trace_.steps.empty() && !trace_.steps.back().loss.empty()) return true;
  std::string_view before = line.text.substr(0, open);
  std::string_view status;
  while (true) {
    const std::string_view word = next_word(before);
    if (word.empty()) break;
    status = word;
  }
  if (status.starts_with("status=")) status.remove_prefix(std::string_view("status=").size());
  if (TraceStep* step = add()) {
    step->loss = std::string(line.event) + " " + std::string(status.substr(0, kLongestWord));
  }
  return true;
}

bool Reader::of_rpcrdma(const TraceLine& line) {
  if (!line.event.starts_with("xprtrdma_")) return false;
  if (line.event.starts_with("xprtrdma_wc_")) return completion(line);
  if (line.event == "xprtrdma_marshal") marshal(line);
  const auto length = segment_length(line.text);
  if (!length || !line.event.starts_with("xprtrdma_chunk_")) return true;
  Marshalled& rdma = task_of(line.text).rdma;
  auto* list = &rdma.writes;
  if (line.event == "xprtrdma_chunk_read") list = &rdma.reads;
  if (line.event == "xprtrdma_chunk_reply") list = &rdma.reply;
  if (list->size() < kMostSegments) list->push_back(*length);
  return true;
}

/// "task:00000001@00000002 nfsv4 READ (async)", and rpc_stats_latency, which has the XID, too.
bool Reader::of_sunrpc(const TraceLine& line) {
  if (line.event != "rpc_request" && line.event != "rpc_stats_latency") {
    return line.event.starts_with("rpc_") || line.event.starts_with("xprt_");
  }
  std::string_view rest = line.text;
  std::string_view word = next_word(rest);
  while (!word.empty() && word != "nfsv4") word = next_word(rest);
  if (word.empty()) return true;  // of another program
  const std::string_view procedure = next_word(rest).substr(0, kLongestWord);
  if (line.event == "rpc_request") {
    task_of(line.text) = {std::string(procedure), {}};
    return true;
  }
  const auto found = by_xid_.find(number_field(line.text, "xid").value_or(0));
  if (found == by_xid_.end()) return true;
  TraceStep& step = trace_.steps[found->second];
  if (step.procedure.empty()) step.procedure = procedure;
  return true;
}

bool Reader::of_nfs4(const TraceLine& line) {
  const auto end =
      std::ranges::find(kEnds, line.event, [](const auto& each) { return each.first; });
  if (end == kEnds.end()) return line.event.starts_with("nfs4_");
  std::deque<std::size_t>* queue = nullptr;
  for (const std::string& name : {std::string(end->second), std::string(end->second) + "_NOATTR"}) {
    const auto found = waiting_.find(name);
    if (found != waiting_.end() && !found->second.empty()) queue = &found->second;
  }
  TraceStep* step = nullptr;
  if (queue) {
    step = &trace_.steps[queue->front()];
    queue->pop_front();
  } else {
    step = add();
    if (step) step->procedure = end->second;
  }
  if (step) step->ended = read_end(line.text);
  return true;
}

void Reader::line(std::string_view text) {
  ++trace_.lines;
  const auto read = read_line(text);
  if (!read) return;
  if (of_rpcrdma(*read) || of_sunrpc(*read) || of_nfs4(*read)) ++trace_.events;
}

}  // namespace

Trace read_trace(std::string_view text) {
  Reader reader;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    reader.line(line);
  }
  return reader.finish();
}

}  // namespace nfsrdma::lab::import
