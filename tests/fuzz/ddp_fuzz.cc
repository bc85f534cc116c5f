// DDP and RDMAP segments, right and wrong, against leases of every kind: whatever the peer sends,
// only memory it may write changes, and every refusal has a reason. The input is a row of segments
// (ddp_fuzz_arena.h).
#include "tests/fuzz/ddp_fuzz_arena.h"
#include "transport/fabric/iwarp/receive_path.h"

namespace nfsrdma::fuzz {
namespace {

using namespace fabric;
using namespace fabric::iwarp;

constexpr std::size_t kReceives = 4;
constexpr std::size_t kReceiveSize = 256;
constexpr std::uint32_t kReadDepth = 4;

class Events final : public ReceiveEvents {
 public:
  void on_first_fpdu() override {}
  void on_message(ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t>) override {
    require(!buffer.posted && length <= buffer.memory.size());
    path->post(buffer);
  }
  void on_read_requested() override {}
  void on_read_done(void*) override {}
  void on_lease_released(Lease&) override {}
  void on_terminated(const TerminateCode& code) override { require(!text(code).empty()); }

  ReceivePath* path = nullptr;
};

class Target {
 public:
  explicit Target(StagTable& stags) : stags_(stags) {
    events_.path = &path_;
    inbound_.set_limit(kReadDepth);
    reads_.set_limit(kReadDepth);
    for (std::size_t i = 0; i < kReceives; ++i) {
      storage_[i].resize(kReceiveSize);
      buffers_[i].memory = storage_[i];
      path_.post(buffers_[i]);
    }
    expose(LeaseKind::writable, Access::remote_write);
    expose(LeaseKind::readable, Access::remote_read);
    expose(LeaseKind::invalidated, Access::remote_write);
    require(stags_.invalidate(this, arena_.lease(LeaseKind::invalidated)));
    prepare(LeaseKind::prepared, Access::remote_write);
  }
  ~Target() {
    path_.release_buffers();
    stags_.release_all(this);
    require(stags_.in_use() == 0);
    arena_.require_untouched();
  }

  /// False when the connection would end.
  bool take(std::span<std::byte> ulpdu) {
    arena_.name_leases(ulpdu);
    if (ulpdu.size() < kTaggedHeader) return false;
    const bool tagged = is_tagged(ulpdu[0]);
    const std::size_t header_size = tagged ? kTaggedHeader : kUntaggedHeader;
    if (ulpdu.size() < header_size) return false;
    const auto payload = ulpdu.subspan(header_size);
    const DdpHeader header = decode_ddp_header(ulpdu.data());
    auto place = path_.place(header, payload.size());
    if (!place) return refused(place.error());
    require(place->size() == payload.size());
    std::copy(payload.begin(), payload.end(), place->begin());
    auto delivered = path_.deliver(header, payload.size());
    return delivered ? true : refused(delivered.error());
  }

 private:
  bool refused(const Violation& violation) {
    require(!violation.detail.empty() && violation.fault != Fault::none);
    (void)path_.read_request_header();
    return false;
  }
  void prepare(LeaseKind kind, Access access) {
    require(stags_.prepare(this, arena_.lease(kind), arena_.memory(kind), access).has_value());
  }
  void expose(LeaseKind kind, Access access) {
    prepare(kind, access);
    stags_.bind(this, arena_.lease(kind));
  }

  Arena arena_;
  StagTable& stags_;
  Counters counters_;
  Events events_;
  OutboundReads reads_{stags_.random()};
  InboundReads inbound_;
  std::array<std::vector<std::byte>, kReceives> storage_;
  std::array<ReceiveBuffer, kReceives> buffers_;
  ReceivePath path_{this, stags_, reads_, inbound_, counters_, events_};
};

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nfsrdma::fuzz;
  static nfsrdma::fabric::iwarp::StagTable stags;
  Target target(stags);
  std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
  std::vector<std::byte> ulpdu;
  while (!rest.empty()) {
    rest = take_ulpdu(rest, ulpdu);
    if (!target.take(ulpdu)) break;
  }
  return 0;
}
