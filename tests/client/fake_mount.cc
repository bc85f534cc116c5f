#include "tests/client/fake_mount.h"

#include "tests/support/counter_of.h"

namespace nfsrdma::client::test {
namespace {

constexpr std::size_t kMessages = Mount::message_slots(MountConfig{}.max_slots);

}  // namespace

FakeMount::FakeMount() {
  messages_ = std::move(*BufferPool::create(Mount::kMessageSlotBytes, kMessages));
  server_.on<nfs4::GETATTR4args, nfs4::GETATTR4res>(
      [this](const nfs4::GETATTR4args& args, nfs4::GETATTR4res& result) {
        static thread_local std::array<std::byte, 1024> memory;
        nfs4::Attributes attributes;
        attributes.present = args.attr_request & nfs4::known_attributes();
        attributes.type = nfs4::NF4DIR;
        attributes.lease_time = lease_seconds_;
        attributes.maxread = attributes.maxwrite = 1 << 20;
        attributes.maxname = 255;
        xdr::Encoder out(memory);
        nfs4::encode_attributes(out, attributes.present, attributes);
        xdr::Decoder in(out.encoded());
        nfs4::decode(in, result.resok4.obj_attributes);
      });
  configure({});
}

void FakeMount::configure(MountConfig config, std::uint32_t slots) {
  config.max_slots = slots;
  if (config.export_path.empty()) config.export_path = "/";
  mount_ = std::make_unique<Mount>(reactor_, server_, std::move(config), *messages_);
}

Result<void> FakeMount::try_start() { return run(mount_->start()); }

void FakeMount::start() {
  auto started = try_start();
  ASSERT_TRUE(started) << started.error().message();
  mounted_after_ = server_.arrivals().size();
}

void FakeMount::TearDown() {
  server_.release();
  server_.fate = nullptr;
  if (!stopped_) (void)run(mount_->stop());
  if (mount_) {
    EXPECT_EQ(counter("stalls"), expected_stalls_);
  }
  mount_.reset();
  reactor_.settle();
  if (!expect_clean_) return;
  for (const std::string& violation : server_.violations()) ADD_FAILURE() << violation;
}

std::uint64_t FakeMount::counter(const std::string& name) const {
  return testing::counter_of(*mount_, name);
}

FileHandle FakeMount::handle(int number) {
  FileHandle made;
  made.length = 1;
  made.data[0] = static_cast<std::byte>(number);
  return made;
}

std::vector<Arrival> FakeMount::arrivals() const {
  const auto& all = server_.arrivals();
  return {all.begin() + static_cast<std::ptrdiff_t>(mounted_after_), all.end()};
}

}  // namespace nfsrdma::client::test
