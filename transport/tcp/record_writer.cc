#include "transport/tcp/record_writer.h"

#include <algorithm>
#include <cassert>
#include <cerrno>

namespace nfsrdma::tcp {
namespace {

/// Pads are sent from here.
constexpr std::array<std::byte, xdr::kUnit> kZeros{};

}  // namespace

void Outgoing::add(std::span<const std::byte> piece) {
  if (piece.empty()) return;
  // iovec is for both directions; nothing is written through it here.
  pieces_[count_++] = {const_cast<std::byte*>(piece.data()), piece.size()};
  length_ += piece.size();
}

void Outgoing::set_message(const xdr::Encoder& message) {
  assert(!linked() && "I4: the message is being sent");
  count_ = 1;  // the mark
  first_ = 0;
  length_ = payload_bytes_ = 0;
  begun_ = false;
  const auto encoded = message.encoded();
  std::size_t done = 0;
  for (const auto& item : message.omitted()) {
    add(encoded.subspan(done, item.offset - done));
    add(item.data);
    add(std::span(kZeros).first(xdr::pad_of(item.data.size())));
    payload_bytes_ += item.data.size();
    done = item.offset;
  }
  add(encoded.subspan(done));
  assert(length_ <= RecordMark::kMaxLength);
  mark_ = encode(RecordMark{static_cast<std::uint32_t>(length_), true});
  pieces_[0] = {mark_.data(), mark_.size()};
}

std::size_t Outgoing::advance(std::size_t bytes) {
  begun_ = true;
  while (!gone() && bytes >= pieces_[first_].iov_len) bytes -= pieces_[first_++].iov_len;
  if (gone()) return bytes;
  iovec& piece = pieces_[first_];
  piece.iov_base = static_cast<std::byte*>(piece.iov_base) + bytes;
  piece.iov_len -= bytes;
  return 0;
}

void RecordWriter::add(Outgoing& message) {
  waiting_.push_back(message);
  waiting_bytes_ += message.record_bytes();
}

void RecordWriter::add_urgent(Outgoing& message) {
  urgent_.push_back(message);
  waiting_bytes_ += message.record_bytes();
}

WriteStatus RecordWriter::flush(net::ByteStream& stream) {
  while (!empty()) {
    const std::span<iovec> pieces = gather();
    std::size_t asked = 0;
    for (const iovec& piece : pieces) asked += piece.iov_len;
    const ssize_t put = stream.write(pieces);
    if (put == -EAGAIN || put == -EWOULDBLOCK) return WriteStatus::blocked;
    if (put < 0) {
      error_ = static_cast<int>(-put);
      return WriteStatus::failed;
    }
    const auto bytes = static_cast<std::size_t>(put);
    took(bytes);
    if (bytes < asked) return WriteStatus::blocked;
  }
  return WriteStatus::idle;
}

/// The pieces of as many waiting messages as fit one call, in the order of next().
std::span<iovec> RecordWriter::gather() {
  std::size_t count = 0;
  bool full = false;
  const auto take = [&](Outgoing& message) {
    const std::span<iovec> pending = message.pending();
    full = full || pending.size() > pieces_.size() - count;
    if (full) return;
    std::ranges::copy(pending, pieces_.begin() + static_cast<std::ptrdiff_t>(count));
    count += pending.size();
  };
  if (goes_on()) take(waiting_.front());
  urgent_.for_each(take);
  waiting_.for_each([&](Outgoing& message) {
    if (!message.begun()) take(message);
  });
  return std::span(pieces_).first(count);
}

void RecordWriter::took(std::size_t bytes) {
  waiting_bytes_ -= bytes;
  // on_sent() may add messages and flush: what has gone must not be found among the waiting then.
  IntrusiveList<Outgoing> sent;
  while (bytes > 0) {
    Outgoing& message = next();
    bytes = message.advance(bytes);
    if (!message.gone()) break;
    message.unlink();
    sent.push_back(message);
  }
  while (Outgoing* message = sent.pop_front()) message->on_sent();
}

void RecordWriter::clear() {
  while (waiting_.pop_front() != nullptr || urgent_.pop_front() != nullptr) {
  }
  waiting_bytes_ = 0;
}

}  // namespace nfsrdma::tcp
