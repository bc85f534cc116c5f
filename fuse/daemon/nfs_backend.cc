#include "fuse/daemon/nfs_backend.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "client/session/client_id.h"
#include "client/session/trace.h"
#include "fuse/channel/caller.h"
#include "fuse/channel/mount_point.h"
#include "fuse/channel/open_path.h"
#include "fuse/daemon/failure.h"
#include "fuse/daemon/memory_limit.h"
#include "fuse/daemon/provider_choice.h"
#include "fuse/daemon/rpcbind.h"
#include "transport/base/log.h"
#include "transport/recording/recorded_channel.h"
#include "transport/recording/recorded_fabric.h"

namespace nfsrdma::fuse {
namespace {

/// The largest READDIR and what surrounds its result.
constexpr std::size_t kReplySlotSize = (std::size_t{1} << 20) + 4096;

/// What stands in a capture's description of its interface.
const char* description_of(CaptureView view) {
  switch (view) {
    case CaptureView::wire:
      return "what the connection has sent and received, in TCP segments made by nfsrdma";
    case CaptureView::rpc: return "each RPC whole, as NFS over TCP made by nfsrdma";
    case CaptureView::roce: return "what was posted and has completed, in RoCEv2 made by nfsrdma";
  }
  return "";
}

}  // namespace

NfsBackend::NfsBackend(Reactor& reactor, Options options, Seams* seams)
    : outside_(reactor),
      seams_(seams),
      reactor_(seams ? seams->inside() : reactor),
      options_(std::move(options)),
      system_names_(std::make_unique<client::SystemNames>(reactor, options_.domain)),
      names_(seams ? seams->between(*system_names_) : *system_names_) {}

NfsBackend::~NfsBackend() = default;

Task<Result<void>> NfsBackend::start() {
  if (seams_ && seams_->is_rerun()) co_return co_await start_from_recording();
  if (!owner_) take_owner();
  const auto& transport = options_.transport;
  auto addresses = fabric::resolve(options_.source.host, transport.server_port(),
                                   transport.ipv6_only ? AF_INET6 : AF_UNSPEC);
  CO_TRY(addresses);
  std::optional<Error> unreachable;
  for (const auto& address : *addresses) {
    auto started = co_await start_at(address);
    if (started || !is_unreachable(started.error())) co_return started;
    log::info("{}: {}", address.text(), started.error().message());
    Error error = std::move(started.error());
    if (addresses->size() > 1) error = at_address(std::move(error), address.text());
    unreachable = unreachable ? telling_more(*unreachable, error) : error;
  }
  if (unreachable) co_return fail(std::move(*unreachable));
  co_return fail(Error::local(EHOSTUNREACH, "resolve server name", "no address"));
}

/// What the server compares besides the owner is the same, too: it refuses one that comes with
/// other credentials while it has state (NFS4ERR_CLID_INUSE, RFC 8881 section 18.35.4).
void NfsBackend::take_owner() {
  const std::string& directory = options_.program.owner_directory;
  if (directory.empty()) return;
  std::string key = fmt::format("{} port {} sec {} user {} {}", options_.source.text,
                                options_.transport.server_port(), static_cast<int>(options_.sec),
                                ::geteuid(), ::getegid());
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  if (::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) return;
  for (const gid_t group : groups) key += fmt::format(" {}", group);
  owner_ = ClientOwner::take(directory, key, client::make_client_owner());
}

/// Tries as often as the recorded run did, whatever the address.
Task<Result<void>> NfsBackend::start_from_recording() {
  for (;;) {
    auto started = co_await start_with({}, Provider::automatic);
    if (started) co_return started;
  }
}

/// Memory is touched only as far as it is used, or locked for a device.
Result<void> NfsBackend::reserve_memory() {
  if (data_slots_ && reserved_ == shape_) return {};
  const std::size_t messages = client::Mount::message_slots(shape_.credits);
  // Entries of FUSE's io_uring show slots at addresses of their own.
  const auto mapping = options_.io_uring ? BufferPool::Mapping::many : BufferPool::Mapping::one;
  auto data = BufferPool::create(kSlotSize, shape_.data_slots, mapping);
  if (!data) return fail_from(data);
  auto message = BufferPool::create(client::Mount::kMessageSlotBytes, messages);
  if (!message) return fail_from(message);
  auto reply = BufferPool::create(kReplySlotSize, shape_.reply_slots);
  if (!reply) return fail_from(reply);
  TRY(start_own_capture());
  data_slots_ = std::move(*data);
  message_slots_ = std::move(*message);
  reply_slots_ = std::move(*reply);
  reserved_ = shape_;
  return {};
}

/// Starts the capture of the options, with the first connection.
Result<void> NfsBackend::start_own_capture() {
  const auto& transport = options_.transport;
  if (capturing() || transport.capture_file.empty()) return {};
  capture::Form form;
  form.snap = transport.capture_snap;
  form.files = transport.capture_files;
  form.file_bytes = transport.capture_size != 0 ? transport.capture_size : capture::kUsualFileBytes;
  form.what = description_of(transport.capture_view);
  form.patience = capture::kLastOwner;
  auto sink = capture::Sink::create(transport.capture_file, form);
  if (!sink) return fail_from(sink);
  (*sink)->flush_after_turns(outside_);
  return capture_of(transport.capture_view).start(std::move(*sink));
}

Result<void> NfsBackend::make_channels(const fabric::Address& server, Provider provider) {
  fabric_.reset();
  channels_.reset();
  TRY(reserve_memory());
  if (seams_ && seams_->is_rerun()) {
    channels_ = seams_->between(nullptr);
    return {};
  }
  if (options_.transport.protocol == Protocol::tcp) {
    auto channels = tcp::ChannelFactory::create(outside_, server, tcp_options(), *reply_slots_);
    if (!channels) return fail_from(channels);
    channels_ = recorded(std::move(*channels), server);
    return {};
  }
  TransportOptions transport = options_.transport;
  transport.provider = provider;
  auto fabric = make_fabric(outside_, transport, server);
  if (!fabric) return fail_from(fabric);
  fabric_ = std::make_unique<recording::RecordedFabric>(std::move(*fabric),
                                                        capture_of(CaptureView::roce));
  for (auto* pool : {data_slots_.get(), message_slots_.get()}) TRY(fabric_->register_pool(*pool));
  auto channels =
      rdma::ChannelFactory::create(outside_, *fabric_, server, rdma_options(), *reply_slots_);
  if (!channels) return fail_from(channels);
  channels_ = recorded(std::move(*channels), server);
  return {};
}

/// While nothing is recorded they are the transport's own; a capture may begin later
/// (start_capture()).
std::unique_ptr<rpc::ChannelFactory> NfsBackend::recorded(
    std::unique_ptr<rpc::ChannelFactory> channels, const fabric::Address& server) {
  channels = std::make_unique<recording::RecordedFactory>(
      std::move(channels), capture_of(CaptureView::rpc), server, caller_gone_);
  return seams_ ? seams_->between(std::move(channels)) : std::move(channels);
}

Task<Result<void>> NfsBackend::start_at(fabric::Address address) {
  if (options_.transport.server_port() == 0) {
    auto found = ask_rpcbind(address, options_.transport.protocol);
    CO_TRY(found);
    address = *found;
  }
  auto started = co_await start_with(address, options_.transport.provider);
  if (started || !may_fall_back(options_.transport, started.error())) co_return started;
  log::warning("provider iwarp to {}, not verbs: {}", address.text(), started.error().message());
  auto other = co_await start_with(address, Provider::iwarp);
  if (other) co_return other;
  log::info("provider iwarp: {}", other.error().message());
  co_return started;
}

Task<Result<void>> NfsBackend::start_with(fabric::Address address, Provider provider) {
  shape_ = wanted_shape();
  auto started = co_await start_mount(address, provider);
  // A device registers memory when the connection is made.
  while (!started && fabric::is_memory_limit(started.error()) && shape_.halve()) {
    started = co_await start_mount(address, provider);
  }
  // Another client has the owner, whatever it was: this mount takes a new one.
  if (!started && owner_ && started.error().is(Layer::nfs, nfs4::NFS4ERR_CLID_INUSE)) {
    owner_->remove();
    owner_.reset();
    started = co_await start_mount(address, provider);
  }
  CO_TRY(started);
  note_memory_limit();
  if (mount_->root_attributes().type != nfs4::NF4DIR) {
    co_return fail(Error::local(ENOTDIR, "export", "what is to be mounted must be a directory"));
  }
  log::info("{}: {}, rsize {}, wsize {}", options_.source.text, channels_->description(),
            mount_->rsize(), mount_->wsize());
  FileSystemConfig config;
  config.attributes = options_.cache.attributes;
  config.synchronous = options_.synchronous();
  config.data = options_.cache.data;
  config.most_inodes = options_.cache.most_inodes.value_or(
      default_inodes(reactor_.seen("memory that this program may have", memory_limit())));
  config.kernel.names_of_each_user = options_.other_users() && !options_.kernel_checks();
  if (!passed_device(options_.mount_point)) config.kernel.mount_point = options_.mount_point;
  file_system_ = std::make_unique<FileSystem>(*mount_, *data_slots_, config);
  file_system_->files().failures().set_paths([this](const cache::Failed& failed) {
    return path_of_open_file(failed.caller, failed.fileid, options_.mount_point);
  });
  co_return started;
}

/// With memory of the present shape, or less.
Task<Result<void>> NfsBackend::start_mount(fabric::Address address, Provider provider) {
  co_await Enter(seams_, kEnterStart);
  mount_.reset();
  auto made = make_memory_and_channels(address, provider);
  CO_TRY(made);
  mount_ = std::make_unique<client::Mount>(reactor_, *channels_, mount_config(), *message_slots_);
  mount_->watch_callers(caller_gone_);
  auto started = co_await mount_->start();
  if (started) co_return started;
  auto stopped = co_await mount_->stop();
  if (!stopped) log::debug("{}", stopped.error().message());
  co_return started;
}

Result<void> NfsBackend::make_memory_and_channels(const fabric::Address& server,
                                                  Provider provider) {
  TRY(fit_into_memory(shape_, [&] { return make_channels(server, provider); }));
  const MemoryShape recorded = reactor_.seen("memory", shape_).within(shape_);
  if (recorded != shape_) {
    shape_ = recorded;
    TRY(make_channels(server, provider));
  }
  return {};
}

MemoryShape NfsBackend::wanted_shape() const { return {.credits = options_.transport.credits}; }

void NfsBackend::note_memory_limit() const {
  const MemoryShape wanted = wanted_shape();
  if (shape_ == wanted) return;
  log::warning("RLIMIT_MEMLOCK: {} credits instead of {}, {} buffers for data instead of {}",
               shape_.credits, wanted.credits, shape_.data_slots, wanted.data_slots);
}

client::MountConfig NfsBackend::mount_config() const {
  client::MountConfig config;
  config.server = options_.source.host;
  config.export_path = options_.source.path;
  config.rsize = options_.rsize;
  config.wsize = options_.wsize;
  config.time_out = options_.patience.time_out();
  config.max_slots = shape_.credits;
  config.names = &names_;
  config.delegations = !options_.cache.attributes.noac;
  config.identity =
      reactor_.seen("client owner that was kept", owner_ ? owner_->text() : std::string());
  config.caller = own_credential(reactor_, options_.sec);
  return config;
}

rdma::Options NfsBackend::rdma_options() {
  rdma::Options options;
  switch (options_.transport.rpcrdma) {
    case RpcRdma::one: options.version = rdma::VersionChoice::one; break;
    case RpcRdma::two: options.version = rdma::VersionChoice::two; break;
    case RpcRdma::automatic: options.version = rdma::VersionChoice::automatic; break;
  }
  options.send_size = options_.transport.inline_to_server;
  options.receive_size = options_.transport.inline_from_server;
  options.credits = shape_.credits;
  options.endpoint.crc = options_.transport.crc;
  options.endpoint.capture = &capture_of(CaptureView::wire);
  return options;
}

tcp::Options NfsBackend::tcp_options() {
  tcp::Options options;
  options.calls = shape_.credits;
  options.capture = &capture_of(CaptureView::wire);
  return options;
}

/// After the end of the mount everything that waits for the server ends by itself.
Task<Result<void>> NfsBackend::stop(Duration patience) {
  if (!mount_ || !file_system_) co_return Result<void>{};
  co_await Enter(seams_, kEnterStop,
                 journal::Body().u64(static_cast<std::uint64_t>(patience.count())));
  shutdown_flush_ = std::make_unique<ShutdownFlush>(reactor_, *file_system_);
  const bool in_time = co_await shutdown_flush_->finish(patience);
  auto stopped = co_await mount_->stop(in_time ? patience : Duration::zero());
  co_await shutdown_flush_->end();
  if (stopped && owner_) owner_->remove();
  if (seams_) seams_->finished();
  co_return stopped;
}

void NfsBackend::enter_now(std::string_view word, const std::function<void()>& go) {
  if (seams_) return seams_->enter_now(word, go);
  go();
}

void NfsBackend::reconnect() {
  enter_now(kEnterReconnect, [this] { mount_->reconnect(); });
}

std::size_t NfsBackend::return_delegations() {
  std::size_t returned = 0;
  enter_now(kEnterReturn, [&] { returned = mount_->delegations().start_returns(); });
  return returned;
}

std::size_t NfsBackend::drop_caches() {
  std::size_t files = 0;
  enter_now(kEnterDrop, [&] { files = file_system_->drop_caches(); });
  return files;
}

TransferLimits NfsBackend::limits() const {
  TransferLimits limits;
  limits.max_read = std::min<std::size_t>(mount_->rsize(), kMaxTransfer);
  limits.max_write = std::min<std::size_t>(mount_->wsize(), kMaxTransfer);
  limits.readdirplus = options_.cache.readdirplus;
  limits.posix_locks = options_.locks.posix;
  limits.flock_locks = options_.locks.flock;
  limits.explicit_invalidation = options_.cache.attributes.shortest(false) > Duration::zero();
  return limits;
}

void NfsBackend::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("memory_credits", shape_.credits);
  visitor.visit("memory_data_slots", shape_.data_slots);
  visitor.visit("memory_reply_slots", shape_.reply_slots);
  if (file_system_) file_system_->visit_counters(visitor);
  if (mount_) mount_->visit_counters(visitor);
}

