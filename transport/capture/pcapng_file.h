// A pcapng file of raw IP packets (draft-ietf-opsawg-pcapng: Section Header, Interface Description
// and Enhanced Packet blocks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "transport/base/metrics.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::capture {

/// A file for a capture, empty, mode 0600. A capture holds the data of all users: refuses another
/// user's file, a symbolic link and a second name of another file, which would disclose or
/// overwrite data, and a pipe, which would block.
Result<UniqueFd> open_capture_file(const std::string& path);

/// Nanoseconds since 1970.
using Clock = std::function<std::int64_t()>;
std::int64_t wall_clock();

/// Any thread may add packets.
class PcapngFile {
 public:
  /// Of open_capture_file(). `clock` tells the time of each packet.
  static Result<std::unique_ptr<PcapngFile>> create(const std::string& path,
                                                    Clock clock = wall_clock);
  /// Of a file that is open for writing; `path` is for messages.
  static Result<std::unique_ptr<PcapngFile>> create(UniqueFd file, const std::string& path,
                                                    Clock clock = wall_clock);

  /// One packet, concatenated from its parts.
  void add_packet(std::span<const std::span<const std::byte>> parts);
  void flush();
  /// Packets added so far. Any thread.
  std::uint64_t packets() const { return packets_.value(); }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  PcapngFile(std::FILE* file, std::string path, Clock clock)
      : file_(file), path_(std::move(path)), clock_(std::move(clock)) {}
  void write_file_header();
  void write(const void* data, std::size_t size);
  void check();

  std::mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  const Clock clock_;
  Counter packets_;
  bool broken_ = false;  // a write failed: nothing more is written
};

}  // namespace nfsrdma::capture
