#include "tests/responder/transport/tcp_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tests/support/listening_socket.h"
#include "transport/base/log.h"
#include "transport/capture/sink.h"

namespace nfsrdma::responder {
namespace {

/// NFS4_CALLBACK (RFC 5662).
constexpr std::uint32_t kCallbackVersion = 1;
constexpr std::uint32_t kLastFragment = 0x8000'0000;
constexpr std::size_t kLeastMessage = 8;  // XID and message type
constexpr int kReadsPerTurn = 64;
/// Of one system call.
constexpr std::size_t kMostPieces = 64;
/// Replies of so many bytes are not kept until the end of the turn.
constexpr std::size_t kSendAtOnce = 64 * 1024;
/// After a shortage of descriptors or memory.
constexpr Duration kAcceptPause = std::chrono::seconds(1);

std::uint32_t word(std::span<const std::byte> bytes) { return xdr::Decoder(bytes).u32("word"); }

}  // namespace

std::array<std::byte, kRecordMarkBytes> record_mark(std::uint32_t length, bool last) {
  std::array<std::byte, kRecordMarkBytes> bytes;
  xdr::Encoder out{bytes};
  out.u32(last ? length | kLastFragment : length);
  return bytes;
}

TcpConnection::TcpConnection(Core& core, TcpCalls& calls, TcpConnectionOwner& owner,
                             std::uint64_t id, UniqueFd socket)
    : core_(core),
      pool_(calls),
      owner_(owner),
      id_(id),
      resume_(core.reactor, [this] { receive(); }),
      turn_(core.reactor, [this] { flush(); }),
      end_soon_(core.reactor, [this] { end(); }) {
  const net::Address peer = net::peer_address(socket.get());
  client_ = peer.text();
  std::unique_ptr<capture::Flow> flow;
  if (core.config.capture != nullptr) {
    const net::Address local = net::local_address(socket.get());
    flow =
        core.config.capture->open_flow(*local.get(), *peer.get(), false, capture::Carried::records);
  }
  stream_ = std::make_unique<net::TcpStream>(std::move(socket), stream_counters_, std::move(flow));
}

TcpConnection::~TcpConnection() { let_go(); }

/// After this nothing of the responder is touched, which may go before a connection that ended
/// does.
void TcpConnection::let_go() {
  if (!stream_) return;
  core_.reactor.unwatch(stream_->fd());
  BufferWaiter::unlink();
  const Error reason = Error::local(ECANCELED, "responder", "stopped");
  calls_.for_each([](TcpCall& call) { call.on_connection_lost(); });
  for (auto& [xid, done] : std::exchange(callbacks_, {})) done(fail(reason));
  core_.service.on_connection_closed(*this);
  record_.reset();
  stream_.reset();
}

Result<void> TcpConnection::start() { return core_.reactor.watch(stream_->fd(), EPOLLIN, *this); }

void TcpConnection::disconnect(const char* why) {
  if (closing_) return;
  // Replies made before this are sent.
  if (turn_.scheduled()) {
    turn_.cancel();
    flush();
  }
  if (std::exchange(closing_, true)) return;
  log::info("connection {} of {}: closing: {}", id_, client_, why);
  core_.reactor.unwatch(stream_->fd());
  end_soon_.schedule();
}

void TcpConnection::end() {
  core_.counters.disconnections.add();
  let_go();
  owner_.on_connection_ended(*this);
}

void TcpConnection::on_ready(std::uint32_t events) {
  if ((events & EPOLLOUT) != 0) flush();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive();
}

void TcpConnection::receive() {
  for (int i = 0; i < kReadsPerTurn && !closing_; ++i) {
    const auto into = wanted();
    if (closing_) return;
    if (into.empty()) {
      if (!BufferWaiter::linked()) core_.pools.data->wait(*this);
      core_.counters.waits_for_memory.add();
      return;
    }
    const ssize_t got = read(into);
    if (got == -EAGAIN) return;
    if (got <= 0) return disconnect(got == 0 ? "closed by the client" : "the connection broke");
    take(static_cast<std::size_t>(got));
    // Nothing was left; another look would only be before the answer goes out.
    if (drained_ && staged_first_ == staged_end_) return;
  }
  if (!closing_ && staged_first_ < staged_end_) resume_.schedule();  // epoll does not report these
}

/// Small pieces come by way of the stage, where one system call brings many.
ssize_t TcpConnection::read(std::span<std::byte> into) {
  if (staged_first_ == staged_end_) {
    const bool direct = into.size() >= stage_.size();
    iovec piece = direct ? iovec{into.data(), into.size()} : iovec{stage_.data(), stage_.size()};
    const ssize_t got = stream_->read({&piece, 1});
    drained_ = got >= 0 && static_cast<std::size_t>(got) < piece.iov_len;
    if (got <= 0 || direct) return got;
    staged_first_ = 0;
    staged_end_ = static_cast<std::size_t>(got);
  }
  const std::size_t count = std::min(into.size(), staged_end_ - staged_first_);
  std::copy_n(stage_.begin() + static_cast<std::ptrdiff_t>(staged_first_), count, into.begin());
  staged_first_ += count;
  return static_cast<ssize_t>(count);
}

std::span<std::byte> TcpConnection::wanted() {
  if (mark_have_ < kRecordMarkBytes) return std::span(mark_).subspan(mark_have_);
  if (!record_) record_ = core_.pools.data->acquire();
  if (!record_) return {};
  if (fragment_left_ > record_.size() - record_have_) {
    disconnect("a record longer than any call");
    return {};
  }
  return record_.bytes().subspan(record_have_, fragment_left_);
}

void TcpConnection::take(std::size_t bytes) {
  if (mark_have_ < kRecordMarkBytes) {
    mark_have_ += bytes;
    if (mark_have_ < kRecordMarkBytes) return;
    fragment_left_ = word(mark_) & ~kLastFragment;
    last_fragment_ = (word(mark_) & kLastFragment) != 0;
  } else {
    record_have_ += bytes;
    fragment_left_ -= bytes;
  }
  if (fragment_left_ == 0) end_of_fragment();
}

void TcpConnection::end_of_fragment() {
  mark_have_ = 0;
  if (last_fragment_) end_of_record();
}

void TcpConnection::end_of_record() {
  const std::size_t length = std::exchange(record_have_, 0);
  core_.counters.inline_received_bytes.add(length);
  if (length < kLeastMessage) return disconnect("a record too short for a message");
  const auto type = static_cast<rpc::MessageType>(word(record_.bytes().subspan(4)));
  if (type == rpc::MessageType::reply) return take_reply(record_.first(length));
  TcpCall* call = type == rpc::MessageType::call ? pool_.acquire() : nullptr;
  if (!call) return disconnect("no call, or too many");
  calls_.push_back(*call);
  call->begin(*this, std::move(record_), length);
}

void TcpConnection::take_reply(std::span<const std::byte> message) {
  const auto found = callbacks_.find(word(message));
  if (found == callbacks_.end()) {
    core_.counters.dropped_reply.add();
    return;
  }
  const BackwardDone done = std::move(found->second);
  callbacks_.erase(found);
  core_.counters.backward_replies.add();
  xdr::Decoder in(message);
  auto accepted = rpc::decode_reply_header(in, word(message));
  done(accepted ? Result<xdr::Decoder>(in) : fail_from(accepted));
}

Result<void> TcpConnection::call_back(const CallbackTarget& target,
                                      std::function<void(xdr::Encoder&)> encode,
                                      std::function<void(Result<xdr::Decoder>)> done) {
  if (closing_) return fail(Error::local(ENOTCONN, "callback", "the connection is closing"));
  const auto most = core_.faults.backward_credits().value_or(core_.config.backward_credits);
  if (callbacks_.size() >= most) {
    return fail(Error::local(EAGAIN, "callback", "too many are open"));
  }
  std::vector<std::byte> bytes(kRecordMarkBytes + kMaxBackward);
  xdr::Encoder out{std::span(bytes).subspan(kRecordMarkBytes)};
  const std::uint32_t xid = ++last_xid_;
  rpc::encode_call_header(out, xid, target.program, kCallbackVersion, target.procedure,
                          target.credential, target.machine_name);
  encode(out);
  if (!out.ok() || !out.omitted().empty()) {
    return fail(Error::local(EMSGSIZE, "callback", "does not fit"));
  }
  const std::size_t length = std::min(out.size(), target.cut);
  bytes.resize(kRecordMarkBytes + length);
  const auto mark = record_mark(static_cast<std::uint32_t>(length), true);
  std::copy(mark.begin(), mark.end(), bytes.begin());
  callbacks_[xid] = std::move(done);
  core_.counters.backward_calls.add();
  send_bytes(std::move(bytes));
  return {};
}

void TcpConnection::send(const xdr::Encoder& message, TcpCall& call) {
  static constexpr std::array<std::byte, xdr::kUnit> kZeros{};
  Sending& next = sending_.emplace_back();
  next.call = &call;
  std::size_t length = 0;
  const auto add = [&](std::span<const std::byte> piece) {
    if (piece.empty()) return;
    next.pieces.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
    length += piece.size();
  };
  next.own.resize(kRecordMarkBytes);
  next.pieces.push_back({next.own.data(), next.own.size()});
  std::size_t done = 0;
  for (const auto& item : message.omitted()) {
    add(message.encoded().subspan(done, item.offset - done));
    add(item.data);
    add(std::span(kZeros).first(xdr::pad_of(item.data.size())));
    done = item.offset;
  }
  add(message.encoded().subspan(done));
  const auto mark = record_mark(static_cast<std::uint32_t>(length), true);
  std::copy(mark.begin(), mark.end(), next.own.begin());
  core_.counters.inline_sent_bytes.add(length);
  send_soon(length);
}

void TcpConnection::send_bytes(std::vector<std::byte> bytes) {
  Sending& next = sending_.emplace_back();
  next.own = std::move(bytes);
  next.pieces.push_back({next.own.data(), next.own.size()});
  core_.counters.inline_sent_bytes.add(next.own.size());
  if (!watching_write_) flush();
}

/// Small replies of one turn go together.
void TcpConnection::send_soon(std::size_t length) {
  if (watching_write_) return;
  if (length >= kSendAtOnce) return flush();
  turn_.schedule();
}

/// Returns how many of the bytes were not of this one.
std::size_t TcpConnection::advance(Sending& sending, std::size_t bytes) {
  for (; sending.first < sending.pieces.size(); ++sending.first) {
    iovec& piece = sending.pieces[sending.first];
    if (bytes < piece.iov_len) {
      piece.iov_base = static_cast<std::byte*>(piece.iov_base) + bytes;
      piece.iov_len -= bytes;
      return 0;
    }
    bytes -= piece.iov_len;
  }
  return bytes;
}

/// Of as many as fit one system call.
std::vector<iovec> TcpConnection::pieces_to_send() const {
  std::vector<iovec> pieces;
  for (const Sending& each : sending_) {
    const auto left = std::span(each.pieces).subspan(each.first);
    if (!pieces.empty() && pieces.size() + left.size() > kMostPieces) break;
    pieces.insert(pieces.end(), left.begin(), left.end());
  }
  return pieces;
}

void TcpConnection::took(std::size_t bytes) {
  while (!sending_.empty()) {
    Sending& front = sending_.front();
    bytes = advance(front, bytes);
    if (front.first < front.pieces.size()) return;
    TcpCall* call = front.call;
    sending_.pop_front();
    if (call) call->on_sent();
    if (bytes == 0) return;
  }
}

void TcpConnection::flush() {
  bool blocked = false;
  while (!sending_.empty() && !closing_ && !blocked) {
    std::vector<iovec> pieces = pieces_to_send();
    const ssize_t put = stream_->write(pieces);
    blocked = put == -EAGAIN;
    if (blocked) break;
    if (put < 0) return disconnect("the connection broke");
    took(static_cast<std::size_t>(put));
  }
  if (closing_ || blocked == watching_write_) return;
  watching_write_ = blocked;
  const std::uint32_t events = blocked ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (!core_.reactor.modify(stream_->fd(), events, *this)) disconnect("epoll");
}

Result<std::unique_ptr<TcpListener>> TcpListener::create(Reactor& reactor,
                                                         const net::Address& address,
                                                         OnSocket on_socket) {
  auto fd = net::make_listening_socket(address);
  if (!fd) return fail_from(fd);
  std::unique_ptr<TcpListener> listener(
      new TcpListener(reactor, std::move(*fd), std::move(on_socket)));
  TRY(reactor.watch(listener->fd_.get(), EPOLLIN, *listener));
  return listener;
}

void TcpListener::on_ready(std::uint32_t) {
  UniqueFd socket(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    const bool shortage = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    return shortage ? pause() : void();
  }
  net::set_connection_options(socket.get());
  on_socket_(std::move(socket));
}

// The socket stays readable: without a pause the reactor would do nothing else.
void TcpListener::pause() {
  log::warning("TCP: cannot accept: {}", std::strerror(errno));
  reactor_.unwatch(fd_.get());
  resume_.arm(kAcceptPause);
}

void TcpListener::resume() {
  if (!reactor_.watch(fd_.get(), EPOLLIN, *this)) resume_.arm(kAcceptPause);
}

}  // namespace nfsrdma::responder
