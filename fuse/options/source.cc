#include "fuse/options/source.h"

#include <cerrno>

namespace nfsrdma::fuse {
namespace {

/// RFC 8881 has no limit; PATH_MAX is what every client can name.
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxHost = 255;

tl::unexpected<Error> wrong(std::string detail) {
  return fail(Error::local(EINVAL, "", std::move(detail)));
}

/// Where the host ends: at the colon in front of the path. npos when there is none.
std::size_t host_end(std::string_view text) {
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    return close == std::string_view::npos ? close : close + 1;
  }
  return text.find(':');
}

}  // namespace

Result<Source> parse_source(std::string_view text) {
  if (text.find("://") != std::string_view::npos) {
    return wrong("the source is server:/export, not a URL");
  }
  const auto end = host_end(text);
  if (end == std::string_view::npos || end >= text.size() || text[end] != ':') {
    return wrong("the source must be server:/export or [v6 address]:/export");
  }
  auto host = text.substr(0, end);
  const auto path = text.substr(end + 1);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  if (host.empty() || host.size() > kMaxHost) return wrong("the source has no server name");
  if (host.find(',') != std::string_view::npos) return wrong("only one server can be named");
  if (host.find('/') != std::string_view::npos) return wrong("the server name has a slash");
  if (!path.starts_with('/')) {
    return wrong("the exported path must be absolute" +
                 std::string(text.find(':', end + 1) != std::string_view::npos
                                 ? "; an IPv6 address goes in brackets"
                                 : ""));
  }
  if (path.size() > kMaxPath) return wrong("the exported path is too long");
  return Source{std::string(text), std::string(host), std::string(path)};
}

}  // namespace nfsrdma::fuse
