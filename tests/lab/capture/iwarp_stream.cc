#include "tests/lab/capture/iwarp_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "tests/lab/capture/byte_view.h"
#include "transport/fabric/iwarp/terminate.h"

namespace nfsrdma::lab {
namespace {

constexpr std::string_view kMpaKey = "MPA ID ";
constexpr std::size_t kPrivateDataLengthAt = 18;

/// Bytes that are all there already.
class BytesInMemory final : public net::ByteStream {
 public:
  explicit BytesInMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}

  ssize_t read(std::span<iovec> into) override {
    if (bytes_.empty()) return -EAGAIN;
    std::size_t done = 0;
    for (const iovec& piece : into) {
      const std::size_t step = std::min(piece.iov_len, bytes_.size());
      if (step != 0) std::memcpy(piece.iov_base, bytes_.data(), step);
      bytes_ = bytes_.subspan(step);
      done += step;
    }
    return static_cast<ssize_t>(done);
  }
  ssize_t write(std::span<iovec>) override { return -EPIPE; }
  void finish_writing() override {}

 private:
  std::span<const std::byte> bytes_;
};

iwarp::DdpHeader header_of(std::span<const std::byte> ulpdu) {
  std::array<std::byte, iwarp::kMaxDdpHeader> padded{};
  std::copy_n(ulpdu.begin(), std::min(ulpdu.size(), padded.size()), padded.begin());
  return iwarp::decode_ddp_header(padded.data());
}

}  // namespace

bool begins_like_mpa(std::span<const std::byte> bytes) {
  return bytes.size() >= kMpaKey.size() &&
         std::memcmp(bytes.data(), kMpaKey.data(), kMpaKey.size()) == 0;
}

void IwarpStream::on_bytes(std::span<const std::byte> bytes, Moment at) {
  if (state_ == State::nonsense) return;
  if (state_ == State::lost) {
    if (!begins_like_fpdu(bytes)) return;
    state_ = State::fpdus;
  }
  if (state_ == State::startup) {
    startup_.insert(startup_.end(), bytes.begin(), bytes.end());
    return take_startup(at);
  }
  take_fpdus(bytes, at);
}

void IwarpStream::on_gap(std::uint64_t, Moment at) {
  observer_.on_gap({at, side_});
  if (state_ == State::nonsense) return;
  // Places of markers are counted from the beginning of the stream.
  if (terms_.markers_from(side_)) return give_up("a gap in a stream with markers", at);
  state_ = State::lost;
  parser_.reset();
  for (Queue& queue : queues_) queue = {std::nullopt, {}, true};
}

void IwarpStream::give_up(const char* what, Moment at) {
  state_ = State::nonsense;
  observer_.on_nonsense({at, side_}, what);
}

void IwarpStream::take_startup(Moment at) {
  if (startup_.size() >= kMpaKey.size() && !begins_like_mpa(startup_)) {
    return give_up("no MPA startup frame", at);
  }
  if (startup_.size() < iwarp::kStartupHeader) return;
  const std::size_t whole = iwarp::kStartupHeader + ByteView(startup_).u16(kPrivateDataLengthAt);
  if (startup_.size() < whole && whole <= iwarp::kStartupHeader + iwarp::kMaxPrivateData) return;
  BytesInMemory stream(startup_);
  iwarp::StartupReader reader(side_ == Side::client ? iwarp::StartupFrame::Kind::request
                                                    : iwarp::StartupFrame::Kind::reply);
  const auto read = reader.read(stream);
  if (!read || !*read) return give_up("an MPA startup frame that does not decode", at);
  terms_.frame[index_of(side_)] = reader.frame();
  observer_.on_startup({at, side_}, reader.frame());
  observer_.on_private_data({at, side_}, reader.frame().private_data);
  state_ = State::fpdus;
  const std::vector<std::byte> startup = std::exchange(startup_, {});
  if (startup.size() > whole) take_fpdus(std::span(startup).subspan(whole), at);
}

void IwarpStream::take_fpdus(std::span<const std::byte> bytes, Moment at) {
  // Made with the first FPDU: the other side's frame has come by then.
  if (!parser_) parser_.emplace(terms_.markers_from(side_), terms_.crc());
  parser_->add(bytes);
  while (state_ == State::fpdus) {
    auto fpdu = parser_->next();
    if (!fpdu) return;
    segment(*fpdu, at);
  }
}

void IwarpStream::segment(const Fpdu& fpdu, Moment at) {
  SegmentSeen seen;
  seen.source = {at, side_};
  seen.header = header_of(fpdu.ulpdu);
  if (fpdu.ulpdu.size() < seen.header.size()) return give_up("an FPDU too short for DDP", at);
  const auto payload = std::span(fpdu.ulpdu).subspan(seen.header.size());
  seen.length = payload.size();
  seen.crc_wrong = fpdu.crc_wrong;
  seen.ends_stream = terminated_;
  if (!seen.header.tagged) return untagged(seen, payload);
  observer_.on_segment(seen);
  const Place place{seen.header.stag, seen.header.to};
  const auto opcode = iwarp::rdmap_opcode(seen.header.rdmap_control);
  if (opcode == iwarp::Opcode::rdma_write) observer_.on_write(seen.source, place, payload);
  if (opcode == iwarp::Opcode::read_response) {
    observer_.on_read_response(seen.source, place, payload);
  }
}

void IwarpStream::untagged(const SegmentSeen& seen, std::span<const std::byte> payload) {
  SegmentSeen judged = seen;
  if (seen.header.qn >= kQueues) return observer_.on_segment(judged);
  Queue& queue = queues_[seen.header.qn];
  // Behind a gap the first whole message tells where its queue is.
  if (!queue.msn && seen.header.mo == 0) queue = {seen.header.msn, {}, false};
  judged.expected_msn = queue.msn;
  if (queue.msn) judged.expected_mo = static_cast<std::uint32_t>(queue.message.size());
  observer_.on_segment(judged);
  queue.overflown |= queue.message.size() + payload.size() > kMostMessage;
  if (!queue.overflown) {
    queue.message.insert(queue.message.end(), payload.begin(), payload.end());
  }
  if (!seen.header.last) return;
  if (queue.msn && !queue.overflown) deliver(seen, queue);
  if (queue.msn) queue = {seen.header.msn + 1, {}, false};
}

void IwarpStream::deliver(const SegmentSeen& seen, Queue& queue) {
  const auto opcode = iwarp::rdmap_opcode(seen.header.rdmap_control);
  if (iwarp::is_send(opcode)) {
    std::optional<std::uint32_t> invalidated;
    if (iwarp::invalidates(opcode)) invalidated = seen.header.ulp_word;
    observer_.on_send(seen.source, queue.message, invalidated);
  } else if (opcode == iwarp::Opcode::read_request &&
             queue.message.size() >= iwarp::kReadRequestHeader) {
    observer_.on_read_request(seen.source, iwarp::decode_read_request(queue.message.data()));
  } else if (opcode == iwarp::Opcode::terminate) {
    terminated_ = true;
    const auto code = iwarp::decode_terminate(queue.message);
    observer_.on_terminate(seen.source, code ? iwarp::text(*code) : "no reason given");
  }
}

}  // namespace nfsrdma::lab
