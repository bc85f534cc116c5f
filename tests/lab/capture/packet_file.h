// The packets of a capture file, pcap or pcapng, in either byte order, with micro- or nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "transport/base/result.h"

struct pcap;

namespace nfsrdma::lab {

/// Where something is in a capture. Frames count from 1, as Wireshark shows them.
struct Moment {
  std::uint64_t frame = 0;
  std::int64_t ns = 0;  ///< since 1970
};

/// `bytes` is what the file has of it, which may be less than went over the wire; valid until the
/// next packet is read.
struct Packet {
  Moment at;
  std::span<const std::byte> bytes;
  bool cut = false;
};

/// Reads a file from front to back. Libpcap reads it, so that whatever tcpdump writes is understood
/// and lengths are checked by a library that many programs use.
class PacketFile {
 public:
  /// Errors say what is wrong with the file.
  static Result<std::unique_ptr<PacketFile>> open(const std::string& path);
  /// Takes `file` over; `name` is for messages.
  static Result<std::unique_ptr<PacketFile>> open(std::FILE* file, const std::string& name);

  /// Nothing at the end of the file. An error: it is damaged from here on.
  Result<std::optional<Packet>> next();
  /// DLT_ of pcap(3).
  int link_type() const { return link_type_; }

 private:
  struct Close {
    void operator()(pcap* handle) const;
  };

  PacketFile(pcap* handle, std::string name);

  std::unique_ptr<pcap, Close> handle_;
  std::string name_;
  int link_type_;
  std::uint64_t frames_ = 0;
};

}  // namespace nfsrdma::lab
