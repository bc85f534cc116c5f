#include "transport/capture/sink.h"

#include <algorithm>
#include <array>
#include <vector>

#include "transport/capture/pcapng_file.h"
#include "transport/capture/tcp_segment.h"

namespace nfsrdma::capture {
namespace {

/// What fits an IP packet whatever its header is.
constexpr std::size_t kMaxPayload = 65000;

using Parts = std::vector<std::span<const std::byte>>;

class TcpFlow final : public Flow {
 public:
  TcpFlow(PcapngFile& file, const sockaddr& local, const sockaddr& peer, bool initiator)
      : file_(file), local_{make_end(local)}, peer_{make_end(peer)} {
    Side& first = initiator ? local_ : peer_;
    Side& second = initiator ? peer_ : local_;
    record(first, second, kSyn, {});
    record(second, first, kSyn | kAck, {});
    record(first, second, kAck, {});
  }

  ~TcpFlow() override {
    record(local_, peer_, kFin | kAck, {});
    record(peer_, local_, kFin | kAck, {});
    record(local_, peer_, kAck, {});
    file_.flush();
  }

  void sent(std::span<const iovec> pieces, std::size_t bytes) override {
    record_stream(local_, peer_, pieces, bytes);
  }
  void received(std::span<const iovec> pieces, std::size_t bytes) override {
    record_stream(peer_, local_, pieces, bytes);
  }

 private:
  struct Side {
    End end;
    std::uint32_t next_sequence = 0;
  };

  void record_stream(Side& from, Side& to, std::span<const iovec> pieces, std::size_t bytes) {
    Parts parts;
    std::size_t length = 0;
    for (const iovec& piece : pieces) {
      std::span<const std::byte> rest(static_cast<const std::byte*>(piece.iov_base),
                                      std::min(piece.iov_len, bytes));
      bytes -= rest.size();
      while (!rest.empty()) {
        const std::size_t step = std::min(rest.size(), kMaxPayload - length);
        parts.push_back(rest.first(step));
        length += step;
        rest = rest.subspan(step);
        if (length < kMaxPayload) continue;
        record(from, to, kPush | kAck, std::move(parts));
        parts.clear();
        length = 0;
      }
    }
    if (length != 0) record(from, to, kPush | kAck, std::move(parts));
  }

  void record(Side& from, Side& to, std::uint8_t flags, Parts payload) {
    const Headers headers =
        make_headers(from.end, to.end, {from.next_sequence, to.next_sequence, flags}, payload);
    for (const auto& part : payload) from.next_sequence += static_cast<std::uint32_t>(part.size());
    // SYN and FIN take a sequence number each.
    if ((flags & (kSyn | kFin)) != 0) ++from.next_sequence;
    payload.insert(payload.begin(), headers.bytes());
    file_.add_packet(payload);
  }

  PcapngFile& file_;
  Side local_;
  Side peer_;
};

class PcapngSink final : public Sink {
 public:
  explicit PcapngSink(std::unique_ptr<PcapngFile> file) : file_(std::move(file)) {}

  std::unique_ptr<Flow> open_flow(const sockaddr& local, const sockaddr& peer,
                                  bool initiator) override {
    return std::make_unique<TcpFlow>(*file_, local, peer, initiator);
  }
  void flush() override { file_->flush(); }
  std::uint64_t packets() const override { return file_->packets(); }

 private:
  std::unique_ptr<PcapngFile> file_;
};

}  // namespace

Result<std::unique_ptr<Sink>> Sink::create(const std::string& path, Clock clock) {
  auto file = PcapngFile::create(path, std::move(clock));
  if (!file) return fail_from(file);
  return std::unique_ptr<Sink>(std::make_unique<PcapngSink>(std::move(*file)));
}

Result<std::unique_ptr<Sink>> Sink::create(UniqueFd opened) {
  auto file = PcapngFile::create(std::move(opened), "the file of the capture");
  if (!file) return fail_from(file);
  return std::unique_ptr<Sink>(std::make_unique<PcapngSink>(std::move(*file)));
}

}  // namespace nfsrdma::capture
