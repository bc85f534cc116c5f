// FPDUs of MPA out of a stream, with or without markers (RFC 5044 section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/lab/capture/packet_file.h"

namespace nfsrdma::lab {

struct Fpdu {
  std::vector<std::byte> ulpdu;
  bool crc_wrong = false;  ///< only judged where CRCs are in use
};

/// Whether an FPDU of DDP can begin like this: for finding the place again in a stream that has
/// gaps. Few other bytes do.
bool begins_like_fpdu(std::span<const std::byte> bytes);

class FpduParser {
 public:
  /// `markers`: the stream has them, counted from its first byte.
  FpduParser(bool markers, bool crc) : markers_(markers), crc_(crc) {}

  void add(std::span<const std::byte> bytes) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  /// Forgets what is incomplete: the next bytes begin an FPDU. Streams with markers are lost then,
  /// since their places are.
  void restart() {
    pending_.clear();
    begin_ = 0;
  }
  /// The next whole FPDU, or nothing until there is more.
  std::optional<Fpdu> next();

 private:
  void consume(std::size_t raw);
  std::optional<std::size_t> raw_length(std::size_t clean) const;
  std::vector<std::byte> without_markers(std::size_t raw) const;
  bool crc_matches(std::span<const std::byte> clean, std::size_t raw) const;

  bool markers_;
  bool crc_;
  std::span<const std::byte> pending() const { return std::span(pending_).subspan(begin_); }

  std::uint64_t position_ = 0;  // of pending() in the stream
  std::vector<std::byte> pending_;
  std::size_t begin_ = 0;  // what is before it was handed out
};

}  // namespace nfsrdma::lab
