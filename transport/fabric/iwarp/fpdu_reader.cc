#include "transport/fabric/iwarp/fpdu_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/fabric/iwarp/network_order.h"

namespace nfsrdma::fabric::iwarp {

ReadStatus FpduReader::read(net::ByteStream& stream) {
  std::array<iovec, 3> parts;
  const std::size_t used = missing(parts);
  const std::size_t wanted = net::total_length(std::span(parts).first(used));
  const ssize_t got = stream.read(std::span(parts).first(used));
  if (got == 0) return ReadStatus::end;
  if (got == -EAGAIN) return ReadStatus::drained;
  if (got < 0) {
    error_ = static_cast<int>(-got);
    return ReadStatus::failed;
  }
  distribute(static_cast<std::size_t>(got));
  auto checked = advance();
  if (!checked) {
    violation_ = std::move(checked.error());
    return ReadStatus::violated;
  }
  return static_cast<std::size_t>(got) < wanted ? ReadStatus::drained : ReadStatus::more;
}

std::size_t FpduReader::missing(std::array<iovec, 3>& parts) {
  std::size_t used = 0;
  const auto want = [&](std::byte* at, std::size_t bytes) {
    if (bytes != 0) parts[used++] = iovec{at, bytes};
  };
  want(header_.data() + header_have_, header_size_ - header_have_);
  if (!started_) return used;
  want(payload_.data() + payload_have_, payload_.size() - payload_have_);
  want(tail_.data() + tail_have_, trailer_size_ + kLookahead - tail_have_);
  return used;
}

void FpduReader::distribute(std::size_t bytes) {
  const auto take = [&](std::size_t& have, std::size_t size) {
    const std::size_t step = std::min(bytes, size - have);
    have += step;
    bytes -= step;
  };
  take(header_have_, header_size_);
  take(payload_have_, payload_.size());
  tail_have_ += bytes;
}

bool FpduReader::whole() const {
  return started_ && header_have_ == header_size_ && payload_have_ == payload_.size() &&
         tail_have_ >= trailer_size_;
}

Checked<> FpduReader::advance() {
  for (;;) {
    if (!started_) {
      if (header_have_ < header_size_) return {};
      if (auto started = start(); !started) return started;
    }
    if (!whole()) return {};
    if (auto finished = finish(); !finished) return finished;
  }
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
  tail_have_ = 0;
  started_ = true;
  return {};
}

Checked<> FpduReader::check_crc() const {
  Crc32c crc;
  crc.add(std::span(header_).first(header_size_));
  crc.add(payload_);
  const std::size_t pad = trailer_size_ - kCrcField;
  crc.add(std::span(tail_).first(pad));
  std::uint32_t carried;
  std::memcpy(&carried, tail_.data() + pad, sizeof carried);
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
  header_have_ = tail_have_ - trailer_size_;
  header_.fill(std::byte{0});  // a header that is quoted before it is whole shows nothing old
  std::memcpy(header_.data(), tail_.data() + trailer_size_, header_have_);
  header_size_ = kLookahead;
  payload_ = {};
  payload_have_ = tail_have_ = 0;
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
