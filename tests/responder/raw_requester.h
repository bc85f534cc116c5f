// A requester for tests: sends hand-made bytes and shows the replies. It follows no protocol rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/header.h"
#include "transport/rdma/private_data.h"

namespace nfsrdma::responder {

using Bytes = std::vector<std::byte>;

/// A message that arrived.
struct Arrived {
  Bytes bytes;
  std::optional<std::uint32_t> invalidated;
};

/// Memory exposed to the responder for as long as the connection lives.
class Exposed {
 public:
  std::span<std::byte> memory() { return buffer_; }
  const fabric::Segment& segment() const { return lease_.segment; }
  /// A part of it.
  fabric::Segment part(std::uint32_t offset, std::uint32_t length) const {
    return {lease_.segment.handle, length, lease_.segment.offset + offset};
  }

 private:
  friend class RawRequester;
  Bytes buffer_;
  fabric::Lease lease_;
};

/// One connection. Single-threaded: run the reactor with a Rig (responder_rig.h) in between.
class RawRequester final : public fabric::EndpointHandler {
 public:
  /// Connects at once; without `private_data` the responder must assume 1024 bytes.
  RawRequester(fabric::Fabric& fabric, const fabric::Address& server,
               const std::optional<rdma::PrivateData>& private_data, std::size_t receives);
  ~RawRequester() override;

  fabric::Endpoint& endpoint() { return *endpoint_; }
  bool up() const { return established_ && !down(); }
  bool down() const { return down_.has_value(); }
  const Error& reason() const { return *down_; }
  /// The responder's private data.
  const rdma::PrivateData& server_data() const { return server_data_; }

  Exposed& expose(std::size_t size, fabric::Access access, std::byte fill = std::byte{0});
  void send(std::span<const std::byte> bytes);
  /// Frees the oldest arrived message.
  Arrived take();
  std::size_t arrived() const { return arrived_.size(); }

  // EndpointHandler
  void on_established(const fabric::ConnectionInfo& info) override;
  void on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t> invalidated) override;
  void on_send_done(void* context) override;
  void on_invalidated(fabric::Lease&) override {}
  void on_read_done(void*) override {}
  void on_disconnected(const Error& reason) override;

 private:
  struct Receive : fabric::ReceiveBuffer {
    Bytes bytes;
  };
  struct Send {
    Bytes bytes;
  };

  std::deque<std::unique_ptr<Exposed>> exposed_;
  std::deque<std::unique_ptr<Receive>> receives_;
  std::deque<std::unique_ptr<Send>> sends_;
  std::unique_ptr<fabric::Endpoint> endpoint_;
  std::deque<Arrived> arrived_;
  rdma::PrivateData server_data_;
  bool established_ = false;
  std::optional<Error> down_;
};

}  // namespace nfsrdma::responder
