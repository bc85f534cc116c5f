#include "tests/client/served_mount.h"

#include <unistd.h>

#include <cstring>

#include "client/requests/read.h"
#include "client/requests/write.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::client::test {
namespace {

constexpr std::size_t kDataBytes = 65536;
constexpr std::size_t kDataSlots = 8;

}  // namespace

ServedMount::ServedMount(responder::DelegationKind delegations, std::uint32_t lease_seconds,
                         bool mandatory_locks)
    : server_(reactor_, /*grace_seconds=*/0, delegations, lease_seconds, mandatory_locks) {
  messages_ = make_messages();
  data_ = std::move(*BufferPool::create(kDataBytes, kDataSlots));
  mount_ = make_mount(*messages_);
}

std::unique_ptr<BufferPool> ServedMount::make_messages() {
  return std::move(*BufferPool::create(Mount::kMessageSlotBytes, Mount::message_slots(kSlots)));
}

std::unique_ptr<Mount> ServedMount::make_mount(BufferPool& messages) {
  MountConfig config;
  config.export_path = "/";
  config.max_slots = kSlots;
  config.caller = caller();
  return std::make_unique<Mount>(reactor_, server_, std::move(config), messages);
}

void ServedMount::SetUp() {
  auto started = run(mount_->start());
  ASSERT_TRUE(started) << started.error().message();
}

void ServedMount::TearDown() {
  server_.fate = nullptr;
  server_.after = nullptr;
  server_.unreachable = false;
  (void)run(mount_->stop());
  EXPECT_EQ(counter("stalls"), 0U);
  mount_.reset();
  reactor_.settle();
}

Credential ServedMount::caller() const {
  Credential caller;
  caller.uid = ::getuid();
  caller.gid = ::getgid();
  return caller;
}

Credential ServedMount::member_of(std::uint32_t group) const {
  Credential member = caller();
  member.groups[0] = group;
  member.group_count = 1;
  return member;
}

std::vector<std::uint32_t> ServedMount::groups_of(nfs4::nfs_opnum4 operation) const {
  std::vector<std::uint32_t> groups;
  for (const Arrival& arrival : server_.arrivals()) {
    if (arrival.has(operation)) groups.push_back(arrival.caller.groups[0]);
  }
  return groups;
}

std::uint64_t ServedMount::counter(const std::string& name) const {
  return testing::counter_of(*mount_, name);
}

Opened ServedMount::open_file(const std::string& name, std::uint32_t access) {
  auto opened = run(open_by_name(mount(), caller(), root(), name, access));
  EXPECT_TRUE(opened) << opened.error().message();
  if (!opened) std::abort();
  return std::move(*opened);
}

Result<std::string> ServedMount::read_text(const Opened& file) {
  Buffer sink = data_->acquire();
  auto data = run(read(mount(), caller(), file.handle, file.open.state(), 0, sink.bytes()));
  if (!data) return fail_from(data);
  return std::string(reinterpret_cast<const char*>(data->data.data()), data->data.size());
}

Result<void> ServedMount::write_text(const Opened& file, std::uint64_t offset,
                                     const std::string& text) {
  Buffer data = data_->acquire();
  std::memcpy(data.data(), text.data(), text.size());
  auto written = run(write(mount(), caller(), file.handle, file.open.state(), offset,
                           data.first(text.size()), nfs4::UNSTABLE4));
  if (!written) return fail_from(written);
  return {};
}

}  // namespace nfsrdma::client::test
