#include "tests/lab/rerun/channel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "transport/journal/messages.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {
namespace {

using journal::Body;
using journal::Kind;
using journal::Place;

constexpr std::size_t kMostText = 65536;
constexpr std::size_t kMostCallbackReply = 1 << 20;

Place read_place(xdr::Decoder& in) {
  const std::uint32_t connection = in.u32("connection");
  return {connection, in.u32("number")};
}

/// The step of an error is a literal: errors of a recording are few.
Error read_error(xdr::Decoder& in) {
  Error error;
  const std::uint32_t layer = in.u32("layer");
  error.layer =
      layer <= static_cast<std::uint32_t>(Layer::local) ? static_cast<Layer>(layer) : Layer::local;
  error.code = in.i32("code");
  in.string(kMostText, "step");
  error.step = "recorded";
  error.detail = in.string(kMostText, "detail");
  error.xid = in.u32("xid");
  error.slot = in.u32("slot");
  return error;
}

/// A reply's bytes, and where its data was placed.
struct KeptMessage final : rpc::MessageBuffer {
  void release() override { delete this; }
  std::vector<std::byte> bytes;
  std::array<xdr::PlacedItem, xdr::Encoder::kMaxOmitted> placed{};
};

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

/// Puts data where the call wants it; false: there is no room.
bool place(rpc::Call& call, xdr::Decoder& in, xdr::PlacedItem& item) {
  const bool used = in.u32("used") != 0;
  item.pad_included = in.u32("pad") != 0;
  const auto data = in.opaque(kLongestBody, "data");
  const auto room = call.placement();
  if (!used || data.size() > room.size()) return data.empty();
  std::ranges::copy(data, room.begin());
  item.data = room.first(data.size());
  return true;
}

Result<rpc::Reply> read_reply(rpc::Call& call, xdr::Decoder& in) {
  rpc::MessageRef message(new KeptMessage);
  auto& kept = static_cast<KeptMessage&>(*message);
  kept.bytes = copy_of(in.opaque(kLongestBody, "message"));
  const std::uint32_t items = in.count(kept.placed.size(), 3 * xdr::kUnit, "placed");
  for (std::uint32_t i = 0; i < items; ++i) {
    if (!place(call, in, kept.placed[i])) in.set_fault(xdr::Fault::too_long, "data");
  }
  TRY(in.finish("recorded reply"));
  rpc::Reply reply;
  reply.results = xdr::Decoder(kept.bytes);
  if (items > 0) reply.results.place_in_order(std::span(kept.placed).first(items));
  TRY(rpc::decode_reply_header(reply.results, call.xid));
  reply.message = std::move(message);
  return reply;
}

}  // namespace

/// A callback of the recording. Ends with its answer.
class RerunCallback final : public rpc::BackwardCall {
 public:
  RerunCallback(World& world, Place place, std::span<const std::byte> message, std::size_t room)
      : world_(world),
        place_(place),
        message_(copy_of(message)),
        arguments_(message_),
        memory_(std::min(room, kMostCallbackReply)),
        results_(memory_) {
    auto header = rpc::decode_call_header(arguments_);
    if (!header) world_.damaged("a callback without a header");
    header_ = *header;
    rpc::encode_accepted_reply(results_, header_.xid, rpc::AcceptStat::success);
  }
  const rpc::CallHeader& header() const override { return header_; }
  xdr::Decoder& arguments() override { return arguments_; }
  xdr::Encoder& results() override { return results_; }
  void answer(rpc::AcceptStat status) override {
    const std::unique_ptr<RerunCallback> self(this);
    world_.give(Kind::callback_answer, journal::callback_answer_body(place_, status, results_));
  }

 private:
  World& world_;
  const Place place_;
  rpc::CallHeader header_;
  std::vector<std::byte> message_;
  xdr::Decoder arguments_;
  std::vector<std::byte> memory_;
  xdr::Encoder results_;
};

class RerunChannel final : public rpc::Channel {
 public:
  RerunChannel(RerunChannels& channels, std::uint32_t connection, rpc::ChannelObserver& observer)
      : channels_(channels), connection_(connection), observer_(observer) {}
  ~RerunChannel() override { channels_.channels_.erase(connection_); }

  void submit(rpc::Call& call) override {
    open_[++calls_] = &call;
    world().give(Kind::call, journal::call_body({connection_, calls_}, call));
  }
  const rpc::ChannelLimits& limits() const override { return limits_; }
  std::size_t max_inline_reply() const override { return seen<std::size_t>("room of a reply"); }
  std::uint64_t replies() const override { return seen<std::uint64_t>("replies so far"); }
  std::size_t open_calls() const override { return seen<std::size_t>("open calls"); }
  std::size_t calls_in_flight() const override { return seen<std::size_t>("calls in flight"); }
  void close(Error) override { world().give(Kind::close, Body().u32(connection_)); }
  void visit_counters(CounterVisitor&) const override {}

