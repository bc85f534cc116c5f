#include <algorithm>
#include <cerrno>
#include <limits>

#include "fuse/options/option_groups.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kMinTransfer = 1024;
constexpr std::uint64_t kSmallTransfer = 4096;
/// Larger values are taken and cut to what one request can carry, as nfs(5) has it.
constexpr std::uint64_t kMaxTransferAsked = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMaxTransfer = 1 << 20;
constexpr std::uint64_t kMaxPort = 65535;
constexpr std::uint64_t kMaxSeconds = 86400;
constexpr std::uint64_t kMaxTimeo = 864000;
constexpr std::uint64_t kMaxRetrans = 1000;
constexpr std::uint64_t kMaxRetryMinutes = 10000;
using Deciseconds = std::chrono::duration<std::int64_t, std::deci>;

/// By nfs(5): 0 is as much as possible, and a value that is too small is replaced.
std::uint32_t transfer_size(std::uint64_t asked) {
  if (asked == 0) return kMaxTransfer;
  if (asked < kMinTransfer) return kSmallTransfer;
  return static_cast<std::uint32_t>(std::min(asked, kMaxTransfer) / kMinTransfer * kMinTransfer);
}

template <std::uint32_t Options::*Field>
Result<void> apply_transfer_size(Options& options, const OptionValue& value) {
  options.*Field = transfer_size(value.number);
  return {};
}

Result<void> apply_proto(Options& options, const OptionValue& value) {
  TransportOptions& transport = options.transport;
  if (value.text == "rdma" || value.text == "rdma6") {
    transport.protocol = Protocol::rdma;
  } else if (value.text == "tcp" || value.text == "tcp6") {
    transport.protocol = Protocol::tcp;
  } else if (value.text == "udp" || value.text == "udp6") {
    return bad_value("NFSv4.1 does not run over UDP");
  } else {
    return bad_value("must be rdma, rdma6, tcp or tcp6");
  }
  transport.ipv6_only = value.text.ends_with('6');
  return {};
}

Result<void> apply_version(Options&, const OptionValue& value) {
  if (value.text == "4.1" || value.text == "4") return {};
  if (value.text == "4.2") return bad_value("NFSv4.2 is not supported yet; use vers=4.1");
  return bad_value("only NFSv4.1 is supported; use vers=4.1");
}

/// "v4.1" is "vers=4.1".
Result<void> apply_version_word(Options& options, const OptionValue& value) {
  return apply_version(options, {value.name, value.name.substr(1)});
}

Result<void> apply_minor_version(Options&, const OptionValue& value) {
  if (value.text == "1") return {};
  return bad_value("only NFSv4.1 is supported; use minorversion=1");
}

Result<void> apply_sec(Options& options, const OptionValue& value) {
  // A list names the flavors that the user accepts, the best first.
  bool kerberos = false;
  const auto pass_over_kerberos = [&] {
    if (!kerberos) return;
    options.notices.push_back("sec=" + std::string(value.text) + " is taken without krb5: " +
                              "Kerberos (RPCSEC_GSS) is not supported yet");
  };
  for (std::size_t begin = 0; begin <= value.text.size();) {
    const auto end = std::min(value.text.find(':', begin), value.text.size());
    const auto flavor = value.text.substr(begin, end - begin);
    begin = end + 1;
    if (flavor.empty()) continue;
    if (flavor == "sys" || flavor == "none" || flavor == "null") {
      options.sec = flavor == "sys" ? rpc::AuthFlavor::sys : rpc::AuthFlavor::none;
      pass_over_kerberos();
      return {};
    }
    if (!flavor.starts_with("krb5")) return bad_value("must be sys or none");
    kerberos = true;
  }
  if (!kerberos) return bad_value("must be sys or none");
  return bad_value("Kerberos (RPCSEC_GSS) is not supported yet; use sec=sys");
}

Result<void> apply_readdirplus(Options& options, const OptionValue& value) {
  if (!value.text.empty() && value.text != "none" && value.text != "force") {
    return bad_value("must be none or force");
  }
  options.cache.readdirplus = value.text != "none";
  return {};
}

Result<void> apply_lookup_cache(Options& options, const OptionValue& value) {
  using cache::LookupCache;
  return choose(
      options.cache.attributes.lookup_cache, value.text == "positive" ? "pos" : value.text,
      {{"all", LookupCache::all}, {"pos", LookupCache::positive}, {"none", LookupCache::none}},
      "must be all, pos or none");
}

Result<void> apply_local_lock(Options& options, const OptionValue& value) {
  const bool all = value.text == "all";
  if (!all && value.text != "none" && value.text != "flock" && value.text != "posix") {
    return bad_value("must be all, flock, posix or none");
  }
  options.locks.flock = !all && value.text != "flock";
  options.locks.posix = !all && value.text != "posix";
  return {};
}

Result<void> apply_xprtsec(Options&, const OptionValue& value) {
  if (value.text == "none") return {};
  return bad_value("TLS is not supported; use xprtsec=none");
}

void set_attribute_times(cache::AttributePolicy& policy, Duration time) {
  policy.acregmin = policy.acregmax = policy.acdirmin = policy.acdirmax = time;
}

Result<void> apply_actimeo(Options& options, const OptionValue& value) {
  set_attribute_times(options.cache.attributes, std::chrono::seconds(value.number));
  return {};
}

