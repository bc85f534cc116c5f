// Limits that the server and its session set for this mount.
#pragma once

#include <chrono>
#include <cstdint>

#include "client/proto/ops_session.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client {

/// Limits that this client asks for: upper bounds of everything negotiated.
struct RequestedLimits {
  std::uint32_t rsize = 0;  ///< bytes
  std::uint32_t wsize = 0;  ///< bytes
  std::uint32_t max_slots = 0;
};

/// The outcome of CREATE_SESSION and of the server's FATTR4_MAXREAD and relatives.
struct Limits {
  std::uint32_t rsize = 0;           ///< bytes of one READ
  std::uint32_t wsize = 0;           ///< bytes of one WRITE
  std::uint32_t max_request = 0;     ///< bytes of a request, RPC header included
  std::uint32_t max_response = 0;    ///< bytes of a reply, RPC header included
  std::uint32_t max_cached = 0;      ///< bytes of a reply the server keeps for a replay
  std::uint32_t max_operations = 0;  ///< of one COMPOUND, SEQUENCE included
  std::uint32_t max_requests = 0;    ///< slots
  Duration lease_time = std::chrono::seconds(90);

  /// Takes over the session's channel attributes (RFC 8881 section 18.36), within what was
  /// requested.
  void apply_session(const nfs4::channel_attrs4& fore, const RequestedLimits& requested);
  /// FATTR4_MAXREAD and FATTR4_MAXWRITE, bytes; 0: the server did not say. They hold for every
  /// session to come as well.
  void apply_file_system(std::uint64_t max_read, std::uint64_t max_write);

 private:
  void clip_to_file_system();

  std::uint64_t max_read_ = 0;
  std::uint64_t max_write_ = 0;
};

/// Bytes of a request or reply besides the data of a WRITE or READ.
inline constexpr std::uint32_t kMessageOverhead = 1024;
/// CREATE_SESSION's fore channel attributes for these requested.
nfs4::channel_attrs4 fore_channel_request(const RequestedLimits& requested);
/// Callbacks must fit the messages of the connection: with RDMA its inline thresholds (E-8267-13,
/// BD-14).
nfs4::channel_attrs4 back_channel_request(const rpc::ChannelLimits& limits);

/// Refuses limits above those of the request (E-8881-11), and limits too small to work with.
Result<void> check_fore_channel(const nfs4::channel_attrs4& asked,
                                const nfs4::channel_attrs4& granted);
/// Sizes may be lowered; operations and requests are the client's choice.
Result<void> check_back_channel(const nfs4::channel_attrs4& asked,
                                const nfs4::channel_attrs4& granted);

}  // namespace nfsrdma::client
