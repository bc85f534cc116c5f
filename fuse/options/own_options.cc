#include "fuse/options/option_groups.h"

namespace nfsrdma::fs {
namespace {

constexpr std::uint64_t kMinInline = 1024;
constexpr std::uint64_t kMaxInline = 262144;
constexpr std::uint64_t kInlineStep = 1024;
constexpr std::uint64_t kMaxCredits = 512;

Result<void> apply_provider(Options&, const OptionValue& value) {
  if (value.text == "auto" || value.text == "iwarp") return {};
  if (value.text == "verbs") {
    return bad_value("RDMA devices are not supported yet; use provider=iwarp, which needs none");
  }
  return bad_value("must be auto or iwarp");
}

Result<void> apply_device(Options&, const OptionValue&) {
  return bad_value("only provider=verbs has devices to choose from, and it is not supported yet");
}

Result<void> apply_rpcrdma(Options&, const OptionValue& value) {
  if (value.text == "1") return {};
  if (value.text == "2" || value.text == "auto") {
    return bad_value("RPC-over-RDMA version 2 is not supported yet; use rpcrdma=1");
  }
  return bad_value("must be 1");
}

Result<void> apply_inline(Options& options, const OptionValue& value) {
  if (value.number % kInlineStep != 0) return bad_value("must be a multiple of 1024 (RFC 8797)");
  options.transport.inline_threshold = static_cast<std::uint32_t>(value.number);
  return {};
}

constexpr OptionSpec kOptions[] = {
    {.name = "provider",
     .argument = "auto|iwarp",
     .kind = OptionKind::ours,
     .default_value = "auto",
     .doc = "what carries RDMA; iwarp is userspace iWARP over one TCP connection",
     .apply = apply_provider},
    {.name = "device",
     .argument = "NAME",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "the RDMA device of provider=verbs; not supported yet",
     .apply = apply_device},
    {.name = "rpcrdma",
     .argument = "1",
     .kind = OptionKind::ours,
     .default_value = "1",
     .doc = "version of RPC-over-RDMA (RFC 8166 is version 1)",
     .apply = apply_rpcrdma},
    {.name = "inline",
     .argument = "OCTETS",
     .kind = OptionKind::ours,
     .default_value = "4096",
     .doc = "largest message sent without chunks, in both directions (RFC 8797)",
     .min = kMinInline,
     .max = kMaxInline,
     .apply = apply_inline},
    {.name = "credits",
     .argument = "N",
     .kind = OptionKind::ours,
     .default_value = "64",
     .doc = "requests to have in progress at once, if the server agrees",
     .min = 1,
     .max = kMaxCredits,
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.transport.credits = static_cast<std::uint32_t>(value.number);
       return {};
     }},
    {.name = "crc",
     .argument = "",
     .kind = OptionKind::ours,
     .default_value = "crc",
     .doc = "protect the iWARP connection with CRC32c",
     .apply = [](Options& options, const OptionValue&) -> Result<void> {
       options.transport.crc = true;
       return {};
     }},
    {.name = "nocrc",
     .argument = "",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "do not ask for CRC32c; it is used all the same if the server asks",
     .apply = [](Options& options, const OptionValue&) -> Result<void> {
       options.transport.crc = false;
       return {};
     }},
    {.name = "capture",
     .argument = "FILE",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "record the connection in FILE as pcapng, for Wireshark",
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.transport.capture_file = value.text;
       return {};
     }},
    {.name = "stats",
     .argument = "FILE",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "write counters to FILE at the end and on SIGUSR1",
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.program.stats_file = value.text;
       return {};
     }},
};

}  // namespace

std::span<const OptionSpec> own_options() { return kOptions; }

}  // namespace nfsrdma::fs
