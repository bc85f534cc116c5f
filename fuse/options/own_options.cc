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
constexpr std::uint64_t kMaxReadAhead = 1024;  ///< MiB
constexpr std::uint64_t kMinInodes = 1024;
constexpr std::uint64_t kMaxInodes = std::uint64_t{1} << 24;
constexpr std::uint64_t kMaxCaptureSize = 65536;  ///< MiB
constexpr std::uint64_t kMaxCaptureSnap = 262144;
constexpr std::uint64_t kMaxRecordLast = 86400;  ///< seconds
constexpr std::uint64_t kMaxBusyPoll = 1000;     ///< microseconds

Result<void> apply_provider(Options& options, const OptionValue& value) {
  return choose(
      options.transport.provider, value.text,
      {{"auto", Provider::automatic}, {"verbs", Provider::verbs}, {"iwarp", Provider::iwarp}},
      "must be auto, verbs or iwarp");
}

Result<void> apply_registration(Options& options, const OptionValue& value) {
  using fabric::RegistrationChoice;
  return choose(options.transport.registration, value.text,
                {{"auto", RegistrationChoice::automatic},
                 {"mw", RegistrationChoice::windows},
                 {"static", RegistrationChoice::static_keys}},
                "must be auto, mw or static");
}

Result<void> apply_rpcrdma(Options& options, const OptionValue& value) {
  return choose(options.transport.rpcrdma, value.text,
                {{"1", RpcRdma::one}, {"2", RpcRdma::two}, {"auto", RpcRdma::automatic}},
                "must be 1, 2 or auto");
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
    with_value("provider", "auto|verbs|iwarp", "auto",
               "what carries RDMA: an RDMA device, or userspace iWARP over one TCP connection",
               apply_provider),
    with_value("device", "NAME", "", "use this RDMA device (mlx5_0) or fail",
               set_text<&Options::transport, &TransportOptions::device>),
    with_value("rdma_reg", "auto|mw|static", "auto",
               "memory for RDMA devices: windows made for each call, or keys that stay valid",
               apply_registration),
    with_value("rpcrdma", "1|2|auto", "1",
               "version of RPC-over-RDMA: 1 (RFC 8166), 2 (a draft), or 2 where the server has it",
               apply_rpcrdma),
    number("inline", "BYTES", "", {kMinInline, kMaxInline},
           "largest message without chunks, in both directions [69632 to the server, 4096 from it]",
           apply_inline),
    number("credits", "N", "64", {1, kMaxCredits},
           "requests to have in progress at once, if the server agrees",
           set_number<&Options::transport, &TransportOptions::credits>),
    number("readahead", "MIB", "64", {0, kMaxReadAhead},
           "most mebibytes of a file that are read before a program asks for them; 0: none",
           set_mebibytes<&Options::cache, &CacheOptions::data, &cache::DataLimits::read_ahead>),
    number("dirty_ratio", "PERCENT", "50", {1, cache::DataLimits::kMostDirty},
           "most of the buffers that have written data which is not durable at the server",
           set_number<&Options::cache, &CacheOptions::data, &cache::DataLimits::dirty_ratio>),
    number("inodes", "N", "", {kMinInodes, kMaxInodes},
           "files and directories to know at most, about 1 KiB of memory each [an eighth of the "
           "memory]",
           set_number<&Options::cache, &CacheOptions::most_inodes>),
    with_value("io_uring", "auto|off", "off",
               "take the kernel's requests over io_uring where it offers that (Linux 6.14)",
               apply_io_uring),
    number("busy_poll", "US", "200", {0, kMaxBusyPoll},
           "look so many microseconds for the next event before sleeping, while a processor is "
           "idle; 0: never",
           set_duration<std::chrono::microseconds, &Options::program, &ProgramOptions::busy_poll>),
    with_value("crc", "", "crc", "protect the iWARP connection with CRC32c",
               set_flag<true, &Options::transport, &TransportOptions::crc>),
    flag("nocrc", "do not ask for CRC32c; it is used all the same if the server asks",
         set_flag<false, &Options::transport, &TransportOptions::crc>),
    with_value("domain", "NAME", "",
               "domain of owners that the server sends as user@domain, instead of idmapd.conf's",
               apply_domain),
    with_value("capture", "FILE", "", "record the connection in FILE as pcapng, for Wireshark",
               set_text<&Options::transport, &TransportOptions::capture_file>),
    with_value("capture_view", "wire|rpc|roce", "wire",
               "what a capture records: the bytes sent, each RPC whole as NFS over TCP, or RoCEv2 "
               "packets",
               apply_capture_view),
    number("capture_ring", "N", "", {2, capture::kMostFiles},
           "capture into a ring of N files, FILE-0 and so on: the oldest is overwritten",
           set_number<&Options::transport, &TransportOptions::capture_files>),
    number("capture_size", "MIB", "64", {1, kMaxCaptureSize},
           "mebibytes of a file of capture_ring= from which on the next one is written",
           set_mebibytes<&Options::transport, &TransportOptions::capture_size>),
    number("capture_snap", "BYTES", "0", {0, kMaxCaptureSnap},
           "bytes of each packet that a capture keeps, headers included; 0: all",
           set_number<&Options::transport, &TransportOptions::capture_snap>),
    with_value("log", "FILE", "", "write the log to FILE, which is opened anew on SIGHUP",
               set_text<&Options::program, &ProgramOptions::log_file>),
    with_value("config", "FILE|none", "/etc/nfsrdma.conf",
               "options that hold for all mounts, a server or a mount point, unless said otherwise",
               [](Options&, const OptionValue&) -> Result<void> { return {}; }),
    with_value(
        "control", "auto|off|PATH", "auto",
        "where nfsrdmactl reaches this mount: auto is a socket in the user's runtime directory",
        apply_control),
    with_value("record", "FILE", "",
               "record the mount in FILE, so that nfsrdma-lab rerun can make it run again",
               set_text<&Options::program, &ProgramOptions::record_file>),
    number("record_last", "S", "0", {0, kMaxRecordLast},
           "keep the last S seconds of a recording at least, for the time before a crash; 0: all",
           set_number<&Options::program, &ProgramOptions::record_last>),
    with_value("stats", "FILE", "", "write counters to FILE at the end and on SIGUSR1",
               set_text<&Options::program, &ProgramOptions::stats_file>),
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
