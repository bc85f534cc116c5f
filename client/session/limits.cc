#include "client/session/limits.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "client/compound/compound.h"

namespace nfsrdma::client {
namespace {

constexpr std::uint32_t kPage = 4096;
/// Largest reply that the server must keep for a replay: those of requests that modify something.
constexpr std::uint32_t kCachedReply = 2048;
/// The longest request this client makes: OPEN and what must go with it.
constexpr std::uint32_t kLeastOperations = 8;
constexpr std::uint32_t kLeastMessage = 2 * kMessageOverhead;
constexpr std::uint32_t kCallbackOperations = 8;

std::uint32_t whole_pages(std::uint64_t bytes) {
  const auto bounded = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  return bounded < kPage ? bounded : bounded / kPage * kPage;
}

Error refused(const char* field, std::uint32_t asked, std::uint32_t granted, const char* why) {
  return Error::local(EPROTO, "CREATE_SESSION",
                      fmt::format("{} {}: asked {}, granted {}", field, why, asked, granted));
}

}  // namespace

void Limits::apply_session(const nfs4::channel_attrs4& fore, const RequestedLimits& requested) {
  max_request = fore.ca_maxrequestsize;
  max_response = fore.ca_maxresponsesize;
  max_cached = fore.ca_maxresponsesize_cached;
  max_operations = fore.ca_maxoperations;
  max_requests = fore.ca_maxrequests;
  rsize = whole_pages(std::min(requested.rsize, fore.ca_maxresponsesize - kMessageOverhead));
  wsize = whole_pages(std::min(requested.wsize, fore.ca_maxrequestsize - kMessageOverhead));
  clip_to_file_system();
}

void Limits::apply_file_system(std::uint64_t max_read, std::uint64_t max_write) {
  max_read_ = max_read;
  max_write_ = max_write;
  clip_to_file_system();
}

void Limits::clip_to_file_system() {
  if (max_read_ > 0) rsize = whole_pages(std::min<std::uint64_t>(rsize, max_read_));
  if (max_write_ > 0) wsize = whole_pages(std::min<std::uint64_t>(wsize, max_write_));
}

nfs4::channel_attrs4 fore_channel_request(const RequestedLimits& requested) {
  nfs4::channel_attrs4 fore;
  fore.ca_headerpadsize = 0;  // belonged to RDMA_MSGP (E-8881-9)
  fore.ca_maxrequestsize = requested.wsize + kMessageOverhead;
  fore.ca_maxresponsesize = requested.rsize + kMessageOverhead;
  fore.ca_maxresponsesize_cached = kCachedReply;
  fore.ca_maxoperations = Compound::kMaxOperations;
  fore.ca_maxrequests = requested.max_slots;
  return fore;
}

nfs4::channel_attrs4 back_channel_request(const rpc::ChannelLimits& limits) {
  nfs4::channel_attrs4 back;
  back.ca_headerpadsize = 0;
  back.ca_maxrequestsize = static_cast<std::uint32_t>(limits.max_backward_call);
  back.ca_maxresponsesize = static_cast<std::uint32_t>(limits.max_backward_reply);
  back.ca_maxresponsesize_cached = back.ca_maxresponsesize;
  back.ca_maxoperations = kCallbackOperations;
  back.ca_maxrequests = std::max(1U, limits.max_backward_calls);
  return back;
}

Result<void> check_fore_channel(const nfs4::channel_attrs4& asked,
                                const nfs4::channel_attrs4& granted) {
  const struct {
    const char* field;
    std::uint32_t asked;
    std::uint32_t granted;
    std::uint32_t least;
  } rows[] = {
      {"ca_maxrequestsize", asked.ca_maxrequestsize, granted.ca_maxrequestsize, kLeastMessage},
      {"ca_maxresponsesize", asked.ca_maxresponsesize, granted.ca_maxresponsesize, kLeastMessage},
      {"ca_maxresponsesize_cached", asked.ca_maxresponsesize_cached,
       granted.ca_maxresponsesize_cached, 0},
      {"ca_maxoperations", asked.ca_maxoperations, granted.ca_maxoperations, kLeastOperations},
      {"ca_maxrequests", asked.ca_maxrequests, granted.ca_maxrequests, 1},
  };
  for (const auto& row : rows) {
    if (row.granted > row.asked) {
      return fail(refused(row.field, row.asked, row.granted, "was raised by the server"));
    }
    if (row.granted < row.least) {
      return fail(refused(row.field, row.asked, row.granted, "is too small to work with"));
    }
  }
  return {};
}

Result<void> check_back_channel(const nfs4::channel_attrs4& asked,
                                const nfs4::channel_attrs4& granted) {
  if (granted.ca_maxrequestsize > asked.ca_maxrequestsize) {
    return fail(refused("back channel ca_maxrequestsize", asked.ca_maxrequestsize,
                        granted.ca_maxrequestsize, "was raised by the server"));
  }
  if (granted.ca_maxresponsesize > asked.ca_maxresponsesize) {
    return fail(refused("back channel ca_maxresponsesize", asked.ca_maxresponsesize,
                        granted.ca_maxresponsesize, "was raised by the server"));
  }
  return {};
}

}  // namespace nfsrdma::client
