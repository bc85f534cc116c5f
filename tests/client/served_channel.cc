#include "tests/client/served_channel.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "tests/client/program_channel.h"
#include "tests/responder/nfs_test_support.h"
#include "tests/support/rpc_message.h"
#include "tests/support/unreduced.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using responder::test::Bytes;
using responder::test::FakeConnection;

constexpr std::size_t kCallbackBytes = 4096;

}  // namespace

/// One call at the service. Deletes itself when it is answered or dropped.
class ServedCall final : public responder::ServerCall {
 public:
  ServedCall(ServedDirectory& server, const rpc::Call& call, FakeConnection& connection)
      : server_(server),
        bytes_(testing_support::unreduced(call.encoder)),
        arguments_(bytes_),
        results_(memory_),
        connection_(connection) {
    header_ = *rpc::decode_call_header(arguments_);
    rpc::encode_accepted_reply(results_, call.xid, rpc::AcceptStat::success);
  }

  const rpc::CallHeader& header() const override { return header_; }
  xdr::Decoder& arguments() override { return arguments_; }
  xdr::Encoder& results() override { return results_; }
  std::span<std::byte> scratch(std::size_t size) override { return scratch_.emplace_back(size); }
  responder::Connection& connection() override { return connection_; }
  std::optional<std::uint32_t> forced_status(std::uint32_t opnum) const override;
  void reply(rpc::AcceptStat status) override;
  void drop() override { delete this; }

  /// Told of the reply; null when it is not wanted any more.
  std::function<void(Bytes)> on_reply;

 private:
  void count_success() const;

  ServedDirectory& server_;
  rpc::CallHeader header_;
  Bytes bytes_;
  xdr::Decoder arguments_;
  responder::test::ReplyMemory memory_;
  xdr::Encoder results_;
  std::deque<Bytes> scratch_;
  FakeConnection& connection_;
  mutable std::optional<nfs_opnum4> executing_;
};

/// One callback at the client, with the RPC headers that recordings have of it. Deletes itself when
/// it is answered.
class ServedCallback final : public rpc::BackwardCall {
 public:
  explicit ServedCallback(FakeConnection::Callback callback)
      : callback_(std::move(callback)),
        message_(message_of(callback_)),
        arguments_(message_),
        memory_(kCallbackBytes),
        results_(memory_) {
    header_ = *rpc::decode_call_header(arguments_);
    rpc::encode_accepted_reply(results_, header_.xid, rpc::AcceptStat::success);
  }
  const rpc::CallHeader& header() const override { return header_; }
  xdr::Decoder& arguments() override { return arguments_; }
  xdr::Encoder& results() override { return results_; }
  void answer(rpc::AcceptStat status) override {
    EXPECT_EQ(status, rpc::AcceptStat::success);
    callback_.done(xdr::Decoder(results_.encoded().subspan(rpc::kAcceptedReplyHeader)));
    delete this;
  }

 private:
  static Bytes message_of(const FakeConnection::Callback& callback) {
    Bytes message(rpc::max_call_header());
    xdr::Encoder out(message);
    rpc::encode_call_header(out, /*xid=*/1, callback.target.program, /*version=*/1, kProcCbCompound,
                            {}, "responder");
    message.resize(out.encoded().size());
    message.insert(message.end(), callback.arguments.begin(), callback.arguments.end());
    return message;
  }

  rpc::CallHeader header_;
  FakeConnection::Callback callback_;
  Bytes message_;
  xdr::Decoder arguments_;
  Bytes memory_;
  xdr::Encoder results_;
};

/// The connection end.
class ServedChannel final : public ProgramChannel {
 public:
  ServedChannel(Reactor& reactor, ServedDirectory& server, rpc::ChannelObserver& observer,
                FakeConnection& connection, int number)
      : ProgramChannel(reactor, observer, /*comes_up=*/!server.black_hole),
        server_(server),
        connection_(connection),
        number_(number) {
    connection_.on_callback = [this] { post([this] { deliver_callbacks(); }); };
  }
  ~ServedChannel() override {
    connection_.on_callback = nullptr;
    server_.forget(*this);
  }
  FakeConnection& connection() { return connection_; }

 private:
  void process(rpc::Call& call) override;
  void execute(rpc::Call& call, const Arrival& arrival, Fate fate);
  void on_closed() override { server_.service().on_connection_closed(connection_); }
  void deliver_callbacks();

  ServedDirectory& server_;
  FakeConnection& connection_;
  const int number_;
};

std::optional<std::uint32_t> ServedCall::forced_status(std::uint32_t opnum) const {
  count_success();
  const auto forced = server_.forced_status(opnum);
  executing_ = forced ? std::nullopt : std::optional(static_cast<nfs_opnum4>(opnum));
  return forced;
}

// The next operation begins, or the last one has ended well: this one has succeeded.
void ServedCall::count_success() const {
  if (executing_) ++server_.successes_[*std::exchange(executing_, std::nullopt)];
}

void ServedCall::reply(rpc::AcceptStat) {
  Bytes bytes = testing_support::unreduced(results_);
  xdr::Decoder in(bytes);
  (void)rpc::decode_reply_header(in, header_.xid);
  COMPOUND4res_header compound;
  decode(in, compound);
  if (compound.status == NFS4_OK) count_success();
  if (on_reply) on_reply(std::move(bytes));
  delete this;
}

