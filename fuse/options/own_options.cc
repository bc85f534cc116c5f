#include <algorithm>
#include <cctype>

#include "fuse/options/option_groups.h"
#include "transport/capture/form.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kMinInline = 1024;
constexpr std::uint64_t kMaxInline = 262144;
constexpr std::uint64_t kInlineStep = 1024;
constexpr std::uint64_t kMaxCredits = 512;
constexpr std::uint64_t kMaxReadAhead = 1024;     ///< MiB
constexpr std::uint64_t kMaxCaptureSize = 65536;  ///< MiB
constexpr std::uint64_t kMaxCaptureSnap = 262144;
constexpr unsigned kMebibyteShift = 20;
constexpr std::uint64_t kMaxRecordLast = 86400;  ///< seconds
constexpr std::uint64_t kMaxBusyPoll = 1000;     ///< microseconds

Result<void> apply_provider(Options& options, const OptionValue& value) {
  auto& provider = options.transport.provider;
  if (value.text == "auto") {
    provider = Provider::automatic;
  } else if (value.text == "verbs") {
    provider = Provider::verbs;
  } else if (value.text == "iwarp") {
    provider = Provider::iwarp;
  } else {
    return bad_value("must be auto, verbs or iwarp");
  }
  return {};
}

Result<void> apply_registration(Options& options, const OptionValue& value) {
  auto& registration = options.transport.registration;
  if (value.text == "auto") {
    registration = fabric::RegistrationChoice::automatic;
  } else if (value.text == "mw") {
    registration = fabric::RegistrationChoice::windows;
  } else if (value.text == "static") {
    registration = fabric::RegistrationChoice::static_keys;
  } else {
    return bad_value("must be auto, mw or static");
  }
  return {};
}

Result<void> apply_rpcrdma(Options& options, const OptionValue& value) {
  if (value.text == "1") {
    options.transport.rpcrdma = RpcRdma::one;
  } else if (value.text == "2") {
    options.transport.rpcrdma = RpcRdma::two;
  } else if (value.text == "auto") {
    options.transport.rpcrdma = RpcRdma::automatic;
  } else {
    return bad_value("must be 1, 2 or auto");
  }
  return {};
}

Result<void> apply_capture_view(Options& options, const OptionValue& value) {
  const auto view = capture_view_of(value.text);
  if (!view) return bad_value("must be wire, rpc or roce");
  options.transport.capture_view = *view;
  return {};
}

Result<void> apply_control(Options& options, const OptionValue& value) {
  const bool path = value.text.starts_with('/') && value.text.ends_with(".sock");
  if (value.text != "auto" && value.text != "off" && !path) {
    return bad_value("must be auto, off or an absolute path that ends in .sock");
  }
  options.program.control = value.text;
  return {};
}

Result<void> apply_io_uring(Options& options, const OptionValue& value) {
  if (value.text != "auto" && value.text != "off") return bad_value("must be auto or off");
  options.io_uring = value.text == "auto";
  return {};
}

Result<void> apply_inline(Options& options, const OptionValue& value) {
  if (value.number % kInlineStep != 0) return bad_value("must be a multiple of 1024 (RFC 8797)");
  options.transport.inline_to_server = static_cast<std::uint32_t>(value.number);
  options.transport.inline_from_server = options.transport.inline_to_server;
  return {};
}

/// It becomes a line of libnfsidmap's configuration.
Result<void> apply_domain(Options& options, const OptionValue& value) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  };
  if (value.text.empty() || !std::ranges::all_of(value.text, fits)) {
    return bad_value("must be a domain name, such as example.org");
  }
  options.domain = value.text;
  return {};
}

