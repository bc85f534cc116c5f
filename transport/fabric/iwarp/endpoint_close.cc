// How a connection ends: by the peer, by a violation of the peer, by this side.
#include <fmt/core.h>

#include <cassert>
#include <cerrno>
#include <span>

#include "transport/base/log.h"
#include "transport/fabric/iwarp/endpoint.h"

namespace nfsrdma::fabric::iwarp {
namespace {

/// A closing connection reads its socket so often before other descriptors get their turn.
constexpr int kDrainsPerTurn = 32;
/// How long a closing connection waits for the peer to close its side, too.
constexpr Duration kCloseWait = std::chrono::milliseconds(500);

}  // namespace

void IwarpEndpoint::on_terminated(const TerminateCode& code) {
  if (quirks_ && code == terminate::kMpaCrcOfSiw && !quirks_->misjudges_crc) {
    quirks_->misjudges_crc = true;
    log::warning("iwarp {}: Linux siw misjudges CRCs; the next connection asks for none", peer_);
  }
  finish_soon(connection_error(Fault::remote_terminate, text(code)));
}

void IwarpEndpoint::violated(const Violation& violation) {
  Counter* layers[] = {&counters_.rdmap_errors, &counters_.ddp_errors, &counters_.mpa_errors};
  assert(violation.code.layer < std::size(layers));
  layers[violation.code.layer]->add();
  if (violation.fault == Fault::remote_access) counters_.access_errors.add();
  if (violation.fault == Fault::receive_too_small) counters_.receive_errors.add();
  if (quirks_) {
    quirks_->violation_lines.warning(reactor_.now(), "iwarp {}: {}", peer_, violation.detail);
  } else {
    log::warning("iwarp {}: {}", peer_, violation.detail);
  }

  std::optional<OffendingSegment> segment;
  // A frame with a wrong CRC or an impossible length has no header that could be quoted.
  if (violation.code.layer != kLayerMpa) {
    segment = reader_.segment();
    segment->rdmap = receive_path_.read_request_header();
  }
  transmitter_.terminate(encode_terminate(violation.code, segment));
  start_closing(connection_error(violation.fault, violation.detail));
}

void IwarpEndpoint::stream_ended() {
  if (write_error_ != 0) return stream_failed(write_error_);  // it says more than the end does
  const bool clean = reader_.between_fpdus();
  finish_soon(connection_error(
      Fault::closed,
      clean ? "" : fmt::format("in the middle of the FPDU at stream byte {}", reader_.position())));
}

void IwarpEndpoint::stream_failed(int error_number) {
  finish_soon(net::socket_error(error_number, "iwarp"));
}

void IwarpEndpoint::write_failed(int error_number) {
  if (phase_ != Phase::open) return stream_failed(error_number);
  write_error_ = error_number;
  if (!in_event_) turn_.schedule();
}

// A peer that closes with data unread resets the connection (RFC 1122 section 4.2.2.13). Its
// Terminate message, which tells why (RFC 5040 section 4.8), and its last answers came before; the
// kernel gives them out after the reset, too.
void IwarpEndpoint::receive_last_words() {
  in_event_ = true;
  receive();
  in_event_ = false;
  stream_failed(write_error_);
}

void IwarpEndpoint::disconnect(Error reason) {
  if (phase_ == Phase::connecting) {
    initiator_.reset();
    return finish_soon(std::move(reason));
  }
  start_closing(std::move(reason));
}

void IwarpEndpoint::start_closing(Error reason) {
  if (phase_ >= Phase::closing) return;
  phase_ = Phase::closing;
  reason_ = std::move(reason);
  close_timer_.arm(kCloseWait);
  if (!in_event_) turn_.schedule();
}

void IwarpEndpoint::finish_soon(Error reason) {
  if (phase_ == Phase::closed || finishing_) return;
  if (phase_ != Phase::closing) reason_ = std::move(reason);
  phase_ = Phase::closing;
  finishing_ = true;
  if (!in_event_) turn_.schedule();
}

void IwarpEndpoint::drain() {
  const std::span<std::byte> scratch = reader_.unused();
  for (int round = 0; round < kDrainsPerTurn; ++round) {
    iovec into{scratch.data(), scratch.size()};
    const ssize_t got = stream_->read({&into, 1});
    if (got == -EAGAIN) return;
    if (got <= 0) return finish_soon(reason_);
  }
}

void IwarpEndpoint::finish() {
  if (phase_ == Phase::closed) return;
  release_everything();
  handler_.on_disconnected(reason_);
}

void IwarpEndpoint::release_everything() {
  phase_ = Phase::closed;
  turn_.cancel();
  hold_timer_.cancel();
  close_timer_.cancel();
  peer_probe_.stop();
  if (stream_) reactor_.unwatch(stream_->fd());
  stream_.reset();
  transmitter_.clear();
  sends_.clear();
  reads_.clear();
  inbound_.clear();
  invalidated_.clear();
  stags_->release_all(this);
  receive_path_.release_buffers();
}

}  // namespace nfsrdma::fabric::iwarp
