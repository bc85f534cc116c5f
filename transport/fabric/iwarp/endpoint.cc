#include "transport/fabric/iwarp/endpoint.h"

#include <fmt/core.h>
#include <sys/epoll.h>

#include <algorithm>
#include <limits>

namespace nfsrdma::fabric::iwarp {
namespace {

/// Reads of the socket before other descriptors get their turn.
constexpr int kReadsPerTurn = 32;
/// Posted bytes that are not kept until the end of the turn: the peer can work on them meanwhile.
constexpr std::uint64_t kFlushEarly = 256 * 1024;

}  // namespace

IwarpEndpoint::IwarpEndpoint(Reactor& reactor, std::shared_ptr<StagTable> stags,
                             EndpointHandler& handler)
    : reactor_(reactor),
      stags_(std::move(stags)),
      handler_(handler),
      reads_(stags_->random()),
      receive_path_(this, *stags_, reads_, inbound_, counters_, *this),
      reader_(receive_path_, counters_),
      transmitter_(sends_, reads_, inbound_, counters_),
      turn_(reactor, [this] { turn(); }),
      hold_timer_(reactor, [this] { turn(); }),
      close_timer_(reactor, [this] { finish(); }),
      peer_probe_(reactor, [this] { send_peer_probe(); }) {}

IwarpEndpoint::~IwarpEndpoint() { release_everything(); }

Result<void> IwarpEndpoint::connect(const Address& peer, Terms terms,
                                    const EndpointOptions& options,
                                    std::shared_ptr<PeerQuirks> quirks) {
  quirks_ = std::move(quirks);
  if (quirks_->misjudges_crc) terms.crc = false;
  Initiator::Owner& owner = *this;
  initiator_ = std::make_unique<Initiator>(reactor_, owner, counters_, peer, std::move(terms),
                                           options.capture);
  return initiator_->start(options.connect_timeout);
}

Result<void> IwarpEndpoint::adopt(UniqueFd socket, std::unique_ptr<capture::Flow> flow,
                                  std::span<const std::byte> reply, const Agreement& agreement) {
  stream_ = std::make_unique<net::TcpStream>(std::move(socket), counters_, std::move(flow));
  configure(agreement);
  transmitter_.send_startup(reply);
  transmitter_.hold(true);
  phase_ = Phase::open;
  TRY(reactor_.watch(stream_->fd(), EPOLLIN, *this));
  turn_.schedule();
  return {};
}

void IwarpEndpoint::configure(const Agreement& agreement) {
  peer_ = net::peer_address(stream_->fd()).text();
  reads_.set_limit(agreement.ord);
  inbound_.set_limit(agreement.ird);
  reader_.use_crc(agreement.crc);
  const std::size_t segment = net::maximum_segment(stream_->fd());
  const std::size_t limit = agreement.max_segment == 0 ? segment : agreement.max_segment;
  transmitter_.configure(largest_ulpdu(std::min(segment, limit)), agreement.crc);
}

void IwarpEndpoint::on_connected(std::unique_ptr<net::TcpStream> stream, const Agreement& agreement,
                                 const StartupFrame& reply) {
  stream_ = std::move(stream);
  configure(agreement);
  phase_ = Phase::open;
  if (auto watched = reactor_.watch(stream_->fd(), EPOLLIN, *this); !watched) {
    return on_connect_failed(std::move(watched.error()));
  }
  const std::string description = fmt::format("iwarp MPA {}, {}, {}", agreement.revision,
                                              agreement.crc ? "CRC" : "no CRC", peer_);
  handler_.on_established(
      ConnectionInfo{reply.private_data, agreement.ord, agreement.ird, description});
}

void IwarpEndpoint::on_connect_failed(Error reason) {
  reason_ = std::move(reason);
  finish();
}

Result<void> IwarpEndpoint::check_open() const {
  if (phase_ == Phase::open) return {};
  if (phase_ == Phase::connecting) {
    return fail(connection_error(Fault::resources, "not connected yet"));
  }
  return fail(reason_);
}

Result<void> IwarpEndpoint::post_receive(ReceiveBuffer& buffer) {
  if (phase_ >= Phase::closing) return fail(reason_);
  receive_path_.post(buffer);
  return {};
}

Result<void> IwarpEndpoint::post_send(const SendWork& work) {
  TRY(check_open());
  TRY(sends_.post_send(work));
  if (!work.comment.empty()) stream_->comment(work.comment);
  for (Lease* lease : work.leases) stags_->bind(this, *lease);
  counters_.sends.add();
  if (initiator_) peer_probe_.expect_answer();
  if (sends_.waiting_bytes() >= kFlushEarly) flush();
  if (work.pace == net::Pace::unhurried && !turn_.scheduled()) {
    if (!hold_timer_.armed()) hold_timer_.arm(net::kLongestHold);
  } else if (!in_event_) {
    turn_.schedule();
  }
  return {};
}

void IwarpEndpoint::hurry() {
  if (phase_ == Phase::open && hold_timer_.armed()) turn_.schedule();
}

Result<void> IwarpEndpoint::post_write(std::span<const std::span<const std::byte>> pieces,
                                       const Segment& to) {
  TRY(check_open());
  TRY(sends_.post_write(pieces, to));
  counters_.writes_posted.add();
  if (!in_event_) turn_.schedule();
  return {};
}

Result<void> IwarpEndpoint::post_read(std::span<std::byte> into, const Segment& from,
                                      void* context) {
  TRY(check_open());
  TRY(reads_.post(into, from, context));
  counters_.reads_posted.add();
  if (!in_event_) turn_.schedule();
  return {};
}

Result<void> IwarpEndpoint::prepare(Lease& lease, std::span<std::byte> memory, Access access) {
  if (phase_ >= Phase::closing) return fail(reason_);
  TRY(stags_->prepare(this, lease, memory, access));
  counters_.leases.add();
  return {};
}

void IwarpEndpoint::cancel(Lease& lease) { stags_->cancel(this, lease); }

bool IwarpEndpoint::invalidate(Lease& lease) {
  if (lease.state == LeaseState::bound && stags_->is_open(lease)) {
    counters_.invalidations_local.add();
  }
  return stags_->invalidate(this, lease);
}

void IwarpEndpoint::on_ready(std::uint32_t events) {
  in_event_ = true;
  const bool readable = (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
  if (readable && phase_ == Phase::open) receive();
  if (readable && phase_ == Phase::closing && !finishing_) drain();
  in_event_ = false;
  turn();
}

void IwarpEndpoint::receive() {
  // What the reader has staged must be worked on in this turn: epoll does not report it.
  // After a reset there is no other turn, and no more comes.
  const int most = write_error_ == 0 ? kReadsPerTurn : std::numeric_limits<int>::max();
  for (int reads = 0; phase_ == Phase::open && (reads < most || reader_.staged());) {
    if (!reader_.staged()) ++reads;
    switch (reader_.read(*stream_)) {
      case ReadStatus::more: break;
      case ReadStatus::drained: return;
      case ReadStatus::end: return stream_ended();
      case ReadStatus::failed: return stream_failed(reader_.error());
      case ReadStatus::violated: return violated(reader_.violation());
    }
  }
}

void IwarpEndpoint::turn() {
  if (phase_ == Phase::closed) return;
  if (phase_ == Phase::open || phase_ == Phase::closing) flush();
  if (write_error_ != 0 && phase_ == Phase::open) receive_last_words();
  complete();
  if (finishing_) finish();
}

void IwarpEndpoint::flush() {
  if (!stream_ || finishing_ || write_error_ != 0) return;
  switch (transmitter_.flush(*stream_)) {
    case FlushStatus::blocked: return watch_for_write(true);
    case FlushStatus::failed: return write_failed(transmitter_.error());
    case FlushStatus::more: return turn_.schedule();
    case FlushStatus::idle: break;
  }
  watch_for_write(false);
  if (phase_ == Phase::closing && !write_finished_) {
    write_finished_ = true;
    stream_->finish_writing();
  }
}

void IwarpEndpoint::watch_for_write(bool wanted) {
  if (wanted == watching_write_) return;
  watching_write_ = wanted;
  const std::uint32_t events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (auto changed = reactor_.modify(stream_->fd(), events, *this); !changed) {
    finish_soon(std::move(changed.error()));
  }
}

void IwarpEndpoint::complete() {
  InboundRead read;
  while (inbound_.take_written(read)) {
    if (read.lease == StagTable::kNoIndex) continue;
    Lease* released = stags_->unpin(read.lease);
    if (released != nullptr) invalidated_.push(released);
  }
  while (!invalidated_.empty() && phase_ != Phase::closed) {
    Lease& lease = *invalidated_.front();
    invalidated_.pop();
    stags_->finish_invalidating(this, lease);
    handler_.on_invalidated(lease);
  }
  SendEntry entry;
  while (phase_ == Phase::open && sends_.take_completed(entry)) {
    if (entry.opcode != Opcode::rdma_write) handler_.on_send_done(entry.context);
  }
}

void IwarpEndpoint::on_first_fpdu() {
  peer_probe_.stop();
  transmitter_.hold(false);
}

// No memory is named, and the peer's consumer sees nothing of it (RFC 5040 section 5.1).
void IwarpEndpoint::send_peer_probe() {
  if (phase_ != Phase::open || !sends_.post_write({}, Segment{})) return;
  counters_.peer_probes.add();
  turn_.schedule();
}

void IwarpEndpoint::on_message(ReceiveBuffer& buffer, std::size_t length,
                               std::optional<std::uint32_t> invalidated) {
  handler_.on_receive(buffer, length, invalidated);
}

void IwarpEndpoint::on_read_done(void* context) { handler_.on_read_done(context); }

void IwarpEndpoint::on_lease_released(Lease& lease) { invalidated_.push(&lease); }

}  // namespace nfsrdma::fabric::iwarp
