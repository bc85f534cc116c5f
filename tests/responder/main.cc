// nfsrdma-responder: serves a directory as an NFSv4.1 export over RPC-over-RDMA.
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "client/proto/status.h"
#include "commit.h"
#include "tests/responder/server.h"
#include "tests/support/legal_support.h"
#include "transport/base/log.h"
#include "transport/base/unique_fd.h"
#include "transport/rdma/property_exchange.h"

namespace nfsrdma::responder {
namespace {

namespace po = boost::program_options;

constexpr int kExitUsage = 2;
constexpr int kExitFailed = 1;
/// How long a stop waits for peers to close.
constexpr auto kStopPatience = std::chrono::seconds(3);
/// The largest Call, unless --inline says otherwise: WRITEs of 64 KiB need no RDMA Read.
constexpr std::size_t kCallSize = 69632;

struct CommandLine {
  ServerOptions server;
  std::string rpcrdma = "2";
  std::string options = "connprop,reqprop,resprop,updprop";
  std::string stats_path;
  std::string provider = "iwarp";
  bool debug = false;
  bool no_crc = false;
  bool not_durable = false;
  std::string delegations = "none";
  std::optional<std::size_t> inline_size;
  bool help = false;
  bool version = false;
};

po::options_description make_options(CommandLine& line) {
  ServerOptions& server = line.server;
  po::options_description options("nfsrdma-responder --export DIR [options]");
  auto add = options.add_options();
  add("export", po::value(&server.service.directory)->value_name("DIR"), "directory to serve as /");
  add("port", po::value(&server.port)->value_name("N"), "port; 0: any (default 20049)");
  add("tcp-port",
      po::value<std::uint16_t>()->value_name("N")->notifier(
          [&server](std::uint16_t port) { server.tcp_port = port; }),
      "serve TCP on this port, too; 0: any");
  add("bind", po::value(&server.addresses)->value_name("ADDR"),
      "address to listen on, IPv4 or IPv6; may be repeated (default 127.0.0.1)");
  add("provider", po::value(&line.provider)->value_name("NAME"),
      "iwarp, or verbs: RDMA devices, which needs --bind (default iwarp)");
  add("lease", po::value(&server.service.lease_seconds)->value_name("S"), "lease (default 90)");
  add("grace", po::value(&server.service.grace_seconds)->value_name("S"),
      "grace period after the start (default 0)");
  add("read-only", po::bool_switch(&server.service.read_only), "refuse all changes");
  add("verifier-in-times", po::bool_switch(&server.service.verifier_in_times),
      "keep the verifier of an exclusive create in the file's times");
  add("delegations", po::value(&line.delegations)->value_name("KIND"),
      "none (default), read, or write: the most that an OPEN can get");
  add("mandatory-locks", po::bool_switch(&server.service.mandatory_locks),
      "byte-range locks keep others from reading and writing");
  add("reorder",
      po::value<std::uint64_t>()->value_name("SEED")->notifier(
          [&server](std::uint64_t seed) { server.transport.reorder = seed; }),
      "execute and answer requests in any order, the one that this number says");
  add("not-durable", po::bool_switch(&line.not_durable), "do not wait for the disk");
  add("inline", po::value<std::size_t>()->value_name("BYTES")->notifier([&line](std::size_t size) {
    line.inline_size = size;
  }),
      "largest inline message, 1024 to 262144 (default 69632 from the client, 4096 to it)");
  add("inline-most", po::value(&server.transport.most_inline_size)->value_name("BYTES"),
      "version 2: receive size a client can ask for, up to 65536 (default: that of --inline)");
  add("rpcrdma", po::value(&line.rpcrdma)->value_name("MODE"),
      "RPC-over-RDMA: 2 serves versions 1 and 2 (default); 1, drop and ignore serve version 1, and "
      "answer ERR_VERS to others, break their connection, or ignore them");
  add("options", po::value(&line.options)->value_name("LIST"),
      "version 2: property operations that are supported, or none (default all)");
  add("credits", po::value(&server.transport.credits)->value_name("N"),
      "most credits granted to a connection, up to 128 (default 64)");
  add("connections", po::value(&server.transport.max_connections)->value_name("N"),
      "most connections that are served at once, up to 1024 (default 32)");
  add("no-crc", po::bool_switch(&line.no_crc), "do not ask for the MPA CRC");
  add("segment", po::value(&server.transport.max_segment)->value_name("BYTES"),
      "iwarp: send FPDUs that fit TCP segments of this size, as on a network");
  add("fault", po::value(&server.faults)->value_name("SPEC"), "fault script rule; repeatable");
  add("wire-faults", po::bool_switch(&server.transport.wire_faults),
      "iwarp and TCP: rules of the fault script may be of the wire (wire=)");
  add("control", po::value(&server.control_path)->value_name("PATH"), "control socket");
  add("stats", po::value(&line.stats_path)->value_name("FILE"), "write counters there at the end");
  add("capture", po::value(&server.capture_path)->value_name("FILE"), "record the wire (pcapng)");
  add("debug,d", po::bool_switch(&line.debug), "log more");
  add("version,V", po::bool_switch(&line.version), "which build this is");
  add("help,h", po::bool_switch(&line.help), "this text");
  return options;
}

Result<void> apply_rpcrdma(const std::string& mode, ResponderConfig& config) {
  if (mode == "2") {
    config.versions.high = rdma::kVersionTwo;
  } else if (mode == "drop") {
    config.other_versions = OtherVersions::disconnect;
  } else if (mode == "ignore") {
    config.other_versions = OtherVersions::ignore;
  } else if (mode != "1") {
    return fail(Error::local(EINVAL, "--rpcrdma", "must be 1, 2, drop or ignore"));
  }
  return {};
}

/// A device has all of its receives locked, and its RDMA Reads are quick.
Result<void> apply_inline(std::optional<std::size_t> size, bool verbs, ResponderConfig& config) {
  config.call_size = size.value_or(verbs ? 0 : kCallSize);
  config.inline_size = size.value_or(config.inline_size);
  if (config.inline_size >= rdma::kDefaultThreshold && config.inline_size <= rdma::kMaxThreshold) {
    return {};
  }
  return fail(Error::local(ERANGE, "--inline", std::to_string(config.inline_size)));
}

Result<void> apply_options(const std::string& list, ResponderConfig& config) {
  static constexpr std::array<std::string_view, rdma::kOptionTypes> kNames = {
      "none", "connprop", "reqprop", "resprop", "updprop"};
  config.options.fill(false);
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto* found = std::find(kNames.begin(), kNames.end(), name);
    if (found == kNames.end()) return fail(Error::local(EINVAL, "--options", name));
    config.options[static_cast<std::size_t>(found - kNames.begin())] = true;
  }
  config.options[0] = false;
  if (rdma::is_legal_support(config.options)) return {};
  return fail(Error::local(EINVAL, "--options",
                           "reqprop needs resprop, and resprop and updprop need connprop"));
}

Result<void> apply_delegations(const std::string& kind, ServiceConfig& config) {
  if (kind == "read") {
    config.delegations = DelegationKind::read;
  } else if (kind == "write") {
    config.delegations = DelegationKind::write;
  } else if (kind != "none") {
    return fail(Error::local(EINVAL, "--delegations", "must be none, read or write"));
  }
  return {};
}

Result<void> parse(int argc, char** argv, CommandLine& line) {
  const auto options = make_options(line);
  try {
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, options), values);
    po::notify(values);
  } catch (const po::error& error) {
    return fail(Error::local(EINVAL, "command line", error.what()));
  }
  if (line.provider != "iwarp" && line.provider != "verbs") {
    return fail(Error::local(EINVAL, "--provider", "must be iwarp or verbs"));
  }
  line.server.verbs = line.provider == "verbs";
  if (line.server.verbs && line.server.transport.wire_faults) {
    return fail(Error::local(EINVAL, "--wire-faults", "are those of --provider iwarp and TCP"));
  }
  line.server.transport.crc = !line.no_crc;
  line.server.service.durable = !line.not_durable;
  TRY(apply_inline(line.inline_size, line.server.verbs, line.server.transport));
  if (line.server.transport.most_inline_size > rdma::kMaxReceiveBufferSize) {
    return fail(Error::local(ERANGE, "--inline-most", "at most 65536"));
  }
  TRY(apply_rpcrdma(line.rpcrdma, line.server.transport));
  TRY(apply_delegations(line.delegations, line.server.service));
  TRY(apply_options(line.options, line.server.transport));
  const auto credits = line.server.transport.credits;
  if (credits < 1 || credits > kMaxCredits) {
    return fail(Error::local(ERANGE, "--credits", std::to_string(credits)));
  }
  const auto connections = line.server.transport.max_connections;
  if (connections < 1 || connections > kMaxConnections) {
    return fail(Error::local(ERANGE, "--connections", std::to_string(connections)));
  }
  if (line.server.service.directory.empty() && !line.help && !line.version) {
    return fail(Error::local(EINVAL, "command line", "--export is missing"));
  }
  return {};
}

