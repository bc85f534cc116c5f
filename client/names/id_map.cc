#include "client/names/id_map.h"

#include <utility>

#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

/// max_attributes_size() reckons with names of kMaxOwner; a longer one is unknown.
bool plausible(std::string_view name) {
  return !name.empty() && name.size() <= nfs4::kMaxOwner && name.find('\0') == name.npos;
}

}  // namespace

/// One name, from the first question on.
struct OwnerNames::Name : ListNode {
  Name(Reactor& reactor, std::string_view name) : text(name), waiters(reactor) {}

  void put_into(nfs4::Owner& owner) const {
    owner.id = number.value_or(IdMap::kNobody);
    owner.numeric = answered_once;
    owner.name = {};
  }
  void stop_waiting() {
    waited_for = false;
    patience.reset();
    waiters.wake_all();
  }

  const std::string text;
  std::optional<std::uint32_t> number;  ///< of the last answer; none: there is no such name
  bool answered_once = false;           ///< there was an answer
  bool asked = false;                   ///< an answer is outstanding
  bool waited_for = false;              ///< operations wait for it
  TimePoint believed_until{};           ///< until then it is neither asked nor waited for
  WaitQueue waiters;
  std::optional<Timer> patience;
};

Task<void> OwnerNames::wait() {
  for (const auto& [text, name] : names_) {
    while (name->waited_for) co_await name->waiters.wait();
  }
}

void OwnerNames::fill(Attributes& attributes) const {
  for (nfs4::Owner* owner : {&attributes.owner, &attributes.owner_group}) {
    if (owner->numeric || owner->name.empty()) continue;
    const auto found = names_.find(owner->name.data());
    if (found != names_.end()) found->second->put_into(*owner);
  }
}

Task<void> OwnerNames::resolve(Attributes& attributes) {
  co_await wait();
  fill(attributes);
}

IdMap::IdMap(Reactor& reactor, NameService* service)
    : reactor_(reactor), service_(service), asking_names_(reactor) {}

IdMap::~IdMap() { end(); }

void IdMap::end() {
  ended_ = true;
  asking_names_.wake_all();
  for (Cache& cache : caches_) {
    for (auto& [text, name] : cache.names) name->stop_waiting();
  }
}

void IdMap::resolve(Attributes& attributes, OwnerNames& names) {
  if (!attributes.owner.numeric) resolve_one(attributes.owner, OwnerKind::user, names);
  if (!attributes.owner_group.numeric) resolve_one(attributes.owner_group, OwnerKind::group, names);
}

void IdMap::resolve_one(nfs4::Owner& owner, OwnerKind kind, OwnerNames& waited_for) {
  const std::string_view text = std::exchange(owner.name, {});
  owner.id = kNobody;
  if (!service_ || !plausible(text)) {
    owner.numeric = true;
    return;
  }
  const NameRef name = obtain(text, kind);
  if (!name) return;
  if (!name->waited_for) return name->put_into(owner);
  owner.name = name->text;
  waited_for.names_.emplace(name->text.data(), name);
}

/// Null: more names are being looked up than are remembered.
IdMap::NameRef IdMap::obtain(std::string_view text, OwnerKind kind) {
  Cache& known = cache(kind);
  auto found = known.names.find(text);
  if (found == known.names.end()) {
    if (known.names.size() >= kMostNames) {
      const Name* oldest = known.idle.pop_front();
      if (!oldest) return {};
      known.names.erase(known.names.find(oldest->text));
    }
    found = known.names.emplace(text, std::make_shared<Name>(reactor_, text)).first;
  }
  NameRef name = found->second;
  name->unlink();
  if (reactor_.now() >= name->believed_until && !ended_) ask(name, kind);
  // A service that answers at once has put it there already.
  if (!name->asked && !name->linked()) known.idle.push_back(*name);
  return name;
}

void IdMap::ask(const NameRef& name, OwnerKind kind) {
  if (name->waited_for) return;
  name->waited_for = true;
  name->patience.emplace(reactor_, [this, name = name.get()] { unanswered(*name); });
  name->patience->arm(kPatience);
  if (std::exchange(name->asked, true)) return;
  service_->find_number(kind, name->text,
                        [this, alive = std::weak_ptr(alive_), name, kind](auto number) {
                          if (!alive.expired()) answered(*name, kind, number);
                        });
}

void IdMap::answered(Name& name, OwnerKind kind, std::optional<std::uint32_t> number) {
  name.number = number;
  name.answered_once = true;
  name.asked = false;
  name.believed_until = reactor_.now() + (number ? kHitTime : kMissTime);
  if (!name.linked()) cache(kind).idle.push_back(name);
  name.stop_waiting();
}

void IdMap::unanswered(Name& name) {
  name.believed_until = reactor_.now() + kUnansweredTime;
  log::info("the name service has no answer for '{}' yet; what waits for it gets {}", name.text,
            name.answered_once ? "the last answer" : "nobody");
  // The timer whose function this is goes with it: not before it has returned.
  name.waited_for = false;
  name.waiters.wake_all();
}

Task<std::string> IdMap::name_of(OwnerKind kind, std::uint32_t number) {
  struct Question {
    std::string name;
    bool over = false;
  };
  const auto question = std::make_shared<Question>();
  if (!service_ || ended_) co_return question->name;
  const auto wake = [this, alive = std::weak_ptr(alive_), question] {
    question->over = true;
    if (!alive.expired()) asking_names_.wake_all();
  };
  service_->find_name(kind, number, [question, wake](std::string name) {
    question->name = std::move(name);
    wake();
  });
  Timer patience(reactor_, wake);
  patience.arm(kPatience);
  while (!question->over && !ended_) co_await asking_names_.wait();
  co_return question->name;
}

}  // namespace nfsrdma::client
