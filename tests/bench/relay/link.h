// What is on its way between the relay and its server.
#pragma once

#include <sys/uio.h>

#include <array>
#include <deque>
#include <span>
#include <string>

#include "tests/bench/relay/wire.h"

namespace nfsrdma::bench::relay {

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
  bool full() const { return count_ + 2 > parts_.size(); }
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
  void push(Passage& passage);
  bool idle() const { return expected_.empty(); }
  bool has_unsent() const { return !unsent_.empty(); }
  /// Passages that wait for an answer.
  std::size_t waiting() const { return expected_.size(); }
  /// Bytes of what was asked and has not been answered.
  std::size_t unanswered() const { return unanswered_; }

  /// What is to be sent next.
  void gather_unsent(Parts& parts) const;
  /// Where the next answers belong. True: that is one large answer, worth to be waited for as a
  /// whole.
  bool gather_expected(Parts& parts) const;
  /// Calls done(Passage&) for each that has been sent as a whole.
  template <class Done>
  void sent(std::size_t bytes, Done&& done) {
    sent_of_first_ += bytes;
    while (!unsent_.empty() && sent_of_first_ >= unsent_.front()->ask_size()) {
      Passage& passage = *unsent_.front();
      sent_of_first_ -= passage.ask_size();
      unsent_.pop_front();
      done(passage);
    }
  }
  /// Calls done(Passage&) for each that has been answered as a whole, and for those that waited
  /// for it.
  template <class Done>
  void received(std::size_t bytes, Done&& done) {
    received_of_first_ += bytes;
    while (!expected_.empty() && received_of_first_ >= expected_.front()->answer_size()) {
      Passage& passage = *expected_.front();
      received_of_first_ -= passage.answer_size();
      unanswered_ -= passage.ask_size();
      expected_.pop_front();
      done(passage);
    }
  }

 private:
  std::deque<Passage*> unsent_;
  std::deque<Passage*> expected_;
  std::size_t sent_of_first_ = 0;
  std::size_t received_of_first_ = 0;
  std::size_t unanswered_ = 0;
};

}  // namespace nfsrdma::bench::relay