void write_stats(const CommandLine& line, const Server& server) {
  const std::string text = server.counters_text();
  if (line.stats_path.empty()) {
    std::fputs(text.c_str(), stderr);
    return;
  }
  std::ofstream file(line.stats_path);
  file << text;
  file.close();
  if (!file) log::error("{} could not be written", line.stats_path);
}

/// SIGTERM and SIGINT stop the server, SIGUSR1 writes the counters.
class Signals final : public FdHandler {
 public:
  Signals(Reactor& reactor, Server& server, const CommandLine& line)
      : reactor_(reactor),
        server_(server),
        line_(line),
        patience_(reactor, [this] { reactor_.stop(); }) {}
  ~Signals() override { reactor_.unwatch(fd_.get()); }

  /// Call before threads start.
  Result<void> start() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int number : {SIGTERM, SIGINT, SIGUSR1}) ::sigaddset(&wanted, number);
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    fd_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) return fail(Error::from_errno(errno, "signalfd"));
    return reactor_.watch(fd_.get(), EPOLLIN, *this);
  }

  void on_ready(std::uint32_t) override {
    signalfd_siginfo info;
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGUSR1) {
        write_stats(line_, server_);
      } else {
        server_.close([this] { reactor_.stop(); });
        patience_.arm(kStopPatience);
      }
    }
  }

 private:
  Reactor& reactor_;
  Server& server_;
  const CommandLine& line_;
  UniqueFd fd_;
  Timer patience_;
};

