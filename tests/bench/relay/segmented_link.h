// The link as iWARP's rules want it: in segments with a CRC each, and the server fetches the data
// of a large WRITE.
#pragma once

#include "tests/bench/relay/link.h"

namespace nfsrdma::bench::relay {

class SegmentedLink final : public Link {
 public:
  void push(Passage& passage) override;
  bool has_unsent() const override { return !unsent_.empty(); }
  void gather_unsent(Parts& parts) override;
  bool gather_expected(Parts& parts) override;
  void sent(std::size_t bytes, const Done& done) override;
  bool received(std::size_t bytes, const Done& done) override;

 private:
  struct Outgoing {
    Passage* passage = nullptr;
    SegmentHeader header{};
    Ask ask{};  ///< of a message
    std::span<const std::byte> payload;
    Crc crc = 0;
    bool sealed = false;  ///< the CRC is known
    bool last = false;    ///< of what is sent for the passage at once

    std::span<const std::byte> first() const {
      if (header.kind == SegmentHeader::Kind::data) return {};
      return std::as_bytes(std::span(&ask, 1));
    }
    std::size_t size() const { return kFraming + header.size; }
  };

  void send_data(Passage& passage);
  void gather_answers(Parts& parts);
  static void add_body(Parts& parts, Passage& passage, std::size_t& skip);
  bool take_answer(const AnswerSegment& segment);
  bool check_body(const Passage& passage);

  std::deque<Outgoing> unsent_;
  std::size_t sent_of_first_ = 0;
  std::deque<Passage*> unfetched_;
  /// Answers are received here: which passage one belongs to is not known before it has come.
  std::array<AnswerSegment, 32> answers_{};
  std::size_t received_of_first_ = 0;  ///< of answers_[0] and the body behind it
  std::size_t checked_ = 0;            ///< segments of that body whose CRC was right
};

}  // namespace nfsrdma::bench::relay
