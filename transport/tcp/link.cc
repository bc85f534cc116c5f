#include "transport/tcp/link.h"

#include <sys/epoll.h>

namespace nfsrdma::tcp {
namespace {

/// So many bytes are not kept until the end of the turn: the peer can work on them meanwhile.
constexpr std::size_t kSendAtOnce = 64 * 1024;

}  // namespace

Link::Link(Reactor& reactor, const Options& options, Counters& counters, LinkObserver& observer)
    : reactor_(reactor),
      options_(options),
      counters_(counters),
      observer_(observer),
      end_soon_(reactor, [this] { end(std::move(*broken_)); }),
      turn_(reactor, [this] { send_gathered(); }),
      hold_timer_(reactor, [this] { send_gathered(); }) {}

Result<void> Link::attach(std::unique_ptr<net::TcpStream> stream, FdHandler& handler) {
  stream_ = std::move(stream);
  handler_ = &handler;
  reading_ = true;
  return reactor_.watch(stream_->fd(), EPOLLIN, handler);
}

void Link::post(Outgoing& message, net::Pace pace) {
  writer_.add(message);
  send_soon(pace);
}

void Link::post_urgent(Outgoing& message) {
  writer_.add_urgent(message);
  send_soon(net::Pace::prompt);
}

void Link::send_soon(net::Pace pace) {
  if (writing_) return counters_.partial_sends.add();
  if (writer_.waiting_bytes() >= kSendAtOnce) return send_gathered();
  if (pace == net::Pace::prompt) return turn_.schedule();
  if (!hold_timer_.armed()) hold_timer_.arm(net::kLongestHold);
}

void Link::hurry() {
  if (hold_timer_.armed()) turn_.schedule();
}

void Link::send_gathered() {
  if (ending() || writing_) return;
  flush();
  if (writing_) counters_.partial_sends.add(writer_.waiting());
}

void Link::flush() { take(writer_.flush(*stream_)); }

void Link::take(WriteStatus status) {
  if (status != WriteStatus::failed) return watch(reading_, status == WriteStatus::blocked);
  if (broken_) return;
  broken_ = net::socket_error(writer_.error(), "TCP connection");
  end_soon_.schedule();
}

void Link::listen(bool wanted) { watch(wanted, writing_); }

void Link::watch(bool read, bool write) {
  if (read == reading_ && write == writing_) return;
  reading_ = read;
  writing_ = write;
  const std::uint32_t events = (read ? EPOLLIN : 0U) | (write ? EPOLLOUT : 0U);
  auto changed = reactor_.modify(stream_->fd(), events, *handler_);
  if (changed || broken_) return;
  broken_ = std::move(changed.error());
  end_soon_.schedule();
}

void Link::end(Error reason) {
  if (ending()) return;
  reason_ = std::move(reason);
  if (stream_) reactor_.unwatch(stream_->fd());
  observer_.on_link_ending(*reason_);
}

void Link::close() {
  end_soon_.cancel();
  turn_.cancel();
  hold_timer_.cancel();
  writer_.clear();
  if (stream_) reactor_.unwatch(stream_->fd());
  stream_.reset();
}

}  // namespace nfsrdma::tcp
