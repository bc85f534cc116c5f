#include "client/mount.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "client/callback/callback_service.h"
#include "client/files/files.h"
#include "client/recovery/delegation_reclaimer.h"
#include "client/recovery/open_reclaimer.h"
#include "client/recovery/overdue_calls.h"
#include "client/recovery/recovery.h"
#include "client/requests/getattr.h"
#include "client/requests/lookup.h"
#include "client/requests/security.h"
#include "client/session/lease.h"
#include "client/session/request_context.h"
#include "client/session/session_setup.h"
#include "client/session/silence_watch.h"
#include "client/session/stall_watch.h"
#include "client/trunk/trunk.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

constexpr std::size_t kHostNameBytes = 256;
/// What a server says beyond is taken for this: products of it are to stay in range.
constexpr Duration kLongestLease = std::chrono::hours(24);

std::string machine_name_of(Reactor& reactor, const MountConfig& config) {
  if (!config.machine_name.empty()) return config.machine_name;
  char name[kHostNameBytes] = {};
  const bool known = gethostname(name, sizeof name - 1) == 0;
  const std::string seen = reactor.seen("host name", std::string(known ? name : "localhost"));
  return seen.substr(0, sizeof name - 1);
}

/// Errors are printed with the names of the RFCs from the first mount on.
void name_errors() {
  static std::once_flag named;
  std::call_once(named, [] {
    nfs4::register_status_names();
    register_code_namer(Layer::rpc, rpc::fault_name);
    register_code_namer(Layer::decode, xdr::fault_name);
  });
}

/// "/a//b/" -> "a", "b".
std::string next_component(std::string_view& path) {
  const std::size_t begin = path.find_first_not_of('/');
  if (begin == std::string_view::npos) return {};
  const std::size_t end = std::min(path.find('/', begin), path.size());
  std::string component(path.substr(begin, end - begin));
  path.remove_prefix(end);
  return component;
}

/// Names the step of the mount that an error belongs to.
Error at_step(Error error, const char* step, std::string_view subject) {
  error.step = step;
  error.detail =
      error.detail.empty() ? std::string(subject) : fmt::format("{}: {}", subject, error.detail);
  return error;
}

}  // namespace

/// Everything a mount consists of, in the order of dependence.
struct Mount::Parts {
  Parts(Mount& mount, rpc::ChannelFactory& channels)
      : trunk(mount.reactor_, channels),
        ids(mount.reactor_, mount.config_.names),
        compounds(mount.reactor_, mount.message_pool_, mount.config_.max_slots * kCompoundsPerSlot,
                  machine_name_of(mount.reactor_, mount.config_)),
        session(mount.reactor_, compounds, mount.config_.caller, trunk),
        client_id(mount.reactor_, mount.config_.identity),
        context{mount.reactor_, session, ids, client_id, mount.message_pool_, {}},
        files(context, mount.config_.delegations),
        callbacks(files),
        session_setup(
            session, compounds, client_id, mount.config_.caller,
            RequestedLimits{mount.config_.rsize, mount.config_.wsize, mount.config_.max_slots},
            callbacks),
        delegation_reclaimer(files, mount.config_.caller),
        open_reclaimer(files, mount.config_.caller),
        recovery(mount.reactor_, session, session_setup, {&delegation_reclaimer, &open_reclaimer},
                 trunk),
        lease(mount.reactor_, session, trunk),
        overdue(mount.reactor_, session, recovery, trunk, mount.config_.time_out),
        silence(mount.reactor_, session, mount.config_.server, mount.config_.time_out),
        stalls(mount.reactor_, session, recovery, trunk) {
    session.observe(recovery);
    recovery.watch_restarts([this, &mount] { session.background().start(mount.learn_lease()); });
  }

  Trunk trunk;
  IdMap ids;
  CompoundPool compounds;
  Session session;
  ClientId client_id;
  RequestContext context;
  Files files;
  CallbackService callbacks;
  SessionSetup session_setup;
  DelegationReclaimer delegation_reclaimer;
  OpenReclaimer open_reclaimer;
  Recovery recovery;
  LeaseKeeper lease;
  OverdueCalls overdue;
  SilenceWatch silence;
  StallWatch stalls;
  bool cut_off = false;
};

Mount::Mount(Reactor& reactor, rpc::ChannelFactory& channels, MountConfig config,
             BufferPool& message_pool)
    : reactor_(reactor),
      message_pool_(message_pool),
      config_(std::move(config)),
      parts_(std::make_unique<Parts>(*this, channels)) {
  name_errors();
}

Mount::~Mount() = default;

