#include "client/names/idmap_library.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <utility>

extern "C" {  // which the header does not say
#include <nfsidmap.h>
}

#include "transport/base/log.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::client::idmap_library {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLineBytes = 512;
/// Bounds the warnings: a server can send any number of unknown names.
constexpr auto kBetweenWarnings = std::chrono::minutes(10);

struct State {
  std::mutex mutex;
  // Guarded by mutex.
  bool begun = false;
  bool usable = false;
  std::string domain;
  Clock::time_point may_warn_at;
};

/// Never destroyed: a look-up may be in flight when the program ends.
State& state() {
  static State& only = *new State;
  return only;
}

/// Without this the library writes to standard error: a line for each name that it does not know,
/// and the server chooses the names.
void log_line(const char* format, ...) {
  if (!log::enabled(log::Level::debug)) return;
  std::array<char, kLineBytes> line;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  std::string text(line.data());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  log::debug("libnfsidmap: {}", text);
}

/// The library reads settings from a file only. This one includes the system's file and sets the
/// domain behind it, because the last setting holds.
int start_with_domain(const Settings& settings) {
  const UniqueFd file(::memfd_create("idmapd.conf", MFD_CLOEXEC));
  if (!file) return -errno;
  const std::string text = "[General]\ninclude = -" + settings.config_file +
                           "\n[General]\nDomain = " + settings.domain + "\n";
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return -EIO;
  }
  std::string path = "/proc/self/fd/" + std::to_string(file.get());
  return nfs4_init_name_mapping(path.data());
}

int start(const Settings& settings) {
  nfs4_set_debug(0, log_line);
  if (!settings.domain.empty()) return start_with_domain(settings);
  std::string path = settings.config_file;
  return nfs4_init_name_mapping(path.data());
}

bool ready(const Settings& settings) {
  State& library = state();
  if (std::exchange(library.begun, true)) return library.usable;
  const int status = start(settings);
  library.usable = status == 0;
  std::array<char, NFS4_MAX_DOMAIN_LEN> text{};
  if (library.usable && nfs4_get_default_domain(nullptr, text.data(), text.size()) == 0) {
    library.domain = text.data();
  }
  if (library.usable) {
    log::info("owners by name: the domain is '{}'", library.domain);
  } else {
    log::warning("owners by name are nobody: libnfsidmap does not start (error {}): see {}",
                 -status, settings.config_file);
  }
  return library.usable;
}

void warn_of_stranger(const Settings& settings, OwnerKind kind, const std::string& name) {
  if (name.find('@') == name.npos) return;  // "nobody" needs no domain (RFC 8881 section 5.9)
  const auto now = Clock::now();
  if (now < state().may_warn_at) return;
  state().may_warn_at = now + kBetweenWarnings;
  log::warning(
      "the server's {} '{}' is not known here: its files are shown as nobody's. The domain of this "
      "client is '{}' (Domain in {}, or domain=)",
      kind == OwnerKind::user ? "user" : "group", name, state().domain, settings.config_file);
}

}  // namespace

std::optional<std::uint32_t> number_of(const Settings& settings, OwnerKind kind,
                                       const std::string& name) {
  const std::lock_guard lock(state().mutex);
  if (!ready(settings)) return {};
  std::string text = name;
  uid_t uid = 0;
  gid_t gid = 0;
  const int status = kind == OwnerKind::user ? nfs4_name_to_uid(text.data(), &uid)
                                             : nfs4_name_to_gid(text.data(), &gid);
  if (status == 0) return kind == OwnerKind::user ? uid : gid;
  warn_of_stranger(settings, kind, name);
  return {};
}

std::string name_of(const Settings& settings, OwnerKind kind, std::uint32_t number) {
  const std::lock_guard lock(state().mutex);
  if (!ready(settings)) return {};
  std::array<char, kLineBytes> name{};
  const int status =
      kind == OwnerKind::user
          ? nfs4_uid_to_name(number, state().domain.data(), name.data(), name.size())
          : nfs4_gid_to_name(number, state().domain.data(), name.data(), name.size());
  return status == 0 ? std::string(name.data()) : std::string();
}

}  // namespace nfsrdma::client::idmap_library