constexpr OptionSpec kOptions[] = {
    {.name = "provider",
     .argument = "auto|verbs|iwarp",
     .kind = OptionKind::ours,
     .default_value = "auto",
     .doc = "what carries RDMA: an RDMA device, or userspace iWARP over one TCP connection",
     .apply = apply_provider},
    {.name = "device",
     .argument = "NAME",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "use this RDMA device (mlx5_0) or fail",
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.transport.device = value.text;
       return {};
     }},
    {.name = "rdma_reg",
     .argument = "auto|mw|static",
     .kind = OptionKind::ours,
     .default_value = "auto",
     .doc = "memory for RDMA devices: windows made for each call, or keys that stay valid",
     .apply = apply_registration},
    {.name = "rpcrdma",
     .argument = "1|2|auto",
     .kind = OptionKind::ours,
     .default_value = "1",
     .doc = "version of RPC-over-RDMA: 1 (RFC 8166), 2 (a draft), or 2 where the server has it",
     .apply = apply_rpcrdma},
    {.name = "inline",
     .argument = "BYTES",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc =
         "largest message without chunks, in both directions [69632 to the server, 4096 from it]",
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
    {.name = "readahead",
     .argument = "MIB",
     .kind = OptionKind::ours,
     .default_value = "64",
     .doc = "most mebibytes of a file that are read before a program asks for them; 0: none",
     .min = 0,
     .max = kMaxReadAhead,
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.cache.data.read_ahead = static_cast<std::size_t>(value.number) << kMebibyteShift;
       return {};
     }},
    {.name = "dirty_ratio",
     .argument = "PERCENT",
     .kind = OptionKind::ours,
     .default_value = "50",
     .doc = "most of the buffers that have written data which is not durable at the server",
     .min = 1,
     .max = cache::DataLimits::kMostDirty,
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.cache.data.dirty_ratio = static_cast<unsigned>(value.number);
       return {};
     }},
    {.name = "io_uring",
     .argument = "auto|off",
     .kind = OptionKind::ours,
     .default_value = "off",
     .doc = "take the kernel's requests over io_uring where it offers that (Linux 6.14)",
     .apply = apply_io_uring},
    {.name = "busy_poll",
     .argument = "US",
     .kind = OptionKind::ours,
     .default_value = "100",
     .doc = "look so many microseconds for the next event before sleeping, while a processor is "
            "idle; 0: never",
     .min = 0,
     .max = kMaxBusyPoll,
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.program.busy_poll = std::chrono::microseconds(value.number);
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
    {.name = "domain",
     .argument = "NAME",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "domain of owners that the server sends as user@domain, instead of idmapd.conf's",
     .apply = apply_domain},
    {.name = "capture",
     .argument = "FILE",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "record the connection in FILE as pcapng, for Wireshark",
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.transport.capture_file = value.text;
       return {};
     }},
    {.name = "capture_view",
     .argument = "wire|rpc|roce",
     .kind = OptionKind::ours,
     .default_value = "wire",
     .doc = "what a capture records: the bytes sent, each RPC whole as NFS over TCP, or RoCEv2 "
            "packets",
     .apply = apply_capture_view},
    {.name = "capture_ring",
     .argument = "N",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "capture into a ring of N files, FILE-0 and so on: the oldest is overwritten",
     .min = 2,
     .max = capture::kMostFiles,
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.transport.capture_files = static_cast<std::size_t>(value.number);
       return {};
     }},
    {.name = "capture_size",
     .argument = "MIB",
     .kind = OptionKind::ours,
     .default_value = "64",
     .doc = "mebibytes of a file of capture_ring= from which on the next one is written",
     .min = 1,
     .max = kMaxCaptureSize,
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.transport.capture_size = value.number << kMebibyteShift;
       return {};
     }},
    {.name = "capture_snap",
     .argument = "BYTES",
     .kind = OptionKind::ours,
     .default_value = "0",
     .doc = "bytes of each packet that a capture keeps, headers included; 0: all",
     .min = 0,
     .max = kMaxCaptureSnap,
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.transport.capture_snap = static_cast<std::size_t>(value.number);
       return {};
     }},
    {.name = "log",
     .argument = "FILE",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "write the log to FILE, which is opened anew on SIGHUP",
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.program.log_file = value.text;
       return {};
     }},
    {.name = "config",
     .argument = "FILE|none",
     .kind = OptionKind::ours,
     .default_value = "/etc/nfsrdma.conf",
     .doc = "options that hold for all mounts, a server or a mount point, unless said otherwise",
     .apply = [](Options&, const OptionValue&) -> Result<void> { return {}; }},
    {.name = "control",
     .argument = "auto|off|PATH",
     .kind = OptionKind::ours,
     .default_value = "auto",
     .doc = "where nfsrdmactl reaches this mount: auto is a socket in the user's runtime directory",
     .apply = apply_control},
    {.name = "record",
     .argument = "FILE",
     .kind = OptionKind::ours,
     .default_value = "",
     .doc = "record the mount in FILE, so that nfsrdma-lab rerun can make it run again",
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.program.record_file = value.text;
       return {};
     }},
    {.name = "record_last",
     .argument = "S",
     .kind = OptionKind::ours,
     .default_value = "0",
     .doc = "keep the last S seconds of a recording at least, for the time before a crash; 0: all",
     .min = 0,
     .max = kMaxRecordLast,
     .apply = [](Options& options, const OptionValue& value) -> Result<void> {
       options.program.record_last = static_cast<std::uint32_t>(value.number);
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

std::optional<CaptureView> capture_view_of(std::string_view word) {
  if (word == "wire") return CaptureView::wire;
  if (word == "rpc") return CaptureView::rpc;
  if (word == "roce") return CaptureView::roce;
  return {};
}

std::span<const OptionSpec> own_options() { return kOptions; }

}  // namespace nfsrdma::fuse
