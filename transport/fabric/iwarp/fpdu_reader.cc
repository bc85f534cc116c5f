#include "transport/fabric/iwarp/fpdu_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/fabric/iwarp/network_order.h"

namespace nfsrdma::fabric::iwarp {

ReadStatus FpduReader::read(net::ByteStream& stream) {
  if (!staged()) {
    const ReadStatus status = read_stream(stream);
    if (status != ReadStatus::more) return status;
  }
  if (auto checked = advance(); !checked) {
    violation_ = std::move(checked.error());
    return ReadStatus::violated;
  }
  return !staged() && drained_ ? ReadStatus::drained : ReadStatus::more;
}

/// Bytes to read beyond those that have a place.
std::size_t FpduReader::stage_wanted() const {
  if (!started_) return window_;
  const std::size_t behind = payload_.size() > kCopyAtMost ? kLookahead : window_;
  return trailer_size_ - trailer_have_ + std::max(behind, kLookahead);
}

ReadStatus FpduReader::read_stream(net::ByteStream& stream) {
  stage_begin_ = stage_end_ = 0;
  const std::size_t header_rest = header_size_ - header_have_;
  const std::size_t payload_rest = payload_.size() - payload_have_;
  const std::size_t to_stage = std::min(stage_wanted(), kStage);
  std::array<iovec, 3> parts;
  std::size_t used = 0;
  const auto want = [&](std::byte* at, std::size_t bytes) {
    if (bytes != 0) parts[used++] = iovec{at, bytes};
  };
  want(header_.data() + header_have_, header_rest);
  want(payload_.data() + payload_have_, payload_rest);
  want(stage_.data(), to_stage);
  const ssize_t got = stream.read(std::span(parts).first(used));
  if (got == 0) return ReadStatus::end;
  if (got == -EAGAIN) return ReadStatus::drained;
  if (got < 0) {
    error_ = static_cast<int>(-got);
    return ReadStatus::failed;
  }
  auto left = static_cast<std::size_t>(got);
  drained_ = left < header_rest + payload_rest + to_stage;
  const auto distribute = [&left](std::size_t& have, std::size_t rest) {
    const std::size_t step = std::min(left, rest);
    have += step;
    left -= step;
  };
  distribute(header_have_, header_rest);
  distribute(payload_have_, payload_rest);
  stage_end_ = left;
  if (!drained_) window_ = std::min(2 * window_, kStage);
  return ReadStatus::more;
}

/// Moves staged bytes into `into`; returns how many.
std::size_t FpduReader::take(std::span<std::byte> into) {
  const std::size_t count = std::min(into.size(), stage_end_ - stage_begin_);
  if (count != 0) std::memcpy(into.data(), stage_.data() + stage_begin_, count);
  stage_begin_ += count;
  return count;
}

/// Parses read bytes until an FPDU is complete or none is left.
Checked<> FpduReader::advance() {
  for (;;) {
    header_have_ += take(std::span(header_).first(header_size_).subspan(header_have_));
    if (header_have_ < header_size_) return {};
    if (started_) break;
    if (auto started = start(); !started) return started;
  }
  const std::size_t copied = take(payload_.subspan(payload_have_));
  counters_.payload_bytes_copied.add(copied);
  payload_have_ += copied;
  if (payload_have_ < payload_.size()) return {};
  trailer_have_ += take(std::span(trailer_).first(trailer_size_).subspan(trailer_have_));
  if (trailer_have_ < trailer_size_) return {};
  return finish();
}

Checked<> FpduReader::start() {
  const std::size_t ulpdu_length = get16(header_.data());
  const std::byte* ddp = header_.data() + kUlpduLengthField;
  const DdpHeader header = decode_ddp_header_without_mo(ddp);
  if (ulpdu_length < header.size()) {
    return iwarp::violation(
        terminate::kMpaLength, Fault::protocol,
        fmt::format("ULPDU of {} bytes in the FPDU at stream byte {} is shorter than its header",
                    ulpdu_length, position_));
  }
  const std::size_t payload_length = ulpdu_length - header.size();
  auto place = consumer_.place(header, payload_length);
  if (!place) return tl::unexpected(std::move(place.error()));
  payload_ = *place;
  payload_have_ = 0;
  header_size_ = kUlpduLengthField + header.size();
  trailer_size_ = fpdu_pad(ulpdu_length) + kCrcField;
  trailer_have_ = 0;
  started_ = true;
  return {};
}

Checked<> FpduReader::check_crc() const {
  Crc32c crc;
  crc.add(std::span(header_).first(header_size_));
  crc.add(payload_);
  const std::size_t pad = trailer_size_ - kCrcField;
  crc.add(std::span(trailer_).first(pad));
  std::uint32_t carried;
  std::memcpy(&carried, trailer_.data() + pad, sizeof carried);
  carried = le32toh(carried);
  if (carried == crc.value()) return {};
  return iwarp::violation(
      terminate::kMpaCrc, Fault::protocol,
      fmt::format("CRC mismatch in the FPDU at stream byte {}: {:#010x} instead of {:#010x}",
                  position_, carried, crc.value()));
}

Checked<> FpduReader::finish() {
  if (crc_in_use_) {
    if (auto checked = check_crc(); !checked) {
      counters_.crc_errors.add();
      return checked;
    }
  }
  counters_.fpdus_received.add();
  const DdpHeader header = decode_ddp_header(header_.data() + kUlpduLengthField);
  if (auto delivered = consumer_.deliver(header, payload_.size()); !delivered) return delivered;

  position_ += header_size_ + payload_.size() + trailer_size_;
  window_ = payload_.size() > kCopyAtMost ? 0 : std::max(window_, kFirstWindow);
  header_.fill(std::byte{0});  // a header that is quoted before it is whole shows nothing old
  header_size_ = kLookahead;
  header_have_ = 0;
  payload_ = {};
  payload_have_ = trailer_have_ = 0;
  started_ = false;
  return {};
}

OffendingSegment FpduReader::segment() const {
  if (header_have_ < kLookahead) return {};
  const auto ddp = std::span(header_).subspan(kUlpduLengthField);
  const bool tagged = is_tagged(ddp.front());
  return {get16(header_.data()), ddp.first(tagged ? kTaggedHeader : kUntaggedHeader), {}};
}

}  // namespace nfsrdma::fabric::iwarp
