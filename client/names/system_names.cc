#include "client/names/system_names.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "client/names/idmap_library.h"
#include "transport/base/thread.h"

namespace nfsrdma::client {

/// Shared by the shard and the helper thread. The helper may outlive the SystemNames, and never
/// touches the reactor once `reactor` is null.
struct SystemNames::Shared {
  /// Runs on the helper; the Answer it returns runs on the shard.
  using Job = std::function<Answer()>;

  std::mutex mutex;
  std::condition_variable wake;
  Reactor* reactor = nullptr;   // guarded by mutex; null: the end
  std::deque<Job> jobs;         // guarded by mutex
  bool thread_started = false;  // the shard's, as is what follows
  std::uint64_t last_question = 0;
  /// The callbacks stay on the shard: the helper never holds or destroys objects of the shard.
  std::unordered_map<std::uint64_t, std::function<void(void*)>> askers;
};

SystemNames::SystemNames(Reactor& reactor, std::string domain, std::string config_file)
    : shared_(std::make_shared<Shared>()),
      domain_(std::move(domain)),
      config_file_(std::move(config_file)) {
  shared_->reactor = &reactor;
}

SystemNames::~SystemNames() {
  shared_->askers.clear();
  const std::lock_guard lock(shared_->mutex);
  shared_->reactor = nullptr;
  shared_->wake.notify_all();
}

template <class Value>
void SystemNames::ask(std::function<Value()> look_up, std::function<void(Value)> answer) {
  const std::uint64_t question = ++shared_->last_question;
  shared_->askers[question] = [answer = std::move(answer)](void* value) {
    answer(std::move(*static_cast<Value*>(value)));
  };
  // Without a thread the question waits for the next one.
  if (!shared_->thread_started) {
    shared_->thread_started = start_detached(&SystemNames::work, shared_);
  }
  Shared* const shared = shared_.get();  // lives as long as the thread that runs the job
  const std::lock_guard lock(shared_->mutex);
  shared_->jobs.push_back([shared, question, look_up = std::move(look_up)]() -> Answer {
    return [shared, question, value = look_up()]() mutable {
      auto asker = shared->askers.extract(question);
      if (asker) asker.mapped()(&value);
    };
  });
  shared_->wake.notify_one();
}

void SystemNames::find_number(OwnerKind kind, const std::string& name, GetNumber answer) {
  ask<std::optional<std::uint32_t>>(
      [settings = idmap_library::Settings{config_file_, domain_}, kind, name] {
        return idmap_library::number_of(settings, kind, name);
      },
      std::move(answer));
}

void SystemNames::find_name(OwnerKind kind, std::uint32_t number, GetName answer) {
  ask<std::string>([settings = idmap_library::Settings{config_file_, domain_}, kind,
                    number] { return idmap_library::name_of(settings, kind, number); },
                   std::move(answer));
}

void SystemNames::work(std::shared_ptr<Shared> shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->wake.wait(lock, [&] { return !shared->reactor || !shared->jobs.empty(); });
    if (!shared->reactor) return;
    Shared::Job job = std::move(shared->jobs.front());
    shared->jobs.pop_front();
    lock.unlock();
    Answer answer = job();
    lock.lock();
    if (!shared->reactor) return;
    shared->reactor->wake_from_other_thread([shared, answer = std::move(answer)] { answer(); });
  }
}

}  // namespace nfsrdma::client
