// What is on its way between the relay and its server.
#pragma once

#include <sys/uio.h>

#include <array>
#include <deque>
#include <functional>
#include <span>
#include <string>

#include "tests/bench/relay/segment.h"
#include "tests/bench/relay/wire.h"

namespace nfsrdma::bench::relay {

/// The body of an answer that is received by a call of its own.
inline constexpr std::size_t kLargeBody = std::size_t{128} << 10;

/// One request of the kernel on its way to the server and back.
struct Passage {
  std::uint64_t unique = 0;
  std::uint64_t node = 0;
  std::uint32_t opcode = 0;
  bool asks = true;        ///< false: it waits for what went before it
  bool is_behind = false;  ///< the kernel gets its answer before the server has answered
  bool answered = false;   ///< ... and has it
  Ask ask{};
  std::string path;
  std::span<const std::byte> payload;  ///< follows the Ask
  Answer answer{};
  std::span<std::byte> body;  ///< what follows the Answer is received here
  std::array<std::byte, sizeof(fuse_attr) + kFirstBytes> small{};  ///< a place for it
  std::array<SegmentHeader, kMostSegments> headers{};              ///< of the segments of the body
  std::array<Crc, kMostSegments> crcs{};
  std::byte* place = nullptr;  ///< where the request lies: the channel's
  std::byte* data = nullptr;   ///< room for kMostData bytes of an answer: the channel's

  std::size_t ask_size() const { return asks ? sizeof ask + payload.size() : 0; }
  std::size_t answer_size() const {
    return asks && ask.order != Order::close ? sizeof answer + body.size() : 0;
  }
};

/// Memory for one call that sends or receives.
class Parts {
 public:
  iovec* data() { return parts_.data(); }
  std::size_t count() const { return count_; }
  std::size_t bytes() const { return bytes_; }
  bool full() const { return has_no_room_for(2); }
  bool has_no_room_for(std::size_t pieces) const { return count_ + pieces > parts_.size(); }
  void clear() { count_ = bytes_ = 0; }
  /// Adds what of `size` bytes is behind the first `skip`, and takes those off `skip`.
  void add(const void* memory, std::size_t size, std::size_t& skip);

 private:
  std::array<iovec, 64> parts_{};
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

/// The order in which passages are sent and answered. A passage is the caller's until done.
class Link {
 public:
  using Done = std::function<void(Passage&)>;

  virtual ~Link() = default;
  virtual void push(Passage& passage) = 0;
  virtual bool has_unsent() const = 0;
  /// What is to be sent next.
  virtual void gather_unsent(Parts& parts) = 0;
  /// Where what comes next belongs. True: that is one large answer, worth to be waited for as a
  /// whole.
  virtual bool gather_expected(Parts& parts) = 0;
  /// Calls `done` for each that has been sent as a whole.
  virtual void sent(std::size_t bytes, const Done& done) = 0;
  /// Calls `done` for each that has been answered as a whole, and for those that waited for it.
  /// False: what came is not as it was sent.
  virtual bool received(std::size_t bytes, const Done& done) = 0;

  /// Passages that wait for an answer.
  std::size_t waiting() const { return expected_.size(); }
  /// Bytes of what was asked and has not been answered.
  std::size_t unanswered() const { return unanswered_; }

 protected:
  /// The passage waits for an answer, unless its order has none.
  void expect(Passage& passage);
  void pop_expected(const Done& done);

  std::deque<Passage*> expected_;

 private:
  std::size_t unanswered_ = 0;
};

/// Asks and answers one behind the other.
class PlainLink final : public Link {
 public:
  void push(Passage& passage) override;
  bool has_unsent() const override { return !unsent_.empty(); }
  void gather_unsent(Parts& parts) override;
  bool gather_expected(Parts& parts) override;
  void sent(std::size_t bytes, const Done& done) override;
  bool received(std::size_t bytes, const Done& done) override;

 private:
  std::deque<Passage*> unsent_;
  std::size_t sent_of_first_ = 0;
  std::size_t received_of_first_ = 0;
};

}  // namespace nfsrdma::bench::relay
