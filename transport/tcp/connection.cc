#include "transport/tcp/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include <fmt/format.h>

#include "transport/base/log.h"

namespace nfsrdma::tcp {
namespace {

constexpr const char* kConnectStep = "connect";
constexpr const char* kStep = "TCP connection";
/// Reads of the socket before other descriptors get their turn.
constexpr int kReadsPerTurn = 64;
/// A record is at most a message that fits a large slot and a payload of as many bytes again.
constexpr std::size_t kLargestParts = 2;

}  // namespace

Connection::Connection(Reactor& reactor, const Options& options, Pools& pools, Counters& counters,
                       rpc::ChannelObserver& observer)
    : counters_(counters),
      pools_(pools),
      observer_(observer),
      patience_(reactor,
                [this] { link_.end(net::socket_error(ETIMEDOUT, kConnectStep, server_.text())); }),
      link_(reactor, options, counters, *this),
      requester_(link_, pools),
      backward_(link_, pools, observer),
      receive_path_(*this, pools, counters),
      reader_(receive_path_, kLargestParts * pools.large.slot_size()),
      resume_(reactor,
              [this] {
                if (link_.ending()) return;
                link_.listen(true);
                receive();
              }),
      go_down_(reactor, [this] { go_down(); }) {}

Connection::~Connection() {
  if (connecting_) link_.reactor().unwatch(connecting_.get());
}

Result<void> Connection::connect(const net::Address& server) {
  server_ = server;
  auto fd = net::make_socket(server.storage.ss_family);
  if (!fd) return fail_from(fd);
  connecting_ = std::move(*fd);
  if (::connect(connecting_.get(), server.get(), server.length) != 0 && errno != EINPROGRESS) {
    return fail(net::socket_error(errno, kConnectStep, server.text()));
  }
  patience_.arm(link_.options().connect_timeout);
  return link_.reactor().watch(connecting_.get(), EPOLLOUT, *this);
}

void Connection::on_ready(std::uint32_t events) {
  if (link_.ending()) return;
  if (connecting_) return on_connected();
  if (!link_.listening() && (events & (EPOLLHUP | EPOLLERR)) != 0) {
    // Reading would find it, but waits for memory; the events come whether asked for or not.
    return link_.end(net::socket_error(ECONNRESET, kStep));
  }
  if ((events & EPOLLOUT) != 0) link_.flush();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive();
}

void Connection::on_connected() {
  patience_.cancel();
  link_.reactor().unwatch(connecting_.get());
  if (const int error = net::connect_outcome(connecting_.get()); error != 0) {
    return link_.end(net::socket_error(error, kConnectStep, server_.text()));
  }
  if (auto attached = attach(); !attached) return link_.end(std::move(attached.error()));
  counters_.connections.add();
  limits_ = {.max_backward_call = link_.options().message_size,
             .max_backward_reply = link_.options().message_size,
             .max_backward_calls = link_.options().backward_calls};
  counters_.connection_lines.info(link_.reactor().now(), "connected: tcp, {}", server_.text());
  observer_.on_channel_up();
}

Result<void> Connection::attach() {
  std::unique_ptr<capture::Flow> flow;
  if (auto* sink = link_.options().capture) {
    const net::Address local = net::local_address(connecting_.get());
    flow = sink->open_flow(*local.get(), *server_.get(), true, capture::Carried::records);
  }
  return link_.attach(
      std::make_unique<net::TcpStream>(std::move(connecting_), counters_, std::move(flow)), *this);
}

void Connection::receive() {
  const auto fragments = reader_.fragments();
  ReadStatus status = ReadStatus::more;
  for (int i = 0; i < kReadsPerTurn && status == ReadStatus::more && !link_.ending(); ++i) {
    status = reader_.read(link_.stream());
  }
  counters_.fragments.add(reader_.fragments() - fragments);
  if (link_.ending()) return;
  switch (status) {
    case ReadStatus::more: return resume_.schedule();  // epoll does not report staged bytes
    case ReadStatus::drained: return;
    case ReadStatus::no_place: counters_.receive_pauses.add(); return link_.listen(false);
    case ReadStatus::end: return on_end_of_stream();
    case ReadStatus::failed: return link_.end(net::socket_error(reader_.error(), kStep));
    case ReadStatus::violated: return on_violation();
  }
}

void Connection::on_violation() {
  counters_.bad_records.add();
  counters_.bad_record_lines.warning(link_.reactor().now(), "{}: {} at stream byte {}",
                                     server_.text(), reader_.what(), reader_.position());
  if (receive_path_.in_callback()) return link_.end(net::callback_error(reader_.what()));
  requester_.blame(receive_path_.current());
  link_.end(protocol_error("RPC record", reader_.what()));
}

void Connection::on_end_of_stream() {
  std::string detail;
  if (!reader_.between_records()) {
    detail = fmt::format("in the middle of a record, at stream byte {}", reader_.position());
  }
  link_.end(Error{Layer::fabric, static_cast<int>(net::Fault::closed), kStep, detail});
}

void Connection::on_reply(CallContext& context, Received reply) {
  requester_.on_reply(context, std::move(reply));
}

void Connection::on_call(std::uint32_t xid, Received call) {
  backward_.on_call(xid, std::move(call));
}

void Connection::on_link_ending(const Error& reason) {
  patience_.cancel();
  resume_.cancel();
  if (connecting_) link_.reactor().unwatch(connecting_.get());
  observer_.on_channel_closing(reason);
  go_down_.schedule();
}

void Connection::go_down() {
  link_.close();
  connecting_.reset();
  receive_path_.clear();
  backward_.on_down();
  requester_.on_down();
  requester_.tell_failed();
  observer_.on_channel_down(link_.reason());
}

void Connection::visit_counters(CounterVisitor& visitor) const {
  counters_.visit(visitor);
  visitor.visit("calls_open", requester_.open_calls());
  visitor.visit("calls_in_flight", requester_.in_flight());
  visitor.visit("call_contexts_in_use", pools_.contexts->in_use());
  visitor.visit("messages_held", pools_.messages->in_use());
  visitor.visit("callbacks_open", backward_.open_calls());
}

}  // namespace nfsrdma::tcp
