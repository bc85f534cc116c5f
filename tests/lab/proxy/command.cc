#include "tests/lab/proxy/command.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>

#include "client/proto/status.h"
#include "tests/lab/proxy/proxy.h"
#include "tests/lab/script/command_words.h"
#include "tests/lab/script/server.h"
#include "tests/lab/subcommand.h"
#include "tests/lab/wire/network.h"
#include "transport/base/log.h"
#include "transport/base/unique_fd.h"
#include "transport/rdma/private_data.h"

namespace nfsrdma::lab::proxy {
namespace {

namespace po = boost::program_options;
using script::complain;

constexpr std::string_view kAnyPort = ":0";
/// How long a stop waits for peers to close.
constexpr auto kStopPatience = std::chrono::seconds(3);

struct CommandLine {
  std::vector<std::string> ends;
  ProxyOptions proxy;
  bool no_crc = false;
  bool verbose = false;
  bool help = false;
};

/// An error of the command line as text; empty: none.
std::string parse(std::span<char*> words, CommandLine& line) {
  po::options_description shown("nfsrdma-lab proxy LISTEN SERVER [options]");
  auto add = shown.add_options();
  add("fault", po::value(&line.proxy.faults)->value_name("SPEC"), "fault rule; may be repeated");
  add("wire-faults", po::bool_switch(&line.proxy.wire_faults), "rules may be of the wire (wire=)");
  add("control", po::value(&line.proxy.control_path)->value_name("PATH"), "control socket");
  add("capture-client", po::value(&line.proxy.client_capture)->value_name("FILE"),
      "record the clients' side of the wire (pcapng)");
  add("capture-server", po::value(&line.proxy.server_capture)->value_name("FILE"),
      "record the server's side of the wire");
  add("capture-rpc", po::value(&line.proxy.rpc_capture)->value_name("FILE"),
      "record the RPCs, each whole, as NFS over TCP");
  add("inline", po::value(&line.proxy.inline_size)->value_name("BYTES"),
      "largest inline message, on both sides (default 4096)");
  add("no-crc", po::bool_switch(&line.no_crc), "do not ask for the MPA CRC");
  add("verbose,v", po::bool_switch(&line.verbose), "tell of connections");
  add("help,h", po::bool_switch(&line.help), "this text");
  po::options_description hidden;
  hidden.add_options()("end", po::value(&line.ends));
  po::positional_options_description positions;
  positions.add("end", -1);
  const std::string fault = script::read_words(words, shown, hidden, positions);
  if (line.help) std::cout << shown;
  line.proxy.crc = !line.no_crc;
  return fault;
}

/// One end of the command line: [iwarp:|verbs:|tcp:]HOST[:PORT].
Result<net::Address> find_end(const std::string& text, Carrier& carrier) {
  const script::Server end = script::read_server(text, "iwarp");
  carrier = script::carrier_of(end.carrier);
  std::string address = end.address;
  if (!address.ends_with(kAnyPort)) {
    return find_server(address, has_rdma(carrier) ? kRdmaPort : kTcpPort);
  }
  address.resize(address.size() - kAnyPort.size());
  return find_server(address, 0);
}

/// SIGTERM and SIGINT end the proxy.
class StopSignals final : public FdHandler {
 public:
  StopSignals(Reactor& reactor, Proxy& proxy)
      : reactor_(reactor), proxy_(proxy), patience_(reactor, [this] { reactor_.stop(); }) {}
  ~StopSignals() override { reactor_.unwatch(fd_.get()); }

  /// Call before threads start.
  Result<void> start() {
    sigset_t wanted;
    ::sigemptyset(&wanted);
    for (const int number : {SIGTERM, SIGINT}) ::sigaddset(&wanted, number);
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    fd_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) return fail(Error::from_errno(errno, "signalfd"));
    return reactor_.watch(fd_.get(), EPOLLIN, *this);
  }

  void on_ready(std::uint32_t) override {
    signalfd_siginfo info;
    while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
      proxy_.close([this] { reactor_.stop(); });
      patience_.arm(kStopPatience);
    }
  }

 private:
  Reactor& reactor_;
  Proxy& proxy_;
  UniqueFd fd_;
  Timer patience_;
};

Result<void> serve(const ProxyOptions& options) {
  auto reactor = make_epoll_reactor();
  auto proxy = Proxy::create(*reactor, options);
  if (!proxy) return fail_from(proxy);
  StopSignals signals(*reactor, **proxy);
  TRY(signals.start());
  fmt::print("listening on {}\n", (*proxy)->address().text());
  std::fflush(stdout);
  reactor->run();
  return {};
}

}  // namespace

int run_proxy(std::span<char*> words) {
  CommandLine line;
  const std::string fault = parse(words, line);
  if (!fault.empty()) return complain(fault, kExitUsage);
  if (line.help) return 0;
  if (line.ends.size() != 2) return complain("proxy takes LISTEN and SERVER", kExitUsage);
  const auto size = line.proxy.inline_size;
  if (size < rdma::kDefaultThreshold || size > rdma::kMaxThreshold) {
    return complain("--inline must be 1024 to 262144", kExitUsage);
  }
  auto listen = find_end(line.ends[0], line.proxy.listen_carrier);
  if (!listen) return complain(listen.error().message(), kExitUsage);
  auto server = find_end(line.ends[1], line.proxy.server_carrier);
  if (!server) return complain(server.error().message(), kExitUsage);
  if (line.proxy.wire_faults && line.proxy.listen_carrier == Carrier::verbs) {
    return complain("--wire-faults: not on devices, whose wire no program sees", kExitUsage);
  }
  line.proxy.listen = *listen;
  line.proxy.server = *server;
  nfs4::register_status_names();
  log::configure(log::Sink::standard_error, line.verbose ? log::Level::info : log::Level::warning,
                 "nfsrdma-lab");
  auto served = serve(line.proxy);
  return served ? 0 : complain(served.error().message(), kExitFailed);
}

}  // namespace nfsrdma::lab::proxy
