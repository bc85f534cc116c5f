#include "tests/faults/wire_faults.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tests/support/listening_socket.h"
#include "transport/fabric/iwarp/fpdu_batch.h"
#include "transport/fabric/iwarp/mpa_frame.h"
#include "transport/fabric/iwarp/terminate.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::faults {
namespace {

namespace iwarp = fabric::iwarp;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kRecordMark = 4;
constexpr std::uint32_t kFragmentLength = 0x7fffffff;
constexpr std::size_t kFlagsAt = 16;  // of a startup frame; the revision is behind them
constexpr std::byte kMarkersFlag{0x80};
constexpr std::byte kRejectFlag{0x20};

std::uint32_t number(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (const std::byte each : bytes) value = value << 8 | std::to_integer<std::uint32_t>(each);
  return value;
}

/// Bytes of the frame at the front of a stream; 0: not known yet.
std::size_t startup_size(std::span<const std::byte> stream) {
  constexpr std::size_t kLengthBytes = 2;
  if (stream.size() < iwarp::kStartupHeader) return 0;
  return iwarp::kStartupHeader +
         number(stream.subspan(iwarp::kStartupHeader - kLengthBytes, kLengthBytes));
}

std::size_t frame_size(std::span<const std::byte> stream, Framing framing) {
  if (framing == Framing::records) {
    if (stream.size() < kRecordMark) return 0;
    return kRecordMark + (number(stream.first(kRecordMark)) & kFragmentLength);
  }
  if (stream.size() < iwarp::kUlpduLengthField) return 0;
  const std::size_t ulpdu = number(stream.first(iwarp::kUlpduLengthField));
  return iwarp::kUlpduLengthField + ulpdu + iwarp::fpdu_pad(ulpdu) + iwarp::kCrcField;
}

/// `bits`: layer, type and code as the first 16 of the message have them (RFC 5040 section 4.8).
Bytes terminate_frame(std::int64_t bits) {
  const auto nibble = [bits](int shift) { return static_cast<std::uint8_t>(bits >> shift & 0xf); };
  const iwarp::TerminateCode code{nibble(12), nibble(8), static_cast<std::uint8_t>(bits)};
  const auto payload = iwarp::encode_terminate(code, std::nullopt);
  iwarp::DdpHeader ddp;
  ddp.last = true;
  ddp.rdmap_control = iwarp::rdmap_control(iwarp::Opcode::terminate);
  ddp.qn = iwarp::kTerminateQueueNumber;
  ddp.msn = 1;
  std::array<std::byte, iwarp::kUntaggedHeader> header;
  encode(ddp, header.data());
  const auto batch = std::make_unique<iwarp::FpduBatch>();
  batch->begin(header.size() + payload.length, header);
  batch->add_copied(std::span(payload.bytes).first(payload.length));
  batch->end();
  Bytes frame;
  for (const iovec& piece : batch->pending()) {
    const auto* from = static_cast<const std::byte*>(piece.iov_base);
    frame.insert(frame.end(), from, from + piece.iov_len);
  }
  return frame;
}

class FaultyConversation final : public hostile::Conversation {
 public:
  FaultyConversation(hostile::Wire& wire, Framing framing, FabricScript& script)
      : wire_(wire), framing_(framing), script_(script), started_(framing == Framing::records) {}

  void from_client(std::span<const std::byte> bytes) override { wire_.to_server(bytes); }
  void from_server(std::span<const std::byte> bytes) override;

 private:
  void pass_on(std::span<std::byte> frame);
  void send(std::span<const std::byte> frame, std::size_t piece);
  void end(const FabricFault& fault);

  hostile::Wire& wire_;
  const Framing framing_;
  FabricScript& script_;
  bool started_;
  bool silent_ = false;  ///< nothing of the server reaches the client any more
  Bytes stream_;
};

void FaultyConversation::from_server(std::span<const std::byte> bytes) {
  stream_.insert(stream_.end(), bytes.begin(), bytes.end());
  std::size_t done = 0;
  while (!silent_) {
    const auto rest = std::span(stream_).subspan(done);
    const std::size_t size = started_ ? frame_size(rest, framing_) : startup_size(rest);
    if (size == 0 || rest.size() < size) break;
    pass_on(rest.first(size));
    done += size;
  }
  if (silent_) done = stream_.size();
  stream_.erase(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(done));
}

void FaultyConversation::pass_on(std::span<std::byte> frame) {
  const bool startup = !std::exchange(started_, true);
  std::size_t piece = frame.size();
  for (const FabricFault& fault : script_.decide(startup ? At::startup : At::frame)) {
    switch (fault.what) {
      case What::bad_crc: frame.back() ^= std::byte{1}; break;
      case What::split:
        piece = std::max<std::size_t>(1, static_cast<std::size_t>(fault.amount));
        break;
      case What::revision: frame[kFlagsAt + 1] = static_cast<std::byte>(fault.amount); break;
      case What::markers: frame[kFlagsAt] |= kMarkersFlag; break;
      case What::reject: frame[kFlagsAt] |= kRejectFlag; break;
      default: return end(fault);
    }
  }
  send(frame, piece);
}

void FaultyConversation::send(std::span<const std::byte> frame, std::size_t piece) {
  while (!frame.empty()) {
    const std::size_t length = std::min(piece, frame.size());
    wire_.to_client(frame.first(length));
    frame = frame.subspan(length);
  }
}

void FaultyConversation::end(const FabricFault& fault) {
  silent_ = true;
  if (fault.what == What::terminate) wire_.to_client(terminate_frame(fault.amount));
  if (fault.what == What::finish) wire_.finish_client();
  if (fault.what == What::reset) wire_.reset();
}

}  // namespace

WireFaults::WireFaults(Reactor& reactor, UniqueFd listening, const net::Address& server,
                       Framing framing, FabricScript& script)
    : relay_(reactor, std::move(listening), server, [framing, &script](hostile::Wire& wire) {
        return std::make_unique<FaultyConversation>(wire, framing, script);
      }) {}

Result<std::unique_ptr<WireFaults>> WireFaults::listen(Reactor& reactor,
                                                       const net::Address& address,
                                                       const net::Address& server, Framing framing,
                                                       FabricScript& script) {
  auto listening = net::make_listening_socket(address);
  if (!listening) return fail_from(listening);
  return std::unique_ptr<WireFaults>(
      new WireFaults(reactor, std::move(*listening), server, framing, script));
}

}  // namespace nfsrdma::faults
