#include "tests/lab/convert/rpc_view.h"

#include <sys/stat.h>

#include <cerrno>

#include "tests/lab/capture/reader.h"
#include "transport/tcp/record_mark.h"

namespace nfsrdma::lab {
namespace {

constexpr std::uint16_t kNfsPort = 2049;
constexpr std::size_t kKeptData = std::size_t{512} << 20;

/// The connections of a capture, in one file.
class RpcView final : public WireObserverFactory {
 public:
  explicit RpcView(ConvertSummary& summary) : summary_(summary) {}

  Result<void> open(const std::string& path) {
    auto sink = capture::Sink::create(path, {.what = "RPCs of another capture, each whole"},
                                      [this] { return now_; });
    if (!sink) return fail_from(sink);
    sink_ = std::move(*sink);
    return {};
  }
  std::unique_ptr<WireObserver> on_connection(const ConnectionInfo& info) override;

 private:
  class Recorder;

  ConvertSummary& summary_;
  Budget budget_{kKeptData};
  std::int64_t now_ = 0;
  std::unique_ptr<capture::Sink> sink_;
};

class RpcView::Recorder final : public ConversationObserver {
 public:
  Recorder(RpcView& view, const ConnectionInfo& info) : view_(view) {
    Endpoint client = info.client;
    Endpoint server = info.server;
    server.port = kNfsPort;
    // RoCEv2 connections share ports: in the view each has one of its own, which the sink makes up.
    if (info.lower_layer == LowerLayer::roce) client.port = 0;
    const sockaddr_storage local = client.to_sockaddr();
    const sockaddr_storage peer = server.to_sockaddr();
    view_.now_ = info.since.ns;
    flow_ = view_.sink_->open_flow(reinterpret_cast<const sockaddr&>(local),
                                   reinterpret_cast<const sockaddr&>(peer), true,
                                   capture::Carried::messages);
  }

  void on_rpc(const RpcSeen& seen) override;
  void on_message(const MessageSeen& seen) override {
    view_.summary_.broken += seen.fault == rdma::HeaderFault::none ? 0 : 1;
  }
  void on_closed(Moment at) override {
    view_.now_ = at.ns;
    flow_.reset();
  }

 private:
  RpcView& view_;
  std::unique_ptr<capture::Flow> flow_;
};

void RpcView::Recorder::on_rpc(const RpcSeen& seen) {
  ConvertSummary& summary = view_.summary_;
  if (!seen.message->complete || seen.message->bytes.empty()) {
    ++summary.incomplete;
    return;
  }
  ++summary.messages;
  summary.guessed += seen.message->guessed ? 1 : 0;
  view_.now_ = seen.source.at.ns;
  const auto& bytes = seen.message->bytes;
  auto mark = tcp::encode({.length = static_cast<std::uint32_t>(bytes.size())});
  const iovec pieces[] = {{mark.data(), mark.size()},
                          {const_cast<std::byte*>(bytes.data()), bytes.size()}};
  if (seen.source.from == Side::client) {
    flow_->sent(pieces, mark.size() + bytes.size());
  } else {
    flow_->received(pieces, mark.size() + bytes.size());
  }
}

std::unique_ptr<WireObserver> RpcView::on_connection(const ConnectionInfo& info) {
  auto conversation = std::make_unique<Conversation>(info, budget_);
  conversation->observe(std::make_unique<Recorder>(*this, info));
  return conversation;
}

bool same_file(const std::string& one, const std::string& two) {
  struct stat first {};
  struct stat second {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(two.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

Result<ConvertSummary> convert_to_rpc_view(const std::string& from, const std::string& to) {
  auto file = PacketFile::open(from);
  if (!file) return fail_from(file);
  if (same_file(from, to)) {
    return fail(Error::local(EINVAL, "convert", to + " is the file that is read: name another"));
  }
  ConvertSummary summary;
  RpcView view(summary);
  TRY(view.open(to));
  const CaptureSummary read = read_capture(**file, view);
  summary.frames = read.frames;
  summary.connections = read.connections;
  summary.damaged = read.damaged;
  return summary;
}

}  // namespace nfsrdma::lab
