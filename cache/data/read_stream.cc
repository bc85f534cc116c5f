#include "cache/data/read_stream.h"

#include <algorithm>
#include <utility>

namespace nfsrdma::cache {
namespace {

/// Pieces ahead of a strided reader, at first and at most.
constexpr std::size_t kFirstDepth = 2;
constexpr std::size_t kMostDepth = 16;

/// Each request under a lock has a holder of its own.
bool same_name(const client::StateRef& a, const client::StateRef& b) {
  return a == b || (a && b && a->stateid() == b->stateid());
}

}  // namespace

ReadStream::ReadStream(Reactor& reactor, File& file, std::size_t most)
    : file_(file), reading_(reactor) {
  pieces_.reserve(most);
}

template <class Which>
void ReadStream::drop_if(Which&& which) {
  const auto kept = std::partition(pieces_.begin(), pieces_.end(),
                                   [&](const ReadPieceRef& piece) { return !which(*piece); });
  if (kept == pieces_.end()) return;
  ++drops_;
  for (auto gone = kept; gone != pieces_.end(); ++gone) (*gone)->drop();
  pieces_.erase(kept, pieces_.end());
}

void ReadStream::follow(const ReadPattern& pattern, std::uint64_t offset, std::size_t size,
                        const client::StateRef& by, TimePoint now, std::size_t most_bytes) {
  last_used_ = now;
  taken_ += size;
  const ReadPattern::Next next = pattern.next();
  if (next != mode_ || !same_name(by, by_)) {
    drop_all();
    by_ = by;
    mode_ = next;
    front_ = 0;
    depth_ = kFirstDepth;
    stopped_ = false;
    window_.begin(size, most_bytes);
  }
  // Kernels ask in order, but for a request or two.
  const std::uint64_t slack = mode_ == ReadPattern::Next::strided ? pattern.stride() : size;
  drop_if([&](const ReadPiece& piece) { return piece.end() + slack <= offset; });
}

std::optional<ReadStream::Wanted> ReadStream::next(const ReadPattern& pattern, std::size_t most,
                                                   std::uint64_t file_end) const {
  if (stopped_ || pieces_.size() == pieces_.capacity()) return std::nullopt;
  std::optional<Wanted> wanted;
  if (mode_ == ReadPattern::Next::sequential) wanted = next_sequential(pattern, most);
  if (mode_ == ReadPattern::Next::strided) wanted = next_strided(pattern, most);
  if (wanted && wanted->offset >= file_end) return std::nullopt;
  return wanted;
}

std::optional<ReadStream::Wanted> ReadStream::next_sequential(const ReadPattern& pattern,
                                                              std::size_t most) const {
  const std::uint64_t from = std::max(front_, pattern.end());
  std::size_t length = std::min(window_.piece(pattern.request()), most);
  // A request that lies in two pieces has to be put together by copying: pieces end where requests
  // do, as long as those have this size.
  const std::size_t over =
      (from + length - pattern.end()) % std::max<std::size_t>(pattern.request(), 1);
  if (over < length) length -= over;
  if (from + length > pattern.end() + window_.bytes()) return std::nullopt;
  return Wanted{from, length};
}

std::optional<ReadStream::Wanted> ReadStream::next_strided(const ReadPattern& pattern,
                                                           std::size_t most) const {
  if (pattern.length() > most) return std::nullopt;
  const std::uint64_t reached = std::max(front_, pattern.begin() + 1) - pattern.begin();
  const std::uint64_t strides = (reached + pattern.stride() - 1) / pattern.stride();
  if (strides > depth_) return std::nullopt;
  return Wanted{pattern.begin() + strides * pattern.stride(),
                static_cast<std::size_t>(pattern.length())};
}

void ReadStream::add(ReadPieceRef piece) {
  front_ = piece->end();
  piece->by = by_;
  piece->taken_before = taken_;
  pieces_.push_back(std::move(piece));
}

void ReadStream::begin_with(ReadPieceRef piece, client::StateRef by, TimePoint now) {
  by_ = std::move(by);
  last_used_ = now;
  add(std::move(piece));
}

ReadPiece* ReadStream::find(std::uint64_t byte) const {
  for (const ReadPieceRef& piece : pieces_) {
    if (piece->has(byte)) return piece.get();
  }
  return nullptr;
}

void ReadStream::used(ReadPiece& piece, std::size_t bytes) {
  piece.used += bytes;
  if (piece.used < piece.valid) return;
  const auto place = std::find(pieces_.begin(), pieces_.end(), &piece);
  if (place != pieces_.end()) pieces_.erase(place);
}

void ReadStream::waited_for(const ReadPiece& piece, TimePoint now) {
  window_.waited(now - piece.issued, taken_ - piece.taken_before, piece.length);
  depth_ = std::min(2 * depth_, kMostDepth);
}

void ReadStream::drop(std::uint64_t begin, std::uint64_t end) {
  drop_if([&](const ReadPiece& piece) {
    // Where the file has become longer it does not end any more.
    const bool grown = piece.ended && end > piece.offset + piece.valid;
    return grown || (begin < piece.end() && piece.offset < end);
  });
}

void ReadStream::drop_all() {
  drop_if([](const ReadPiece&) { return true; });
}

bool ReadStream::drop_last() {
  const ReadPiece* last = nullptr;
  for (const ReadPieceRef& piece : pieces_) {
    const bool arrived = piece->state == ReadPiece::State::ready;
    if (arrived && (!last || piece->offset > last->offset)) last = piece.get();
  }
  if (last) forget(*last);
  return last != nullptr;
}

void ReadStream::forget(const ReadPiece& piece) {
  drop_if([&](const ReadPiece& one) { return &one == &piece; });
}

}  // namespace nfsrdma::cache
