// One iWARP connection that passes through a middleman.
#pragma once

#include "tests/hostile/iwarp_middleman.h"

namespace nfsrdma::hostile {

class IwarpConversation final : public Conversation {
 public:
  /// Sinks of the Read Requests that an attack makes. The server's own are below.
  static constexpr std::uint32_t kAllowedSink = 0xa110ced1;
  static constexpr std::uint32_t kForbiddenSink = 0xf0bb1dde;

  IwarpConversation(IwarpMiddleman& man, Wire& wire) : man_(man), wire_(wire) {}

  void from_client(std::span<const std::byte> bytes) override;
  void from_server(std::span<const std::byte> bytes) override;

  /// To the client, with the number that comes next if it asks for that.
  void emit(wire::Segment segment);
  void emit(std::span<const std::byte> bytes) {
    if (!silent_) wire_.to_client(bytes);
  }
  void silence() { silent_ = man_.silent_ = true; }
  void reset() { wire_.reset(); }
  void finish() { wire_.finish_client(); }
  IwarpMiddleman& man() { return man_; }

 private:
  static constexpr std::size_t kQueues = 3;

  /// Passes the MPA frame on when it is whole; false: it is not.
  bool pass_startup(Frame& stream, bool of_server);
  void on_call(const wire::Parsed& message);
  void on_segment(wire::Segment segment);
  Offer* offer_with(std::uint32_t stag);
  Offer* offer_of(std::uint32_t xid);

  IwarpMiddleman& man_;
  Wire& wire_;
  bool client_started_ = false;
  bool server_started_ = false;
  bool silent_ = false;
  Frame client_stream_;
  Frame server_stream_;
  std::array<std::uint32_t, kQueues> next_{1, 1, 1};
  std::uint32_t writing_xid_ = 0;
  std::size_t writes_ = 0;
};

}  // namespace nfsrdma::hostile