Task<Result<void>> Mount::start() {
  bool timed_out = false;
  Timer deadline(reactor_, [&] {
    timed_out = true;
    parts_->session.background().start(cut_off());
  });
  deadline.arm(config_.start_timeout);
  auto started = co_await establish();
  deadline.cancel();
  if (started) {
    parts_->lease.start();
    parts_->overdue.start();
    parts_->silence.start();
    parts_->stalls.start();
    co_return started;
  }
  if (timed_out) {
    const char* step = step_ ? step_ : parts_->session_setup.step();
    started = fail(Error::local(ETIMEDOUT, step, "the server gave no answer in time"));
  }
  co_await cut_off();
  co_await parts_->compounds.idle();
  co_await parts_->session.background().empty();
  co_return started;
}

Task<Result<void>> Mount::establish() {
  step_ = nullptr;  // the session_setup knows its own
  auto connected = co_await parts_->trunk.start(parts_->recovery, parts_->callbacks);
  CO_TRY(connected);
  step_ = "LOOKUP export";
  auto found = co_await find_export();
  CO_TRY(found);
  step_ = "GETATTR limits";
  auto limits = co_await fetch_limits();
  co_return limits;
}

Task<Result<void>> Mount::find_export() {
  auto found = co_await find_root();
  std::string_view rest = config_.export_path;
  std::string walked;
  for (std::string name = next_component(rest); found && !name.empty();
       name = next_component(rest)) {
    const FileHandle dir = found->handle;
    walked += '/' + name;
    auto below = co_await find_below(dir, std::move(name));
    found = std::move(below);
    if (found && found->attributes.type == nfs4::NF4LNK) {
      co_return fail(Error::local(ENOTDIR, "LOOKUP export",
                                  walked + " is a symbolic link: name what it leads to"));
    }
  }
  CO_TRY(found);
  root_ = *found;
  if (root_.attributes.type != nfs4::NF4DIR) {
    co_return fail(Error::local(ENOTDIR, "LOOKUP export", config_.export_path));
  }
  co_return Result<void>{};
}

Task<Result<Found>> Mount::find_root() {
  auto found = co_await lookup_root(*this, config_.caller);
  if (found || !found.error().is(Layer::nfs, nfs4::NFS4ERR_WRONGSEC)) co_return found;
  auto flavours = co_await flavours_of_root(*this, config_.caller);
  co_return fail(at_step(std::move(found.error()), "PUTROOTFH",
                         "the server wants security " + flavours.value_or("it does not name")));
}

Task<Result<Found>> Mount::find_below(FileHandle dir, std::string name) {
  auto found = co_await lookup(*this, config_.caller, dir, name);
  if (found) co_return found;
  std::string subject = fmt::format("'{}' of {}", name, config_.export_path);
  if (found.error().is(Layer::nfs, nfs4::NFS4ERR_WRONGSEC)) {
    auto flavours = co_await flavours_of(*this, config_.caller, dir, name);
    subject += " wants security " + flavours.value_or("that the server does not name");
  }
  co_return fail(at_step(std::move(found.error()), "LOOKUP export", subject));
}

Task<Result<void>> Mount::fetch_limits() {
  using namespace nfs4;
  static const bitmap4 kWanted{FATTR4_LEASE_TIME, FATTR4_MAXREAD, FATTR4_MAXWRITE,
                               FATTR4_SUPPATTR_EXCLCREAT};
  auto attributes = co_await get_facts(*this, config_.caller, root_.handle, kWanted);
  CO_TRY(attributes);
  Limits& limits = session().limits();
  limits.apply_file_system(attributes->maxread, attributes->maxwrite);
  take_lease_time(*attributes);
  parts_->files.exclusive_attributes = attributes->suppattr_exclcreat;
  co_return Result<void>{};
}

void Mount::take_lease_time(const Attributes& attributes) {
  if (attributes.lease_time == 0) return;
  const Duration told = std::chrono::seconds(attributes.lease_time);
  session().limits().lease_time = std::min(told, kLongestLease);
  parts_->lease.on_lease_time();
}

// The first of the requests that go out when the recovery lets them. Without an answer the lease
// counts as long as it was.
Task<void> Mount::learn_lease() {
  static const nfs4::bitmap4 kWanted{nfs4::FATTR4_LEASE_TIME};
  auto attributes = co_await get_facts(*this, config_.caller, root_.handle, kWanted);
  if (attributes) {
    take_lease_time(*attributes);
  } else {
    log::debug("the lease time after a restart: {}", attributes.error().message());
  }
}

