#include "transport/tcp/record_writer.h"

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

bool Outgoing::advance(std::size_t bytes) {
  while (first_ < count_ && bytes >= pieces_[first_].iov_len) bytes -= pieces_[first_++].iov_len;
  if (first_ == count_) return true;
  iovec& piece = pieces_[first_];
  piece.iov_base = static_cast<std::byte*>(piece.iov_base) + bytes;
  piece.iov_len -= bytes;
  return false;
}

WriteStatus RecordWriter::send(net::ByteStream& stream, Outgoing& message) {
  const bool waits = !waiting_.empty();
  waiting_.push_back(message);
  return waits ? WriteStatus::blocked : flush(stream);
}

WriteStatus RecordWriter::flush(net::ByteStream& stream) {
  while (!waiting_.empty()) {
    Outgoing& message = waiting_.front();
    const ssize_t put = stream.write(message.pending());
    if (put == -EAGAIN || put == -EWOULDBLOCK) return WriteStatus::blocked;
    if (put < 0) {
      error_ = static_cast<int>(-put);
      return WriteStatus::failed;
    }
    if (!message.advance(static_cast<std::size_t>(put))) return WriteStatus::blocked;
    message.unlink();
    message.on_sent();
  }
  return WriteStatus::idle;
}

void RecordWriter::clear() {
  while (waiting_.pop_front() != nullptr) {
  }
}

}  // namespace nfsrdma::tcp
