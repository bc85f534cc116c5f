// nfsrdma-exporter: the counters of this machine's mounts over HTTP, for Prometheus.
#include <fmt/format.h>
#include <microhttpd.h>
#include <signal.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "fuse/ctl/metrics.h"
#include "transport/base/line_text.h"
#include "transport/net/address.h"

namespace nfsrdma::ctl {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr std::uint16_t kDefaultPort = 9916;
/// Askers that are connected at once, and for how many seconds each may say nothing.
constexpr unsigned kMostAskers = 16;
constexpr unsigned kPatience = 10;
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr std::string_view kIndex =
    "<!doctype html><title>nfsrdma-exporter</title><a href=\"/metrics\">metrics</a> of the mounts "
    "of "
    "nfsrdma on this machine\n";

struct Release {
  void operator()(MHD_Daemon* daemon) const { MHD_stop_daemon(daemon); }
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};

MHD_Result reply(MHD_Connection* connection, unsigned status, std::string_view type,
                 std::string_view body) {
  const std::unique_ptr<MHD_Response, Release> response(MHD_create_response_from_buffer(
      body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY));
  if (!response) return MHD_NO;
  MHD_add_response_header(response.get(), MHD_HTTP_HEADER_CONTENT_TYPE, std::string(type).c_str());
  return MHD_queue_response(connection, status, response.get());
}

MHD_Result answer(void*, MHD_Connection* connection, const char* url, const char* method,
                  const char*, const char*, std::size_t* upload_bytes, void**) {
  *upload_bytes = 0;
  const bool reading = std::string_view(method) == MHD_HTTP_METHOD_GET ||
                       std::string_view(method) == MHD_HTTP_METHOD_HEAD;
  const std::string_view path = url;
  if (!reading) return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "GET only\n");
  if (path == "/metrics") return reply(connection, MHD_HTTP_OK, kOpenMetrics, metrics_of_all());
  if (path == "/") return reply(connection, MHD_HTTP_OK, "text/html", kIndex);
  return reply(connection, MHD_HTTP_NOT_FOUND, "text/plain", "there is /metrics\n");
}

/// "[ADDRESS:]PORT", of IPv6 "[ADDRESS]:PORT".
std::optional<net::Address> parse_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::string host =
      colon == std::string_view::npos ? "127.0.0.1" : std::string(text.substr(0, colon));
  const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto port = whole_number<std::uint16_t>(digits);
  if (!port) return std::nullopt;
  const auto addresses = net::resolve(host, *port, AF_UNSPEC);
  if (!addresses || addresses->empty()) return std::nullopt;
  return addresses->front();
}

int serve(const net::Address& address) {
  sigset_t ends;
  ::sigemptyset(&ends);
  for (const int each : {SIGINT, SIGTERM}) ::sigaddset(&ends, each);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD;
  if (address.get()->sa_family == AF_INET6) flags |= MHD_USE_IPv6;
  const std::unique_ptr<MHD_Daemon, Release> daemon(
      MHD_start_daemon(flags, 0, nullptr, nullptr, &answer, nullptr, MHD_OPTION_SOCK_ADDR,
                       address.get(), MHD_OPTION_CONNECTION_LIMIT, kMostAskers,
                       MHD_OPTION_CONNECTION_TIMEOUT, kPatience, MHD_OPTION_END));
  if (!daemon) {
    fmt::print(stderr, "nfsrdma-exporter: cannot listen on {}\n", address.text());
    return kFailed;
  }
  const auto* const info = MHD_get_daemon_info(daemon.get(), MHD_DAEMON_INFO_BIND_PORT);
  fmt::print("listening on port {}\n", info != nullptr ? info->port : 0);
  std::fflush(stdout);
  int signal = 0;
  ::sigwait(&ends, &signal);
  return 0;
}

int help(std::FILE* to) {
  fmt::print(
      to,
      "usage: nfsrdma-exporter [--listen=[ADDRESS:]PORT]\n\n"
      "Serves the counters of this machine's mounts of nfsrdma at /metrics, for Prometheus: of\n"
      "all users when run by root, else of its own. ADDRESS is 127.0.0.1, PORT {} unless said.\n",
      kDefaultPort);
  return to == stdout ? 0 : kUsage;
}

int run(std::span<char*> arguments) {
  constexpr std::string_view kListen = "--listen=";
  std::string listen = std::to_string(kDefaultPort);
  for (const std::string_view word : arguments.subspan(1)) {
    if (word == "--help" || word == "-h") return help(stdout);
    if (word == "--version" || word == "-V") {
      fmt::print("nfsrdma-exporter {}\n", NFSRDMA_VERSION);
      return 0;
    }
    if (!word.starts_with(kListen)) return help(stderr);
    listen = word.substr(kListen.size());
  }
  const auto address = parse_listen(listen);
  if (address) return serve(*address);
  fmt::print(stderr, "nfsrdma-exporter: {} is no address and port\n", listen);
  return kUsage;
}

}  // namespace
}  // namespace nfsrdma::ctl

int main(int argc, char** argv) {
  return nfsrdma::ctl::run({argv, static_cast<std::size_t>(argc)});
}