Task<Result<void>> Mount::stop(Duration patience) {
  parts_->lease.stop();
  parts_->overdue.stop();
  parts_->files.lock_waiters.end();
  parts_->ids.end();
  parts_->silence.stop();
  parts_->stalls.stop();
  bool timed_out = false;
  int patiences = kMostPatiences;
  std::uint64_t replies = replies_so_far();
  Timer deadline(reactor_, [&] {
    const std::uint64_t before = std::exchange(replies, replies_so_far());
    if (replies != 0 && replies != before && --patiences > 0) return deadline.arm(patience);
    timed_out = true;
    parts_->session.background().start(cut_off());
  });
  deadline.arm(patience);
  auto farewell = co_await say_goodbye();
  deadline.cancel();
  co_await cut_off();
  co_await parts_->compounds.idle();
  co_await parts_->session.background().empty();
  if (timed_out) co_return fail(Error::local(ETIMEDOUT, "stop", "the server gave no answer"));
  co_return farewell;
}

// Of this connection; 0 without one.
std::uint64_t Mount::replies_so_far() const { return parts_->trunk.replies(); }

void Mount::watch_callers(std::function<bool(Origin)> gone) {
  session().watch_callers(std::move(gone));
}

void Mount::hurry() {
  parts_->recovery.hurry();
  parts_->trunk.try_at_once();
  session().hurry_always();
}

Task<Result<void>> Mount::say_goodbye() {
  if (!session().begun() || parts_->cut_off) co_return Result<void>{};
  co_await delegations().give_back_all();
  auto closed = co_await opens().close_all();
  auto session = co_await destroy(&SessionSetup::destroy_session);
  CO_TRY(session);
  auto client = co_await destroy(&SessionSetup::destroy_client);
  CO_TRY(client);
  co_return closed;
}

// A connection that ends between two attempts is gone with all that belongs to it.
Task<Result<void>> Mount::destroy(Task<Result<void>> (SessionSetup::*ask)(rpc::Channel&)) {
  Backoff backoff;
  for (;;) {
    auto channel = co_await parts_->trunk.ready(0);
    CO_TRY(channel);
    auto done = co_await (parts_->session_setup.*ask)(**channel);
    if (done || !done.error().is(Layer::nfs, nfs4::NFS4ERR_DELAY)) co_return done;
    const bool slept = co_await session().pauses().pause(backoff.next());
    if (!slept) co_return fail(Error::local(ESHUTDOWN, "unmount", "the mount is ending"));
  }
}

// After this every request and every wait ends, whatever the server does.
Task<void> Mount::cut_off() {
  parts_->cut_off = true;
  parts_->session.shut_down();
  co_await parts_->trunk.close();
}

std::uint32_t Mount::rsize() const { return parts_->session.limits().rsize; }
std::uint32_t Mount::wsize() const { return parts_->session.limits().wsize; }
Duration Mount::lease_time() const { return parts_->session.limits().lease_time; }
void Mount::report_state(const StateLine& line) const {
  client::report_state(parts_->files.open_table, parts_->files.delegation_table, line);
}

void Mount::reconnect() {
  const bool ended =
      parts_->trunk.drop(Error::local(ECONNABORTED, "reconnect", "an administrator asked for it"));
  if (!ended) parts_->trunk.try_at_once();
}

TimePoint Mount::waiting_since() { return parts_->session.waiting_since(); }

nfs4::clientid4 Mount::clientid() const { return parts_->client_id.clientid(); }

Session& Mount::session() { return parts_->session; }
Trace& Mount::trace() { return parts_->session.trace(); }
OpenFiles& Mount::opens() { return parts_->files.opens; }
Delegations& Mount::delegations() { return parts_->files.delegations; }
LockWaiters& Mount::lock_waiters() { return parts_->files.lock_waiters; }
Mount::operator Files&() { return parts_->files; }
Mount::operator RequestContext&() { return parts_->context; }

void Mount::visit_counters(CounterVisitor& visitor) const {
  parts_->trunk.visit_counters(visitor);
  parts_->session.visit_counters(visitor);
  parts_->lease.visit_counters(visitor);
  parts_->overdue.visit_counters(visitor);
  parts_->stalls.visit_counters(visitor);
  parts_->recovery.visit_counters(visitor);
  parts_->delegation_reclaimer.visit_counters(visitor);
  parts_->open_reclaimer.visit_counters(visitor);
  parts_->callbacks.visit_counters(visitor);
  parts_->files.open_table.visit_counters(visitor);
  parts_->files.opens.visit_counters(visitor);
  parts_->files.delegations.visit_counters(visitor);
  parts_->files.lock_waiters.visit_counters(visitor);
  parts_->session.trace().visit_counters(visitor);
}

}  // namespace nfsrdma::client
