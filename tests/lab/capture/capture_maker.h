// Makes captures for tests, packet by packet: what no peer here would send.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/lab/capture/wire.h"
#include "transport/capture/tcp_segment.h"
#include "transport/rdma/header.h"

namespace nfsrdma::lab::test {

using Bytes = std::vector<std::byte>;
void append(Bytes& to, std::span<const std::byte> bytes);
void append_words(Bytes& to, std::initializer_list<std::uint32_t> words);

/// How a pcap file is written.
struct FileForm {
  int link_type = 1;  ///< DLT_EN10MB
  bool nanoseconds = false;
  bool other_byte_order = false;
  bool vlan = false;
};

/// A pcap file in memory.
class CaptureMaker {
 public:
  explicit CaptureMaker(FileForm form = {});
  /// An IPv4 packet; each is a microsecond later.
  void add(std::span<const std::byte> packet);
  const Bytes& bytes() const { return bytes_; }
  std::size_t frames() const { return frames_; }

 private:
  void number(std::uint32_t value, std::size_t width);

  FileForm form_;
  Bytes bytes_;
  std::uint32_t frames_ = 0;
};

/// One TCP connection from port 1000 of 192.0.2.1 to 20049 of 192.0.2.2.
class TcpMaker {
 public:
  /// Writes the handshake. `file` outlives it.
  explicit TcpMaker(CaptureMaker& file, std::uint16_t client_port = 1000);
  void send(Side from, std::span<const std::byte> bytes);
  /// The bytes go over the wire and not into the capture.
  void lose(Side from, std::span<const std::byte> bytes);
  void close();

 private:
  void segment(Side from, std::uint8_t flags, std::span<const std::byte> bytes, bool lost);

  CaptureMaker& file_;
  capture::End ends_[2];
  std::uint32_t next_[2] = {0xffffff00, 7000};  // the client's soon wraps
};

/// iWARP on it. What is sent is right but for what a test changes.
class IwarpMaker {
 public:
  struct Terms {
    bool client_invalidation = true;  ///< R
    bool server_invalidation = true;
    bool markers = false;
    bool crc = true;
  };
  /// Writes handshake and startup frames; both sides say 4096 bytes.
  explicit IwarpMaker(CaptureMaker& file) : IwarpMaker(file, Terms()) {}
  IwarpMaker(CaptureMaker& file, const Terms& terms);

  /// One DDP segment.
  void segment(Side from, const iwarp::DdpHeader& header, std::span<const std::byte> payload);
  void send(Side from, std::span<const std::byte> message,
            std::optional<std::uint32_t> invalidated = {});
  void write(Side from, Place to, std::span<const std::byte> data);
  void read_request(Side from, const iwarp::ReadRequest& request);
  void read_response(Side from, Place to, std::span<const std::byte> data);
  void terminate(Side from);

  TcpMaker tcp;
  bool wrong_crc = false;                            ///< of the next FPDU
  bool lost = false;                                 ///< the next FPDU is not captured
  std::uint32_t msn[2][3] = {{1, 1, 1}, {1, 1, 1}};  ///< by Side and queue: the next

 private:
  Terms terms_;
  std::uint64_t position_[2] = {0, 0};
};

/// The header of an RDMA_MSG.
Bytes rpc_message(std::uint32_t xid, const rdma::ChunkLists& chunks, std::uint32_t credits);
/// Calls and replies of NFSv4 NULL.
Bytes null_call(std::uint32_t xid, const rdma::ChunkLists& chunks = {}, std::uint32_t credits = 32);
Bytes null_reply(std::uint32_t xid, const rdma::ChunkLists& chunks = {},
                 std::uint32_t credits = 32);
/// One Write chunk, of one segment.
rdma::ChunkLists write_chunk(std::uint32_t handle, std::uint32_t length, std::uint64_t offset = 0);
/// One Read chunk, of one segment, at this Position.
rdma::ChunkLists read_chunk(std::uint32_t position, std::uint32_t handle, std::uint32_t length);

}  // namespace nfsrdma::lab::test