void NfsBackend::report_state(const LineSink& line) {
  if (mount_) mount_->report_state(line);
}

Result<void> NfsBackend::start_capture(std::vector<UniqueFd> files, const CaptureTerms& terms) {
  const CaptureView view = terms.view.value_or(options_.transport.capture_view);
  if (view == CaptureView::wire && fabric_ && fabric_->name() == "verbs") {
    return fail(Error::local(EOPNOTSUPP, "capture",
                             "what an RDMA device sends does not pass through this program; the "
                             "views rpc and roce record its messages"));
  }
  if (view == CaptureView::roce && !fabric_) {
    return fail(Error::local(EOPNOTSUPP, "capture", "proto=tcp has no RDMA to record"));
  }
  if (capturing()) return fail(Error::local(EBUSY, "capture", "one is going on"));
  capture::Form form;
  form.snap = terms.snap;
  form.files = files.size();
  form.file_bytes = terms.file_bytes;
  form.what = description_of(view);
  auto sink = capture::Sink::create(std::move(files), form);
  if (!sink) return fail_from(sink);
  (*sink)->flush_after_turns(outside_);
  return capture_of(view).start(std::move(*sink));
}

void NfsBackend::stop_capture() {
  for (auto& each : captures_) each.stop();
}

bool NfsBackend::capturing() const {
  return std::ranges::any_of(captures_, [](const auto& each) { return each.on(); });
}

std::uint64_t NfsBackend::report_ended(std::uint64_t after, const LineSink& line) {
  if (!mount_) return 0;
  const client::Trace& trace = mount_->trace();
  const std::uint64_t ended = trace.ended();
  trace.visit_ended(ended - std::min(after, ended),
                    [&](const client::Span& span) { line("ended " + client::to_text(span)); });
  return ended;
}

void NfsBackend::report_requests(const LineSink& line) {
  if (!mount_) return;
  client::Trace& trace = mount_->trace();
  std::size_t left = kReportedRequests;
  trace.visit_in_flight([&](client::Compound& compound) {
    if (left == 0) return;
    --left;
    line("waiting " + client::waiting_text(compound, reactor_.now()));
  });
  trace.visit_ended(kReportedRequests,
                    [&](const client::Span& span) { line("ended " + client::to_text(span)); });
}

}  // namespace nfsrdma::fuse
