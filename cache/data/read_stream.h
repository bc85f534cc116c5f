// The pieces read ahead of one open file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cache/data/read_pattern.h"
#include "cache/data/read_piece.h"
#include "cache/data/read_window.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/sync/in_flight_set.h"

namespace nfsrdma::cache {

class File;

/// One for each open(2) that has been read in a pattern. As a list node it stands among those of
/// the mount, the one that was read least recently first. Belongs to one shard.
class ReadStream : public ListNode {
 public:
  /// Of `file`, which owns it. At most `most` pieces.
  ReadStream(Reactor& reactor, File& file, std::size_t most);

  File& file() const { return file_; }
  InFlightSet& reading() { return reading_; }  ///< READs in flight
  bool empty() const { return pieces_.empty(); }
  std::size_t pieces() const { return pieces_.size(); }
  /// Bytes that the program has asked for, so far.
  std::uint64_t taken() const { return taken_; }
  /// How often something was dropped: a piece that was found before the number grew may be gone.
  std::uint64_t drops() const { return drops_; }
  TimePoint last_used() const { return last_used_; }
  ReadWindow& window() { return window_; }

  /// Notes that the program has asked for these bytes, in the name of `by`, and reads in this
  /// pattern. Drops pieces that it has passed and pieces outside the pattern.
  void follow(const ReadPattern& pattern, std::uint64_t offset, std::size_t size,
              const client::StateRef& by, TimePoint now, std::size_t most_bytes);

  /// The next READ to send, if any: `most` bytes at most, nothing behind `file_end`.
  struct Wanted {
    std::uint64_t offset = 0;
    std::size_t length = 0;
  };
  std::optional<Wanted> next(const ReadPattern& pattern, std::size_t most,
                             std::uint64_t file_end) const;
  void add(ReadPieceRef piece);
  /// The stream is new, and this piece has been read already, in the name of `by`.
  void begin_with(ReadPieceRef piece, client::StateRef by, TimePoint now);

  /// The piece that has this byte, or will have it; null when there is none.
  ReadPiece* find(std::uint64_t byte) const;
  /// A program has had bytes of the piece: it goes when that is all of them.
  void used(ReadPiece& piece, std::size_t bytes);
  /// A reader has waited for the piece.
  void waited_for(const ReadPiece& piece, TimePoint now);

  /// These bytes of the file have changed: drops the pieces that hold them.
  void drop(std::uint64_t begin, std::uint64_t end);
  void drop_all();
  /// Drops this piece: it is useless.
  void forget(const ReadPiece& piece);
  /// Makes room: the piece that is needed last of those that have arrived. False: there is none.
  bool drop_last();
  /// Nothing is read ahead until the next run of reads.
  void stop() { stopped_ = true; }

 private:
  template <class Which>
  void drop_if(Which&& which);
  std::optional<Wanted> next_sequential(const ReadPattern& pattern, std::size_t most) const;
  std::optional<Wanted> next_strided(const ReadPattern& pattern, std::size_t most) const;

  File& file_;
  InFlightSet reading_;
  std::vector<ReadPieceRef> pieces_;
  ReadWindow window_;
  client::StateRef by_;
  ReadPattern::Next mode_ = ReadPattern::Next::unknown;
  std::uint64_t front_ = 0;  ///< end of the bytes asked for so far
  std::uint64_t taken_ = 0;
  std::uint64_t drops_ = 0;
  std::size_t depth_ = 0;  ///< pieces to have ahead of a strided reader
  TimePoint last_used_{};
  bool stopped_ = false;
};

}  // namespace nfsrdma::cache
