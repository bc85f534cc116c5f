#include "tests/hostile/hostile_mount.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "client/session/trace.h"
#include "tests/faults/faulty_fabric.h"
#include "tests/support/counter_of.h"
#include "transport/base/log.h"
#include "transport/rdma/channel_factory.h"
#include "transport/tcp/channel_factory.h"

namespace nfsrdma::hostile {
namespace {

constexpr std::size_t kDataSlot = std::size_t{1} << 19;
constexpr std::size_t kDataSlots = 24;
constexpr std::size_t kReplySlot = std::size_t{1} << 18;
constexpr std::size_t kReplySlots = 16;
constexpr std::uint32_t kTransfer = 1U << 17;
constexpr std::uint32_t kSlots = 8;
constexpr std::uint32_t kCredits = 16;
constexpr std::size_t kConnections = 8;

template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message();
    std::abort();
  }
  return std::move(*result);
}

/// In memory, if there is such a place: an attack makes and removes files.
std::filesystem::path folder() {
  const std::filesystem::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

responder::ResponderConfig serving() {
  responder::ResponderConfig config;
  config.credits = kCredits;
  config.max_payload = kTransfer;
  config.max_connections = kConnections;
  return config;
}

cache::AttributePolicy policy(bool cached) {
  cache::AttributePolicy policy;
  if (cached) return policy;
  policy.acregmin = policy.acregmax = policy.acdirmin = policy.acdirmax = Duration::zero();
  return policy;
}

}  // namespace

const char* name_of(Over over) { return over == Over::tcp ? "Tcp" : "Iwarp"; }

HostileMount::HostileMount(HostileOptions options) : options_(std::move(options)) {
  log::set_level(log::Level::off);
  make_server();
  messages_ = must(
      BufferPool::create(client::Mount::kMessageSlotBytes, client::Mount::message_slots(kSlots)));
  data_ = must(BufferPool::create(kDataSlot, kDataSlots));
  replies_ = must(BufferPool::create(kReplySlot, kReplySlots));
  make_channels();
  client::MountConfig config;
  config.export_path = "/";
  config.server = "hostile";
  config.rsize = config.wsize = kTransfer;
  config.max_slots = kSlots;
  config.caller.uid = ::getuid();
  config.caller.gid = ::getgid();
  mount_ = std::make_unique<client::Mount>(reactor_, *channels_, std::move(config), *messages_);
}

void HostileMount::make_server() {
  directory_ = (folder() / "nfsrdma-hostile-XXXXXX").string();
  if (!::mkdtemp(directory_.data())) std::abort();
  responder::ResponderConfig transport = serving();
  transport.wire_faults = options_.wire_faults;
  responder_pools_ = std::make_unique<responder::ResponderPools>(
      must(responder::ResponderPools::create(transport)));
  server_fabric_ = fabric::make_listening_iwarp_fabric(reactor_);
  responder::ServiceConfig config;
  config.directory = directory_;
  config.durable = false;
  config.sole_writer = true;
  config.delegations = options_.delegations;
  config.max_transfer = kTransfer;
  service_ = must(responder::NfsService::create(reactor_, config));
  hostile_ = std::make_unique<HostileService>(*service_);
  responder_ = must(responder::Responder::create(reactor_, *server_fabric_, *hostile_, transport,
                                                 *responder_pools_));
  const auto loopback = must(net::resolve("127.0.0.1", 0, AF_INET)).front();
  address_ = must(options_.over == Over::tcp ? responder_->listen_tcp(loopback)
                                             : responder_->listen(loopback));
  if (!options_.between) return;
  middleman_ = options_.between(reactor_, address_);
  address_ = middleman_->address();
}

void HostileMount::make_channels() {
  if (options_.over == Over::tcp) {
    tcp::Options tcp;
    tcp.calls = kCredits;
    channels_ = must(tcp::ChannelFactory::create(reactor_, address_, tcp, *replies_));
    return;
  }
  if (options_.client_script) {
    inner_fabric_ = fabric::make_listening_iwarp_fabric(reactor_);
    fabric_ =
        std::make_unique<faults::FaultyFabric>(reactor_, *inner_fabric_, *options_.client_script);
  } else {
    fabric_ = fabric::make_iwarp_fabric(reactor_);
  }
  for (BufferPool* pool : {messages_.get(), data_.get()}) {
    if (!fabric_->register_pool(*pool)) std::abort();
  }
  rdma::Options rdma;
  rdma.credits = kCredits;
  auto channels = must(rdma::ChannelFactory::create(reactor_, *fabric_, address_, rdma, *replies_));
  calls_in_use_ = [pools = &channels->pools()] { return pools->contexts->in_use(); };
  lent_ = {messages_->memory(), data_->memory(), replies_->memory(),
           channels->pools().send_memory->memory(), channels->pools().receives->memory().memory()};
  channels_ = std::move(channels);
}