  void up(xdr::Decoder& in) {
    if (closing_ || std::exchange(up_, true)) world().damaged("a connection is up too late");
    limits_.max_backward_call = in.u64("callback");
    limits_.max_backward_reply = in.u64("callback's answer");
    limits_.max_backward_calls = in.u32("callbacks");
    observer_.on_channel_up();
  }
  void closing(xdr::Decoder& in) {
    if (std::exchange(closing_, true)) world().damaged("a connection is closing twice");
    observer_.on_channel_closing(read_error(in));
  }
  void down(xdr::Decoder& in) {
    if (std::exchange(down_, true) || !open_.empty())
      world().damaged("a connection is down too early");
    up_ = closing_ = true;
    observer_.on_channel_down(read_error(in));
  }
  void done(std::uint32_t number, xdr::Decoder& in);
  void callback(std::uint32_t number, xdr::Decoder& in) {
    if (!up_ || down_) world().damaged("a callback without a connection");
    const auto message = in.opaque(kLongestBody, "message");
    observer_.on_backward_call(
        *new RerunCallback(world(), {connection_, number}, message, limits_.max_backward_reply));
  }

 private:
  World& world() const { return channels_.world_; }
  template <class Value>
  Value seen(const char* what) const {
    return channels_.reactor_.seen(what, Value{});
  }

  RerunChannels& channels_;
  const std::uint32_t connection_;
  rpc::ChannelObserver& observer_;
  rpc::ChannelLimits limits_;
  std::uint32_t calls_ = 0;
  std::map<std::uint32_t, rpc::Call*> open_;
  bool up_ = false;
  bool closing_ = false;
  bool down_ = false;
};

void RerunChannel::done(std::uint32_t number, xdr::Decoder& in) {
  const auto open = open_.extract(number);
  if (!open) world().damaged("the end of a call that is not open");
  rpc::Call& call = *open.mapped();
  call.losses.total = in.u32("losses");
  call.losses.same_fault = in.u32("of one kind");
  call.losses.last_fault = in.i32("kind");
  const TimePoint now = channels_.reactor_.now();
  call.times.sent = call.times.replied = call.times.completed = now;
  if (in.u32("answered") != 0) {
    call.reply.emplace(read_reply(call, in));
  } else {
    call.reply.emplace(fail(read_error(in)));
  }
  call.observer->on_call_done(call);
}

class RerunChannels::Factory final : public rpc::ChannelFactory {
 public:
  explicit Factory(RerunChannels& channels) : channels_(channels) {}
  Result<std::unique_ptr<rpc::Channel>> connect(rpc::ChannelObserver& observer) override {
    return channels_.connect(++connections_, observer);
  }
  bool try_again_at_once() override {
    return channels_.reactor_.seen("another way to connect", false);
  }
  std::string_view description() const override { return "a recording"; }

 private:
  RerunChannels& channels_;
  std::uint32_t connections_ = 0;
};

std::unique_ptr<rpc::ChannelFactory> RerunChannels::factory() {
  return std::make_unique<Factory>(*this);
}

Result<std::unique_ptr<rpc::Channel>> RerunChannels::connect(std::uint32_t connection,
                                                             rpc::ChannelObserver& observer) {
  world_.give(Kind::connect, Body().u32(connection));
  auto made = std::make_unique<RerunChannel>(*this, connection, observer);
  if (!reactor_.seen("an attempt to connect is refused at once", false)) {
    channels_[connection] = made.get();
    return made;
  }
  std::array<std::byte, Reactor::kLongestText> memory{};
  const std::size_t size = reactor_.from_outside("why", memory, 0);
  xdr::Decoder in(std::span<const std::byte>(memory).first(size));
  in.u32("connection");
  return fail(read_error(in));
}

void RerunChannels::deliver(const Entry& entry) {
  xdr::Decoder in(entry.body);
  const bool numbered = entry.kind == Kind::call_done || entry.kind == Kind::callback;
  const Place place = numbered ? read_place(in) : Place{in.u32("connection"), 0};
  const auto found = channels_.find(place.connection);
  if (found == channels_.end()) world_.damaged("an event of a connection that is not there");
  RerunChannel& channel = *found->second;
  switch (entry.kind) {
    case Kind::channel_up: return channel.up(in);
    case Kind::channel_closing: return channel.closing(in);
    case Kind::channel_down: return channel.down(in);
    case Kind::call_done: return channel.done(place.number, in);
    case Kind::callback: return channel.callback(place.number, in);
    default: return world_.damaged("no event of a connection");
  }
}

}  // namespace nfsrdma::lab::rerun
