// A pcapng file of raw IP packets (draft-ietf-opsawg-pcapng: Section Header, Interface Description
// and Enhanced Packet blocks).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "transport/base/result.h"

namespace nfsrdma::capture {

/// Any thread may add packets.
class PcapngFile {
 public:
  /// Mode 0600; empties a file of the user. Neither symbolic links nor others' files.
  static Result<std::unique_ptr<PcapngFile>> create(const std::string& path);

  /// One packet with the current time, concatenated from its parts.
  void add_packet(std::span<const std::span<const std::byte>> parts);
  void flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  PcapngFile(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  void write_file_header();
  void write(const void* data, std::size_t size);
  void check();

  std::mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  bool broken_ = false;  // a write failed: nothing more is written
};

}  // namespace nfsrdma::capture
