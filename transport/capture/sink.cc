#include "transport/capture/sink.h"

#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "transport/capture/tcp_flow.h"

namespace nfsrdma::capture {
namespace {

/// Ports of sides that have none. Wireshark 4.0 has no protocol at any of them; from 10000 on,
/// which is NDMP's, it would take NFS apart as something else.
constexpr std::uint32_t kFirstPort = 50'000;
constexpr std::uint32_t kMadeUpPorts = 6'000;

sockaddr_storage copy_of(const sockaddr& address) {
  sockaddr_storage copy{};
  std::memcpy(&copy, &address,
              address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  return copy;
}

in_port_t& port_of(sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(address).sin_port;
}

/// Datagrams of UDP. One is never longer than its packet can be.
class DatagramFlow final : public Flow {
 public:
  DatagramFlow(PcapngFile& file, const sockaddr& local, const sockaddr& peer)
      : file_(file), local_(make_end(local)), peer_(make_end(peer)) {}
  ~DatagramFlow() override { file_.flush(); }

  void sent(std::span<const iovec> pieces, std::size_t bytes) override {
    record(local_, peer_, pieces, bytes);
  }
  void received(std::span<const iovec> pieces, std::size_t bytes) override {
    record(peer_, local_, pieces, bytes);
  }
  void comment(std::string text) override { comment_ = std::move(text); }

 private:
  void record(const End& from, const End& to, std::span<const iovec> pieces, std::size_t bytes) {
    std::vector<std::span<const std::byte>> parts;
    for (const iovec& piece : pieces) {
      parts.emplace_back(static_cast<const std::byte*>(piece.iov_base),
                         std::min(piece.iov_len, bytes));
      bytes -= parts.back().size();
    }
    const Headers headers = make_udp_headers(from, to, parts);
    parts.insert(parts.begin(), headers.bytes());
    file_.add_packet(file_.present(), parts, comment_);
    comment_.clear();
  }

  PcapngFile& file_;
  const End local_;
  const End peer_;
  std::string comment_;
};

class PcapngSink final : public Sink {
 public:
  explicit PcapngSink(std::unique_ptr<PcapngFile> file) : file_(std::move(file)) {}

  std::unique_ptr<Flow> open_flow(const sockaddr& local, const sockaddr& peer, bool initiator,
                                  Carried carried) override {
    if (carried == Carried::datagrams) return std::make_unique<DatagramFlow>(*file_, local, peer);
    sockaddr_storage own = copy_of(local);
    if (port_of(own) == 0) port_of(own) = htons(next_port());
    return std::make_unique<TcpFlow>(*file_, reinterpret_cast<const sockaddr&>(own), peer,
                                     initiator, carried);
  }
  void flush() override { file_->flush(); }
  void flush_after_turns(Reactor& reactor) override {
    end_of_turn_ = std::make_unique<Deferred>(reactor, [this] { file_->flush(); });
    file_->when_unflushed([this] { end_of_turn_->schedule(); });
    file_->flush();  // what the file begins with
  }
  std::uint64_t packets() const override { return file_->packets(); }

 private:
  std::uint16_t next_port() {
    return static_cast<std::uint16_t>(kFirstPort + made_up_ports_++ % kMadeUpPorts);
  }

  std::unique_ptr<PcapngFile> file_;
  std::unique_ptr<Deferred> end_of_turn_;  // none: whoever uses the sink flushes it
  std::atomic<std::uint32_t> made_up_ports_ = 0;
};

Result<std::unique_ptr<Sink>> make_sink(std::vector<UniqueFd> files, const std::string& path,
                                        const Form& form, Clock clock) {
  auto file = PcapngFile::create(std::move(files), path, form, std::move(clock));
  if (!file) return fail_from(file);
  return std::unique_ptr<Sink>(std::make_unique<PcapngSink>(std::move(*file)));
}

}  // namespace

Result<std::unique_ptr<Sink>> Sink::create(const std::string& path, const Form& form, Clock clock) {
  auto files = open_capture_files(path, form.files, form.patience);
  if (!files) return fail_from(files);
  return make_sink(std::move(*files), path, form, std::move(clock));
}

Result<std::unique_ptr<Sink>> Sink::create(std::vector<UniqueFd> files, const Form& form) {
  return make_sink(std::move(files), "the file of the capture", form, wall_clock);
}

}  // namespace nfsrdma::capture