Result<void> serve(const CommandLine& line) {
  auto reactor = make_epoll_reactor();
  auto server = Server::create(*reactor, line.server);
  if (!server) return fail_from(server);
  Signals signals(*reactor, **server, line);
  TRY(signals.start());
  std::printf("listening on %s\n", (*server)->address().text().c_str());
  if (const auto& tcp = (*server)->tcp_address()) {
    std::printf("serving TCP on %s\n", tcp->text().c_str());
  }
  std::fflush(stdout);
  reactor->run();
  if (!line.stats_path.empty()) write_stats(line, **server);
  return {};
}

int run(int argc, char** argv) {
  CommandLine line;
  auto parsed = parse(argc, argv, line);
  if (!parsed) {
    std::fprintf(stderr, "nfsrdma-responder: %s\n", parsed.error().message().c_str());
    return kExitUsage;
  }
  if (line.help) {
    std::ostringstream text;
    text << make_options(line);
    std::fputs(text.str().c_str(), stdout);
    return 0;
  }
  if (line.version) {
    std::printf("nfsrdma-responder %s%s%s\n", NFSRDMA_VERSION, *kCommit ? ", commit " : "",
                kCommit);
    return 0;
  }
  nfs4::register_status_names();
  const auto level = line.debug ? log::Level::debug : log::Level::warning;
  log::configure(log::Sink::standard_error, level, "nfsrdma-responder");
  auto served = serve(line);
  if (served) return 0;
  std::fprintf(stderr, "nfsrdma-responder: %s\n", served.error().message().c_str());
  return kExitFailed;
}

}  // namespace
}  // namespace nfsrdma::responder

int main(int argc, char** argv) { return nfsrdma::responder::run(argc, argv); }
