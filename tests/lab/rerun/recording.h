// A recording of a mount, read.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/base/result.h"
#include "transport/journal/entry.h"

namespace nfsrdma::lab::rerun {

/// Bytes of an entry's body at most.
inline constexpr std::size_t kLongestBody = std::size_t{16} << 20;

/// As in "call", for people; empty for a value that no kind has.
std::string_view kind_name(journal::Kind kind);
/// It begins work.
constexpr bool is_input(journal::Kind kind) {
  return kind >= journal::Kind::entered && kind <= journal::Kind::name_found;
}

struct Entry {
  journal::Kind kind{};
  bool nested = false;
  TimePoint time{0};
  std::span<const std::byte> body;  ///< a view of the recording
};

/// How the mount was made.
struct Head {
  std::string version;  ///< lines
  std::string source;
  std::string mount_point;
  std::vector<std::string> items;  ///< options
};

/// Its entries view `bytes`: not copied, and not moved before they are made.
struct Recording {
  std::vector<std::byte> bytes;
  Head head;
  std::vector<Entry> entries;  ///< without the head
  bool begun = false;          ///< it begins with the mount, not later (record_last=)
  bool ended = false;          ///< the mount has ended in order
  bool cut = false;  ///< what follows is no entry: the daemon was killed, or it is damaged
};

/// Takes a recording apart. Fails where it is none; what is cut off at its end is left out.
Result<Recording> read_recording(std::vector<std::byte> bytes);
/// The same of a file.
Result<Recording> read_recording(const std::string& path);
/// An error where a recording cannot be run, for it begins in the midst of the mount; it says what
/// can be done with it.
Result<void> check_begun(const Recording& recording);

}  // namespace nfsrdma::lab::rerun