HostileMount::~HostileMount() {
  kernel_.reset();
  fs_.reset();
  mount_.reset();
  reactor_.settle();
  fabric_.reset();
  middleman_.reset();
  responder_->abort();
  service_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

Result<void> HostileMount::start() {
  auto started = run(mount_->start());
  if (!started) return started;
  fuse::FileSystemConfig config;
  config.attributes = policy(options_.cached);
  fs_ = std::make_unique<fuse::FileSystem>(*mount_, *data_, config);
  fuse::AnswerLimit limit;
  limit.waiting_since = [this] { return mount_->waiting_since(); };
  kernel_ = std::make_unique<fuse::test::FakeKernel>(
      reactor_, *data_, fuse::Serving{fuse::operations(), fs_.get(), {}}, std::move(limit));
  caller_ = std::make_unique<KillableCaller>();
  kernel_->caller.pid = caller_->pid();
  return {};
}

void HostileMount::lift() {
  hostile_->lift();
  faults_met_ = 0;
  for (const auto& rule : responder_->faults().rules()) {
    const bool stands = rule.level == responder::FaultRule::Level::standing;
    faults_met_ += stands ? 1 : rule.fired;
  }
  responder_->clear_faults();
  if (middleman_) middleman_->lift();
}

std::string HostileMount::harm() { return middleman_ ? middleman_->harm(lent_) : std::string(); }

void HostileMount::stop() {
  lift();
  const auto ended = [](Task<void> task) -> Task<bool> {
    co_await task;
    co_return true;
  };
  if (fs_) run(ended(fs_->finish()));
  (void)run(mount_->stop());
}

void HostileMount::write_file(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
}

std::string HostileMount::read_file(const std::string& name) const {
  std::ifstream in(path(name), std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool HostileMount::exists(const std::string& name) const {
  return std::filesystem::exists(std::filesystem::symlink_status(path(name)));
}

Ended HostileMount::end(std::uint64_t unique, Duration patience) {
  const auto answered = [&] { return kernel_->answered(unique); };
  Ended ended;
  ended.answered = reactor_.run_until(answered, patience);
  if (!ended.answered) {
    caller_->kill();
    kernel_->interrupt(unique);
    ended.released = reactor_.run_until(answered, kRelease);
    caller_ = std::make_unique<KillableCaller>();
    kernel_->caller.pid = caller_->pid();
  }
  if (ended.answered || ended.released) ended.answer = kernel_->take_answer(unique);
  return ended;
}

Answer HostileMount::honest_end(std::uint64_t unique) {
  const bool answered = reactor_.run_until([&] { return kernel_->answered(unique); }, kRecovery);
  EXPECT_TRUE(answered) << "an honest server's answer does not reach the program";
  return answered ? kernel_->take_answer(unique) : Answer{EIO, {}};
}

bool HostileMount::become_idle() {
  return reactor_.run_until([this] { return kernel_->in_flight().running() == 0; }, kRecovery);
}

std::string HostileMount::in_flight() {
  std::string text;
  mount_->trace().visit_in_flight([&](const client::Compound& compound) {
    for (const auto opnum : compound.asked()) text += std::string(operation_name(opnum)) + ' ';
    text += "waits for " + std::to_string(static_cast<int>(compound.waits_for())) + "; ";
  });
  return text;
}

std::uint64_t HostileMount::delegations() const {
  return testing::counter_of(*mount_, "delegations");
}

std::string HostileMount::footprint() const {
  std::string text = "data " + std::to_string(data_->available()) + ", replies " +
                     std::to_string(replies_->available());
  if (calls_in_use_) text += ", calls " + std::to_string(calls_in_use_());
  for (const char* name : {"open_files", "session_slots_in_use", "delegations"}) {
    text += std::string(", ") + name + " " + std::to_string(testing::counter_of(*mount_, name));
  }
  for (const char* name : {"fs_inodes", "fs_open_files", "cache_slots_uncommitted",
                           "cache_bytes_kept_in_copies", "cache_gather_slots"}) {
    text += std::string(", ") + name + " " + std::to_string(testing::counter_of(*fs_, name));
  }
  return text;
}

}  // namespace nfsrdma::hostile
