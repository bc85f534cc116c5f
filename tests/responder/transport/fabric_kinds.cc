#include "tests/responder/transport/fabric_kinds.h"

#include <array>

#include "tests/responder/transport/fault_words.h"
#include "transport/net/fault.h"
#include "transport/rdma/private_data.h"

namespace nfsrdma::responder {
namespace {

using faults::At;
using faults::FabricFault;
using faults::What;

/// The rest of a value behind its word.
enum class Behind { nothing, count, sign };

struct FabricKind {
  std::string_view name;
  std::string_view word;
  Behind behind;
  At at;
  What what;
  std::int64_t amount = 0;  ///< where nothing stands behind the word
};

constexpr std::int64_t number_of(net::Fault fault) { return static_cast<std::int64_t>(fault); }

constexpr std::array kFabricKinds = {
    FabricKind{"write", "drop", Behind::nothing, At::write, What::drop},
    FabricKind{"write", "cut", Behind::count, At::write, What::cut},
    FabricKind{"write", "corrupt", Behind::count, At::write, What::corrupt},
    FabricKind{"write", "late", Behind::nothing, At::write, What::late},
    FabricKind{"write", "twice", Behind::nothing, At::write, What::twice},
    FabricKind{"write", "stag", Behind::sign, At::write, What::stag},
    FabricKind{"write", "to", Behind::sign, At::write, What::offset},
    FabricKind{"read", "cut", Behind::count, At::read, What::cut},
    FabricKind{"read", "stag", Behind::sign, At::read, What::stag},
    FabricKind{"read", "to", Behind::sign, At::read, What::offset},
    FabricKind{"send", "drop", Behind::nothing, At::send, What::drop},
    FabricKind{"invalidate", "none", Behind::nothing, At::send, What::invalidate_none},
    FabricKind{"invalidate", "wrong", Behind::nothing, At::send, What::invalidate_wrong},
    FabricKind{"invalidate", "other-call", Behind::nothing, At::send, What::invalidate_other},
    FabricKind{"invalidate", "unasked", Behind::nothing, At::send, What::invalidate_unasked},
    FabricKind{"receives", "none", Behind::count, At::receive, What::hold},
    FabricKind{"receives", "hold", Behind::nothing, At::receive, What::hold},
    FabricKind{"resources", "connect", Behind::nothing, At::connect, What::fail},
    FabricKind{"resources", "receive", Behind::nothing, At::receive, What::fail},
    FabricKind{"resources", "prepare", Behind::nothing, At::prepare, What::fail},
    FabricKind{"resources", "write", Behind::nothing, At::write, What::fail},
    FabricKind{"resources", "read", Behind::nothing, At::read, What::fail},
    FabricKind{"resources", "send", Behind::nothing, At::send, What::fail},
    FabricKind{"device", "removed", Behind::nothing, At::send, What::end,
               number_of(net::Fault::resources)},
    FabricKind{"device", "queue-error", Behind::nothing, At::send, What::end,
               number_of(net::Fault::protocol)},
    FabricKind{"device", "port-down", Behind::nothing, At::send, What::end,
               number_of(net::Fault::reset)},
    FabricKind{"wire", "badcrc", Behind::nothing, At::frame, What::bad_crc},
    FabricKind{"wire", "split", Behind::count, At::frame, What::split},
    FabricKind{"wire", "terminate", Behind::count, At::frame, What::terminate},
    FabricKind{"wire", "silence", Behind::nothing, At::frame, What::silent},
    FabricKind{"wire", "reset", Behind::nothing, At::frame, What::reset},
    FabricKind{"wire", "finish", Behind::nothing, At::frame, What::finish},
    FabricKind{"wire", "revision", Behind::count, At::startup, What::revision},
    FabricKind{"wire", "markers", Behind::nothing, At::startup, What::markers},
    FabricKind{"wire", "refuse", Behind::nothing, At::startup, What::reject},
    FabricKind{"connect", "reject", Behind::nothing, At::request, What::reject},
    FabricKind{"connect", "silent", Behind::nothing, At::request, What::silent},
    FabricKind{"disconnect", "accept", Behind::nothing, At::accepted, What::disconnect},
    FabricKind{"disconnect", "after-read", Behind::nothing, At::read_done, What::disconnect},
    FabricKind{"disconnect", "mid-write", Behind::count, At::write, What::disconnect},
    FabricKind{"disconnect", "before-send", Behind::nothing, At::send, What::instead},
    FabricKind{"disconnect", "after-send", Behind::nothing, At::send, What::disconnect},
};
constexpr std::array<std::string_view, 4> kFurtherKinds = {
    "send-done=MS", "private-data=absent", "private-data=send:N,recv:M", "private-data=HEX"};

std::optional<FabricFault> with_amount(const FabricKind& kind, std::string_view rest,
                                       bool any_rest) {
  FabricFault fault{kind.at, kind.what, kind.amount};
  if (kind.behind == Behind::nothing) return any_rest ? std::nullopt : std::optional(fault);
  const auto amount = signed_number_in(rest);
  if (!amount || (kind.behind == Behind::count && *amount < 0)) return std::nullopt;
  fault.amount = *amount;
  return fault;
}

std::optional<std::vector<std::byte>> sizes(std::string_view value) {
  rdma::PrivateData data;
  std::string_view first = take_until(value, ',');
  if (take_until(first, ':') != "send" || take_until(value, ':') != "recv") return std::nullopt;
  const auto send = number_in<std::size_t>(first);
  const auto receive = number_in<std::size_t>(value);
  if (!send || !receive) return std::nullopt;
  data.send_size = *send;
  data.receive_size = *receive;
  data.remote_invalidation = true;
  const auto encoded = rdma::encode_private_data(data);
  return std::vector<std::byte>(encoded.begin(), encoded.end());
}

std::optional<std::vector<std::byte>> hexadecimal(std::string_view digits) {
  constexpr std::size_t kDigits = 2;
  std::vector<std::byte> bytes;
  if (digits.empty() || digits.size() % kDigits != 0) return std::nullopt;
  for (; !digits.empty(); digits.remove_prefix(kDigits)) {
    const auto value = number_in<std::uint8_t>("0x" + std::string(digits.substr(0, kDigits)));
    if (!value) return std::nullopt;
    bytes.push_back(std::byte{*value});
  }
  return bytes;
}

std::optional<FabricFault> private_data(std::string_view value) {
  FabricFault fault{At::request, What::private_data};
  if (value == "absent") return fault;
  auto bytes = value.starts_with("send:") ? sizes(value) : hexadecimal(value);
  if (!bytes) return std::nullopt;
  fault.bytes = std::move(*bytes);
  return fault;
}

}  // namespace

std::optional<FabricFault> fabric_fault(std::string_view name, std::string_view value) {
  if (name == "private-data") return private_data(value);
  if (name == "send-done") {
    const auto milliseconds = number_in<std::uint32_t>(value);
    if (!milliseconds) return std::nullopt;
    return FabricFault{At::send_done, What::hold, *milliseconds};
  }
  std::string_view rest = value;
  const std::string_view word = take_until(rest, ':');
  for (const FabricKind& kind : kFabricKinds) {
    if (kind.name == name && kind.word == word) {
      return with_amount(kind, rest, word.size() != value.size());
    }
  }
  return std::nullopt;
}

std::vector<std::string> fabric_kinds() {
  std::vector<std::string> kinds;
  for (const FabricKind& kind : kFabricKinds) {
    std::string text = std::string(kind.name) + "=" + std::string(kind.word);
    if (kind.behind == Behind::count) text += ":N";
    if (kind.behind == Behind::sign) text += ":+N";
    kinds.push_back(std::move(text));
  }
  kinds.insert(kinds.end(), kFurtherKinds.begin(), kFurtherKinds.end());
  return kinds;
}

}  // namespace nfsrdma::responder
