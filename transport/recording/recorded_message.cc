#include "transport/recording/recorded_message.h"

namespace nfsrdma::recording {
namespace {

constexpr std::array<std::byte, xdr::kUnit> kZeros{};

}  // namespace

RecordedMessage::RecordedMessage(const xdr::Encoder& message) {
  add(mark_);
  const std::span<const std::byte> encoded = message.encoded();
  std::size_t done = 0;
  for (const xdr::OmittedItem& item : message.omitted()) {
    add(encoded.subspan(done, item.offset - done));
    add_padded(item.data);
    done = item.offset;
  }
  add(encoded.subspan(done));
  add_mark();
}

RecordedMessage::RecordedMessage(const xdr::Decoder& message) {
  add(mark_);
  add(message.message());
  // Some servers place the pad, too: then this adds none.
  for (const xdr::PlacedItem& item : message.placed()) add_padded(item.data);
  add_mark();
}

void RecordedMessage::add(std::span<const std::byte> piece) {
  if (piece.empty()) return;
  pieces_.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
  size_ += piece.size();
}

void RecordedMessage::add_padded(std::span<const std::byte> item) {
  add(item);
  add(std::span(kZeros).first(xdr::pad_of(item.size())));
}

void RecordedMessage::add_mark() {
  mark_ = tcp::encode({.length = static_cast<std::uint32_t>(size_ - mark_.size())});
}

}  // namespace nfsrdma::recording
