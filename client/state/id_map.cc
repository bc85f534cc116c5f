#include "client/state/id_map.h"

#include <grp.h>
#include <pwd.h>

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

namespace nfsrdma::client {
namespace {

/// A server may send any number of names; only so many are remembered.
constexpr std::size_t kMostNames = 4096;
constexpr std::size_t kLookupBytes = 16 * 1024;

/// The part before "@domain". The domain is not checked: one mount, one server, one domain.
std::string local_part(std::string_view name) {
  return std::string(name.substr(0, name.find('@')));
}

std::optional<std::uint32_t> find_user(const std::string& name) {
  std::array<char, kLookupBytes> memory;
  passwd entry;
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, memory.data(), memory.size(), &found) != 0) return {};
  return found ? std::optional(found->pw_uid) : std::nullopt;
}

std::optional<std::uint32_t> find_group(const std::string& name) {
  std::array<char, kLookupBytes> memory;
  group entry;
  group* found = nullptr;
  if (getgrnam_r(name.c_str(), &entry, memory.data(), memory.size(), &found) != 0) return {};
  return found ? std::optional(found->gr_gid) : std::nullopt;
}

}  // namespace

/// What shard and helper thread share. The helper may outlive the IdMap, never touching the reactor
/// once `reactor` is null.
struct IdMap::Shared {
  struct Job {
    std::string name;
    Kind kind;
  };
  using Names = std::unordered_map<std::string, std::uint32_t>;

  std::mutex mutex;
  std::condition_variable wake;
  Reactor* reactor = nullptr;   // guarded by mutex; null: the end
  std::deque<Job> jobs;         // guarded by mutex
  bool thread_started = false;  // the shard's, as is `names`
  std::array<Names, 2> names;
};

IdMap::IdMap(Reactor& reactor) : shared_(std::make_shared<Shared>()) {
  shared_->reactor = &reactor;
}

IdMap::~IdMap() {
  std::lock_guard lock(shared_->mutex);
  shared_->reactor = nullptr;
  shared_->wake.notify_all();
}

void IdMap::resolve(Attributes& attributes) {
  for (auto [owner, kind] : {std::pair{&attributes.owner, Kind::user},
                             std::pair{&attributes.owner_group, Kind::group}}) {
    if (owner->numeric) continue;
    owner->id = number_of(owner->name, kind);
    owner->numeric = true;
    owner->name = {};
  }
}

std::uint32_t IdMap::number_of(std::string_view name, Kind kind) {
  auto& names = shared_->names[static_cast<std::size_t>(kind)];
  std::string key = local_part(name);
  if (auto known = names.find(key); known != names.end()) return known->second;
  if (names.size() >= kMostNames) return kNobody;
  names.emplace(key, kNobody);
  if (!shared_->thread_started) {
    shared_->thread_started = true;
    std::thread(&IdMap::work, shared_).detach();
  }
  std::lock_guard lock(shared_->mutex);
  shared_->jobs.push_back({std::move(key), kind});
  shared_->wake.notify_one();
  return kNobody;
}

void IdMap::work(std::shared_ptr<Shared> shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->wake.wait(lock, [&] { return !shared->reactor || !shared->jobs.empty(); });
    if (!shared->reactor) return;
    Shared::Job job = std::move(shared->jobs.front());
    shared->jobs.pop_front();
    lock.unlock();
    const auto number = job.kind == Kind::user ? find_user(job.name) : find_group(job.name);
    lock.lock();
    if (!shared->reactor || !number) continue;
    shared->reactor->wake_from_other_thread([shared, job, number = *number] {
      shared->names[static_cast<std::size_t>(job.kind)][job.name] = number;
    });
  }
}

}  // namespace nfsrdma::client
