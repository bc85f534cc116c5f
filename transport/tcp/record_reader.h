// The receiving half of record marking: finds records in whatever pieces TCP delivers and has their
// bytes read to where the handler wants them.
//
// A read takes, behind bytes whose place is known, at most as many as the handler lets it
// (RecordHandler::lookahead). Those wait in a small stage and are copied to their place; everything
// else is read straight to it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tl/expected.hpp>

#include "transport/base/undumped_bytes.h"
#include "transport/net/byte_stream.h"
#include "transport/tcp/record_mark.h"

namespace nfsrdma::tcp {

/// The outcome of a check of something the peer sent: the error says why it is wrong.
template <class T = void>
using Checked = tl::expected<T, const char*>;

inline tl::unexpected<const char*> violation(const char* what) {
  return tl::unexpected<const char*>(what);
}

/// Where a record's next bytes go.
struct Place {
  std::span<std::byte> memory;  ///< empty: there is no memory now
  /// No byte of this record behind `memory` is payload.
  bool rest_may_be_staged = false;
};

/// Takes one record after another.
class RecordHandler {
 public:
  /// The place of the next bytes, of which `rest` are still to come in this fragment. May be
  /// called again before filled() and then gives the same answer.
  virtual Checked<Place> place(std::size_t rest) = 0;
  /// The first `bytes` of the place are there; `copied` from the stage, or read straight to it.
  virtual Checked<> filled(std::size_t bytes, bool copied) = 0;
  /// The record is complete.
  virtual Checked<> end_of_record() = 0;
  /// How many bytes from the start of a record on, marks included, may be copied in any record that
  /// can come: they are no payload, or small payload.
  virtual std::size_t lookahead() const = 0;

 protected:
  ~RecordHandler() = default;
};

enum class ReadStatus : std::uint8_t {
  more,      ///< a record is complete or the socket may hold more: call again
  drained,   ///< the socket held no more
  no_place,  ///< the handler had no memory: call again when it has
  end,       ///< the peer sends nothing more
  failed,    ///< see error()
  violated,  ///< see what()
};

/// One object for one connection.
class RecordReader {
 public:
  /// No record may be longer than `max_record` bytes.
  RecordReader(RecordHandler& handler, std::size_t max_record)
      : handler_(handler), max_record_(max_record) {}

  /// At most one read of the stream, and at most one record completed.
  ReadStatus read(net::ByteStream& stream);

  int error() const { return error_; }                  ///< errno value
  const char* what() const { return what_; }            ///< how the peer broke the rules
  std::uint64_t position() const { return position_; }  ///< stream offset behind the consumed bytes
  /// Whether the stream may end here.
  bool between_records() const { return mark_have_ == 0 && !in_record_ && staged() == 0; }
  std::uint64_t records() const { return records_; }
  std::uint64_t fragments() const { return fragments_; }

 private:
  /// Holds the reply to a READ of 16 KiB.
  static constexpr std::size_t kStage = 20 * 1024;
  /// Fragments without bytes in one record: they are allowed, and useless.
  static constexpr unsigned kMaxEmptyFragments = 16;

  enum class Step : std::uint8_t { going, record_ended, no_place, violated };

  std::size_t staged() const { return stage_end_ - stage_begin_; }
  bool mark_known() const { return mark_have_ == RecordMark::kSize; }
  ReadStatus read_stream(net::ByteStream& stream, std::span<std::byte> place, std::size_t to_stage);
  std::size_t wanted_in_stage(const Place& place, std::size_t placed) const;
  /// Parses staged bytes until a record has ended or none is left.
  ReadStatus consume();
  Step consume_mark();
  Step consume_fragment();
  Step start_fragment();
  /// `bytes` of the fragment have reached their place.
  Step advance(std::size_t bytes, bool copied);
  Step end_fragment();
  Step violated(const char* what) {
    what_ = what;
    return Step::violated;
  }
  ReadStatus status_of(Step step) const;

  RecordHandler& handler_;
  const std::size_t max_record_;
  std::array<std::byte, RecordMark::kSize> mark_{};
  std::size_t mark_have_ = 0;
  std::size_t rest_ = 0;  // of the fragment; only once its mark is known
  bool last_ = false;
  bool in_record_ = false;  // at least one mark of it is known
  std::size_t record_bytes_ = 0;
  unsigned empty_fragments_ = 0;
  UndumpedBytes stage_{kStage};
  std::size_t stage_begin_ = 0;
  std::size_t stage_end_ = 0;
  bool drained_ = false;
  std::uint64_t position_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t fragments_ = 0;
  int error_ = 0;
  const char* what_ = "";
};

}  // namespace nfsrdma::tcp