/// Says nothing of sync, which "ac" must leave as it is: see Options::synchronous().
Result<void> apply_noac(Options& options, const OptionValue& value) {
  options.cache.attributes.noac = value.name == "noac";
  return {};
}

template <int ErrorNumber>
Result<void> apply_patience(Options& options, const OptionValue&) {
  options.patience.error_number = ErrorNumber;
  return {};
}

Result<void> accept(Options&, const OptionValue&) { return {}; }

constexpr OptionSpec seconds(std::string_view name, std::string_view default_value,
                             std::string_view doc, ApplyOption apply) {
  return number(name, "SECONDS", default_value, {0, kMaxSeconds}, doc, apply);
}

/// Of a member of AttributePolicy.
template <Duration cache::AttributePolicy::*Field>
constexpr ApplyOption kSetSeconds =
    set_duration<std::chrono::seconds, &Options::cache, &CacheOptions::attributes, Field>;

constexpr OptionSpec kOptions[] = {
    number("rsize", "BYTES", "1048576", {0, kMaxTransferAsked},
           "most bytes of one READ; cut to 1048576 and to what the server takes",
           apply_transfer_size<&Options::rsize>),
    number("wsize", "BYTES", "1048576", {0, kMaxTransferAsked},
           "most bytes of one WRITE; cut to 1048576 and to what the server takes",
           apply_transfer_size<&Options::wsize>),
    number("port", "N", "20049", {0, kMaxPort},
           "the server's port; the default with proto=tcp is 2049; 0 asks its rpcbind",
           set_number<&Options::transport, &TransportOptions::port>),
    with_value("proto", "rdma|rdma6|tcp|tcp6", "rdma",
               "transport; rdma6 and tcp6 are the same over IPv6 only", apply_proto),
    flag("rdma", "the same as proto=rdma",
         [](Options& options, const OptionValue&) {
           return apply_proto(options, {"proto", "rdma"});
         }),
    flag("tcp", "the same as proto=tcp",
         [](Options& options, const OptionValue&) {
           return apply_proto(options, {"proto", "tcp"});
         }),
    flag("v4", "the same as vers=4.1", apply_version_word),
    flag("v4.1", "the same as vers=4.1", apply_version_word),
    with_value("vers", "4.1", "4.1", "NFS version", apply_version),
    with_value("nfsvers", "4.1", "4.1", "the same as vers", apply_version),
    with_value("minorversion", "1", "1", "NFS minor version", apply_minor_version),
    with_value("sec", "sys|none", "sys",
               "whose authority requests carry: the caller's, or nobody's", apply_sec),
    with_value("xprtsec", "none", "none", "transport layer security", apply_xprtsec),
    flag("hard", "wait for a server that does not answer, for ever (the default)",
         apply_patience<0>),
    flag("soft", "give up with an I/O error after timeo and retrans", apply_patience<EIO>),
    flag("softerr", "give up with ETIMEDOUT after timeo and retrans", apply_patience<ETIMEDOUT>),
    number("timeo", "DECISECONDS", "600", {1, kMaxTimeo},
           "how long to wait for an answer before the next step of a time-out",
           set_duration<Deciseconds, &Options::patience, &PatienceOptions::timeo>),
    number("retrans", "N", "2", {0, kMaxRetrans},
           "how many more such steps before the time-out is over",
           set_number<&Options::patience, &PatienceOptions::retrans>),
    number("retry", "MINUTES", "0", {0, kMaxRetryMinutes},
           "how long to go on trying to reach the server before giving up",
           set_duration<std::chrono::minutes, &Options::program, &ProgramOptions::retry>),
    flag("fg", "a mount that fails is reported (the default)", accept),
    seconds("acregmin", "3", "least time a file's attributes are believed",
            kSetSeconds<&cache::AttributePolicy::acregmin>),
    seconds("acregmax", "60", "longest time a file's attributes are believed",
            kSetSeconds<&cache::AttributePolicy::acregmax>),
    seconds("acdirmin", "30", "least time a directory's attributes are believed",
            kSetSeconds<&cache::AttributePolicy::acdirmin>),
    seconds("acdirmax", "60", "longest time a directory's attributes are believed",
            kSetSeconds<&cache::AttributePolicy::acdirmax>),
    seconds("actimeo", "", "sets all four of the above", apply_actimeo),
    flag("ac", "believe attributes for a while (the default)", apply_noac),
    flag("noac", "actimeo=0 and sync", apply_noac),
    with_value("lookupcache", "all|pos|none", "all", "which names are remembered",
               apply_lookup_cache),
    flag("cto", "fetch a file's attributes anew when it is opened (the default)", accept),
    {.name = "rdirplus",
     .argument = "none|force",
     .doc = "read directories with attributes (the default; force is the same), or with none not",
     .apply = apply_readdirplus,
     .value_optional = true},
    flag("nordirplus", "read directories without attributes",
         set_flag<false, &Options::cache, &CacheOptions::readdirplus>),
    with_value("local_lock", "all|flock|posix|none", "none", "which locks stay on this machine",
               apply_local_lock),
};

}  // namespace

std::span<const OptionSpec> nfs_options() { return kOptions; }

}  // namespace nfsrdma::fuse