void ServedChannel::process(rpc::Call& call) {
  const Arrival arrival = describe_call(call, number_, reactor_.now());
  server_.arrivals_.push_back(arrival);
  const Fate fate = server_.fate ? server_.fate(arrival) : Fate::answer;
  if (down()) return;  // the test has broken the connection
  if (fate == Fate::disconnect_before) return break_off(fabric::Fault::reset);
  server_.in_its_turn([this, alive = alive(), &call, arrival, fate] {
    if (*alive && !down()) execute(call, arrival, fate);
  });
}

void ServedChannel::execute(rpc::Call& call, const Arrival& arrival, Fate fate) {
  auto* served = new ServedCall(server_, call, connection_);
  auto answer = [this, &server = server_, alive = alive(), &call](Bytes reply) {
    server.in_its_turn([this, alive, &call, reply = std::move(reply)] {
      if (*alive && !down()) answer_message(call, reply);
    });
  };
  if (fate == Fate::answer) served->on_reply = answer;
  if (fate == Fate::hold) {
    served->on_reply = [this, alive = alive(), answer](Bytes reply) {
      if (*alive) server_.held_.push_back([answer, reply = std::move(reply)] { answer(reply); });
    };
  }
  server_.service().handle(*served);
  if (server_.after) server_.after(arrival);
  if (fate == Fate::disconnect_after) break_off(fabric::Fault::reset);
}

void ServedChannel::deliver_callbacks() {
  auto& waiting = connection_.callbacks;
  while (!waiting.empty() && !down() && !server_.hold_callbacks) {
    auto* callback = new ServedCallback(std::move(waiting.front()));
    waiting.pop_front();
    server_.count_callback();
    observer_.on_backward_call(*callback);
  }
}

ServedDirectory::ServedDirectory(Reactor& reactor, std::uint32_t grace_seconds,
                                 responder::DelegationKind delegations, std::uint32_t lease_seconds,
                                 bool mandatory_locks)
    : reactor_(reactor) {
  std::string name = (std::filesystem::temp_directory_path() / "nfsrdma-served-XXXXXX").string();
  directory_ = ::mkdtemp(name.data());
  responder::ServiceConfig config;
  config.directory = directory_.string();
  config.durable = false;
  config.sole_writer = true;  // one thread: nothing comes between a change and what is told of it
  config.lease_seconds = lease_seconds;
  config.grace_seconds = grace_seconds;
  config.delegations = delegations;
  config.mandatory_locks = mandatory_locks;
  service_ = std::move(*responder::NfsService::create(reactor_, config));
}

ServedDirectory::~ServedDirectory() {
  service_.reset();
  std::filesystem::remove_all(directory_);
}

void ServedDirectory::fail(nfs_opnum4 opnum, nfsstat4 status, int times) {
  failures_[opnum] = {status, times};
}

std::optional<std::uint32_t> ServedDirectory::forced_status(std::uint32_t opnum) {
  const auto found = failures_.find(static_cast<nfs_opnum4>(opnum));
  if (found == failures_.end() || found->second.second == 0) return std::nullopt;
  --found->second.second;
  return found->second.first;
}

int ServedDirectory::failures_left(nfs_opnum4 opnum) const {
  const auto found = failures_.find(opnum);
  return found == failures_.end() ? 0 : found->second.second;
}

void ServedDirectory::release_held() {
  for (const auto& answer : std::exchange(held_, {})) answer();
}

void ServedDirectory::disconnect() {
  for (ServedChannel* channel : channels_) {
    channel->close(Error{Layer::fabric, static_cast<int>(fabric::Fault::reset), "test", {}});
  }
}

void ServedDirectory::reboot(std::uint32_t grace_seconds) {
  disconnect();
  service_->restart(grace_seconds);
}

void ServedDirectory::lose_callback_path() {
  for (ServedChannel* channel : channels_) service_->on_connection_closed(channel->connection());
}

void ServedDirectory::in_its_turn(std::function<void()> work) {
  const Duration hold = reorder ? reorder->hold() : Duration::zero();
  if (hold == Duration::zero()) return work();
  const auto place = turns_.emplace(turns_.end());
  *place = std::make_unique<Timer>(reactor_, [this, place, work = std::move(work)] {
    reactor_.dispose(std::move(*place));
    turns_.erase(place);
    work();
  });
  (*place)->arm(hold);
}

void ServedDirectory::forget(ServedChannel& channel) { std::erase(channels_, &channel); }

int ServedDirectory::successes_of(nfs_opnum4 opnum) const {
  const auto found = successes_.find(opnum);
  return found == successes_.end() ? 0 : found->second;
}

void ServedDirectory::write_file(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string ServedDirectory::read_file(const std::string& name) const {
  std::ifstream in(path(name), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool ServedDirectory::exists(const std::string& name) const {
  return std::filesystem::exists(std::filesystem::symlink_status(path(name)));
}

Result<std::unique_ptr<rpc::Channel>> ServedDirectory::connect(rpc::ChannelObserver& observer) {
  if (unreachable) {
    return nfsrdma::fail(
        Error{Layer::fabric, static_cast<int>(fabric::Fault::refused), "connect", {}});
  }
  ++connections_;
  peers_.push_back(std::make_unique<FakeConnection>(static_cast<std::uint64_t>(connections_)));
  auto channel =
      std::make_unique<ServedChannel>(reactor_, *this, observer, *peers_.back(), connections_);
  channels_.push_back(channel.get());
  return channel;
}

}  // namespace nfsrdma::client::test
