#include "tests/lab/lint/linter.h"

#include <map>
#include <utility>

#include "tests/lab/lint/message_rules.h"
#include "tests/lab/lint/rpc_rules.h"
#include "tests/lab/lint/wire_rules.h"

namespace nfsrdma::lab {
namespace {

constexpr RuleName kTerminated = {"RFC 5040 section 4.8", "This side refuses what came."};
constexpr RuleName kRefused = {"RFC 8166 section 4.5", "A transport error answers the call."};
constexpr RuleName kUnanswered = {"RFC 8881 section 2.9.2", "Each call is answered."};
constexpr RuleName kNonsense = {"RFC 5044 and RFC 5531", "The stream is what it began as."};

}  // namespace

class Linter::Judge final : public ConversationObserver {
 public:
  /// What is kept of calls that are never answered.
  static constexpr std::size_t kMostAsked = 4096;

  Judge(Linter& owner, const Conversation& conversation, Judged& judged)
      : owner_(owner), conversation_(conversation), judged_(judged) {}

  void on_startup(const Source& source, const iwarp::StartupFrame& frame) override {
    judge(startup_rules(), StartupEvent{source, frame, conversation_}, source);
  }
  void on_segment(const SegmentSeen& seen) override {
    judge(segment_rules(), SegmentEvent{seen, conversation_}, seen.source);
  }
  void on_transfer(const TransferSeen& seen) override {
    judge(transfer_rules(), TransferEvent{seen, conversation_}, seen.source);
  }
  void on_message(const MessageSeen& seen) override;
  void on_rpc(const RpcSeen& seen) override;
  void on_terminate(const Source& source, const std::string& why) override {
    note(source, kTerminated, why);
  }
  void on_nonsense(const Source& source, const char* what) override {
    owner_.findings_.add({source, judged_.info.number, kNonsense, what, false});
  }
  void on_closed(Moment at) override;

 private:
  /// Several rules of one table can say the same of one event: the first says it.
  template <class Event>
  bool judge(std::span<const Rule<Event>> rules, const Event& event, const Source& source) {
    for (const Rule<Event>& rule : rules) {
      if (rule.needs_history && !whole_history(rule)) continue;
      auto seen = rule.check(event);
      if (!seen) continue;
      owner_.findings_.add(
          {source, judged_.info.number, {rule.where, rule.text}, std::move(*seen), false});
      return true;
    }
    return false;
  }
  bool whole_history(const Rule<SessionEvent>&) const { return !owner_.holes_; }
  template <class Event>
  bool whole_history(const Rule<Event>&) const {
    return !conversation_.lossy();
  }
  void note(const Source& source, const RuleName& rule, std::string seen) {
    owner_.findings_.add({source, judged_.info.number, rule, std::move(seen), true});
  }

  Linter& owner_;
  const Conversation& conversation_;
  Judged& judged_;
  std::map<std::pair<Side, std::uint32_t>, CompoundArguments> asked_;
};

void Linter::Judge::on_message(const MessageSeen& seen) {
  const MessageEvent event{seen, conversation_};
  judge(message_rules(), event, seen.source);
  if (seen.fault != rdma::HeaderFault::none) return;
  if (seen.direction == Direction::call) judge(call_rules(), event, seen.source);
  if (seen.direction != Direction::reply) return;
  judge(reply_rules(), event, seen.source);
  if (seen.header->proc == rdma::RDMA_ERROR) {
    const bool version = seen.header->error.err == rdma::ERR_VERS;
    const auto asked = asked_.find({other(seen.source.from), seen.header->rdma_xid});
    if (asked != asked_.end()) owner_.sessions_.take_transport_error(asked->second);
    note(seen.source, kRefused, version ? "ERR_VERS" : "ERR_CHUNK");
  } else if (seen.call != nullptr) {
    judge(returned_chunk_rules(), event, seen.source);
  }
}

void Linter::Judge::on_closed(Moment at) {
  judged_.lossy = conversation_.lossy();
  for (const Side caller : {Side::client, Side::server}) {
    const std::uint32_t open = conversation_.side(caller).open;
    if (open == 0 || conversation_.lossy()) continue;
    note({at, other(caller)}, kUnanswered,
         std::to_string(open) + " had no answer when the connection ended");
  }
}

void Linter::Judge::on_rpc(const RpcSeen& seen) {
  ++judged_.messages;
  owner_.holes_ = owner_.holes_ || conversation_.lossy();
  const bool call = seen.direction == Direction::call;
  const std::pair key{call ? seen.source.from : other(seen.source.from), seen.xid};
  const auto found = asked_.find(key);
  const RpcEvent event =
      decode_rpc(seen, conversation_, call || found == asked_.end() ? nullptr : &found->second);
  judge(rpc_rules(), event, seen.source);
  judge(session_rules(), owner_.sessions_.look_up(event), seen.source);
  owner_.sessions_.take(event);
  if (!call && found != asked_.end()) asked_.erase(found);
  if (!call || !event.arguments) return;
  if (asked_.size() >= kMostAsked) asked_.erase(asked_.begin());
  asked_[key] = *event.arguments;
}

std::unique_ptr<WireObserver> Linter::on_connection(const ConnectionInfo& info) {
  auto conversation = std::make_unique<Conversation>(info, budget_);
  Judged& judged = *connections_.emplace_back(std::make_unique<Judged>());
  judged.info = info;
  conversation->observe(std::make_unique<Judge>(*this, *conversation, judged));
  return conversation;
}

}  // namespace nfsrdma::lab
