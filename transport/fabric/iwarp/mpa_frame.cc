#include "transport/fabric/iwarp/mpa_frame.h"

#include <fmt/core.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/network_order.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::fabric::iwarp {
namespace {

constexpr std::string_view kRequestKey = "MPA ID Req Frame";
constexpr std::string_view kReplyKey = "MPA ID Rep Frame";
constexpr std::size_t kFlagsAt = 16;
constexpr std::size_t kRevisionAt = 17;
constexpr std::size_t kLengthAt = 18;

constexpr std::uint8_t kMarkers = 0x80;
constexpr std::uint8_t kCrc = 0x40;
constexpr std::uint8_t kReject = 0x20;
constexpr std::uint8_t kEnhanced = 0x10;
constexpr std::uint8_t kEnhancedRevision = 2;

// The two high bits of the IRD word are A and B, those of the ORD word C and D.
constexpr std::uint16_t kFirstFlag = 0x8000;
constexpr std::uint16_t kSecondFlag = 0x4000;
constexpr std::uint16_t kDepthMask = 0x3fff;

std::string_view key_of(StartupFrame::Kind kind) {
  return kind == StartupFrame::Kind::request ? kRequestKey : kReplyKey;
}

std::uint16_t word(std::uint16_t depth, bool first, bool second) {
  return static_cast<std::uint16_t>((depth & kDepthMask) | (first ? kFirstFlag : 0) |
                                    (second ? kSecondFlag : 0));
}

tl::unexpected<Error> broken(std::string detail) {
  return fail(
      Error{Layer::fabric, static_cast<int>(Fault::protocol), "MPA startup", std::move(detail)});
}

}  // namespace

std::vector<std::byte> encode(const StartupFrame& frame) {
  const std::size_t words = frame.enhanced ? kEnhancedWords : 0;
  const std::size_t length = words + frame.private_data.size();
  assert(length <= kMaxPrivateData);
  std::vector<std::byte> bytes(kStartupHeader + length);
  const std::string_view key = key_of(frame.kind);
  std::memcpy(bytes.data(), key.data(), key.size());
  const int flags = (frame.markers ? kMarkers : 0) | (frame.crc ? kCrc : 0) |
                    (frame.reject ? kReject : 0) | (frame.enhanced ? kEnhanced : 0);
  put8(bytes.data() + kFlagsAt, static_cast<std::uint8_t>(flags));
  put8(bytes.data() + kRevisionAt, frame.revision);
  put16(bytes.data() + kLengthAt, static_cast<std::uint16_t>(length));
  std::byte* rest = bytes.data() + kStartupHeader;
  if (frame.enhanced) {
    const EnhancedWords& e = *frame.enhanced;
    put16(rest, word(e.ird, e.peer_to_peer, e.rtr_send));
    put16(rest + sizeof(std::uint16_t), word(e.ord, e.rtr_write, e.rtr_read));
    rest += words;
  }
  if (!frame.private_data.empty()) {
    std::memcpy(rest, frame.private_data.data(), frame.private_data.size());
  }
  return bytes;
}

Result<bool> StartupReader::read(net::ByteStream& stream) {
  auto header = fill(stream, kStartupHeader);
  if (!header || !*header) return header;
  if (!header_known_) {
    TRY(decode_header());
    header_known_ = true;
  }
  auto whole = fill(stream, kStartupHeader + private_data_);
  if (!whole || !*whole) return whole;
  TRY(decode_private_data());
  return true;
}

Result<bool> StartupReader::fill(net::ByteStream& stream, std::size_t bytes) {
  while (have_ < bytes) {
    iovec rest{bytes_.data() + have_, bytes - have_};
    const ssize_t got = stream.read({&rest, 1});
    if (got == -EAGAIN) return false;
    if (got < 0) return fail(net::socket_error(static_cast<int>(-got), "MPA startup"));
    if (got == 0) {
      return fail(Error{Layer::fabric, static_cast<int>(Fault::closed), "MPA startup",
                        fmt::format("after {} bytes", have_)});
    }
    have_ += static_cast<std::size_t>(got);
  }
  return true;
}

Result<void> StartupReader::decode_header() {
  const std::string_view key = key_of(expected_);
  if (std::memcmp(bytes_.data(), key.data(), key.size()) != 0) {
    return broken(fmt::format("not an MPA {} frame",
                              expected_ == StartupFrame::Kind::request ? "Request" : "Reply"));
  }
  const std::uint8_t flags = get8(bytes_.data() + kFlagsAt);
  frame_.kind = expected_;
  frame_.markers = (flags & kMarkers) != 0;
  frame_.crc = (flags & kCrc) != 0;
  frame_.reject = (flags & kReject) != 0;
  frame_.revision = get8(bytes_.data() + kRevisionAt);
  // The flag is a reserved bit before revision 2.
  enhanced_ = (flags & kEnhanced) != 0 && frame_.revision >= kEnhancedRevision;
  private_data_ = get16(bytes_.data() + kLengthAt);
  if (private_data_ > kMaxPrivateData) {
    return broken(fmt::format("PD_Length {} is above {}", private_data_, kMaxPrivateData));
  }
  if (enhanced_ && private_data_ < kEnhancedWords) {
    return broken(fmt::format("PD_Length {} of an enhanced frame is below {}", private_data_,
                              kEnhancedWords));
  }
  return {};
}

Result<void> StartupReader::decode_private_data() {
  const std::byte* at = bytes_.data() + kStartupHeader;
  std::size_t length = private_data_;
  if (enhanced_) {
    const std::uint16_t ird = get16(at);
    const std::uint16_t ord = get16(at + sizeof ird);
    EnhancedWords& words = frame_.enhanced.emplace();
    words.ird = ird & kDepthMask;
    words.peer_to_peer = (ird & kFirstFlag) != 0;
    words.rtr_send = (ird & kSecondFlag) != 0;
    words.ord = ord & kDepthMask;
    words.rtr_write = (ord & kFirstFlag) != 0;
    words.rtr_read = (ord & kSecondFlag) != 0;
    at += kEnhancedWords;
    length -= kEnhancedWords;
  }
  frame_.private_data.assign(at, at + length);
  return {};
}

}  // namespace nfsrdma::fabric::iwarp
