// What the server sends: answers and their bodies, as a plain stream or in segments.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tests/bench/relay/segment.h"

namespace nfsrdma::bench::relay {

/// Large data moves in pieces of this size: one end copies the next while the other has the last.
inline constexpr std::size_t kPiece = std::size_t{256} << 10;

/// Answers that go out together. Blocks when the socket takes no more.
class Output {
 public:
  Output(int socket, bool in_segments);

  void put(const Answer& answer, std::span<const std::byte> body = {});
  /// A place for the next `size` bytes of body, at most most_in_piece(), behind an answer that is
  /// put first if `behind_answer`; body_is_there() ends it.
  std::byte* place_for_body(std::size_t size, bool behind_answer = false);
  void body_is_there(std::size_t size);
  std::size_t most_in_piece() const { return in_segments_ ? kMostInSegment : kPiece; }
  /// False: the connection is over.
  bool flush();

 private:
  std::size_t answer_size() const { return in_segments_ ? kAnswerSegment : sizeof(Answer); }
  std::size_t framing() const { return in_segments_ ? kFraming : 0; }
  void make_room(std::size_t size);

  const int socket_;
  const bool in_segments_;
  std::vector<std::byte> memory_;
  std::size_t used_ = 0;
  bool ok_ = true;
};

}  // namespace nfsrdma::bench::relay
