// How a capture is written, whatever is recorded.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/base/reactor.h"

namespace nfsrdma::capture {

struct Form {
  std::size_t snap = 0;          ///< bytes of each packet that are kept, headers included; 0: all
  std::size_t files = 1;         ///< above one: a ring of so many
  std::uint64_t file_bytes = 0;  ///< about the size at which a ring goes on with its next file
  Duration patience{0};          ///< with another recording that still has a file, see kLastOwner
  std::string what;              ///< recorded, for people: the interface's description
};

/// How long a mount goes on having its files, which the next one is to have: umount(8) returns
/// before the program has saved everything and taken leave of the server.
inline constexpr Duration kLastOwner = std::chrono::seconds(15);

/// Most files of a ring, and the size of one unless the user gives another.
inline constexpr std::size_t kMostFiles = 64;
inline constexpr std::uint64_t kUsualFileBytes = std::uint64_t{64} << 20;

/// The names of a ring: a number stands before the ending, "wire-0.pcapng", with as many digits as
/// the last one needs. For one file its own.
std::vector<std::string> file_names(const std::string& path, std::size_t files);

}  // namespace nfsrdma::capture
