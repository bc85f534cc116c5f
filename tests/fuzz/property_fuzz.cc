// rdma_optinfo of one property operation (NFSRDMA_FUZZ_OPTTYPE) from a hostile peer. The first
// byte says in which situation it comes. Whatever comes: sizes stay within limits, each request
// that is well formed gets one answer, and what is sent can be decoded.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "transport/base/log.h"
#include "transport/rdma/property_exchange.h"

namespace nfsrdma::fuzz {
namespace {

enum Situation : std::uint8_t {
  kSpeaksFirst = 1,
  kDrained = 2,  ///< no smaller receive is posted when the size is raised
  kTwice = 4,
  kAsked = 8,  ///< a REQPROP of this side is open
};
constexpr std::uint32_t kOpttype = NFSRDMA_FUZZ_OPTTYPE;
constexpr std::uint32_t kXid = 7;

void require(bool holds) {
  if (!holds) std::abort();
}

class Host final : public rdma::PropertyHost {
 public:
  explicit Host(bool drained) : drained_(drained) {}
  bool may_send_optional() override { return true; }
  std::uint32_t optional_xid() override { return kXid; }
  void send_optional(std::uint32_t, const rdma::RdmaOptional& optional) override {
    rdma::OptInfo info;
    require(rdma::decode_optinfo(optional.rdma_opttype, optional.rdma_optinfo, info));
    if (optional.rdma_opttype != rdma::ROPT_RESPROP) return;
    ++answers;
    for (std::size_t i = 0; i < rdma::kMaxPropvals; ++i) {
      require(!(info.done.has(i) && info.rej.has(i)));
    }
  }
  bool raise_receives(std::uint32_t size) override {
    require(size <= rdma::kMaxReceiveBufferSize);
    return drained_;
  }
  void on_properties_changed() override {}

  int answers = 0;

 private:
  const bool drained_;
};

bool within_limits(std::uint32_t size) {
  return size >= rdma::kMinReceiveBufferSize && size <= rdma::kMaxReceiveBufferSize;
}

void run(std::uint8_t situation, std::span<const std::byte> optinfo) {
  Host host((situation & kDrained) != 0);
  rdma::PropertyPolicy policy;
  policy.speaks_first = (situation & kSpeaksFirst) != 0;
  policy.most_receive = policy.wanted_receive = rdma::kMaxReceiveBufferSize;
  rdma::PropertyExchange exchange(host, policy);
  exchange.start();
  exchange.on_later_message();
  if (situation & kAsked) exchange.request_receive_size(rdma::kMaxReceiveBufferSize);
  int requests = 0;
  for (int times = situation & kTwice ? 2 : 1; times > 0; --times) {
    const auto answer = exchange.on_optional(kXid, {kOpttype, optinfo}, 0);
    require(answer != rdma::OptionAnswer::inval_option);
    const bool taken = answer == rdma::OptionAnswer::none;
    requests += taken && kOpttype == rdma::ROPT_REQPROP ? 1 : 0;
  }
  exchange.on_receives_raised();
  exchange.on_later_message();
  require(host.answers == requests);
  require(within_limits(exchange.own().receive_buffer_size));
  require(within_limits(exchange.peer().receive_buffer_size));
  require(within_limits(exchange.send_limit()));
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  nfsrdma::log::set_level(nfsrdma::log::Level::off);
  nfsrdma::fuzz::run(data[0], std::as_bytes(std::span(data, size)).subspan(1));
  return 0;
}
