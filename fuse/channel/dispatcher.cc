#include "fuse/channel/dispatcher.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "fuse/channel/ring_format.h"
#include "transport/base/log.h"

namespace nfsrdma::fuse {

Dispatcher::Dispatcher(Reactor& reactor, InFlight& in_flight, Serving serving)
    : reactor_(reactor),
      in_flight_(in_flight),
      serving_(serving),
      owner_(reactor.seen("own user", ::getuid())) {}

void Dispatcher::dispatch(KernelChannel& channel, const Message& message) {
  const std::uint32_t opcode = message.header.opcode;
  if (opcode == FUSE_INIT || opcode == FUSE_INTERRUPT) {
    in_flight_.counters().count_request(opcode);
    return opcode == FUSE_INIT ? initialise(channel, message) : in_flight_.interrupt(message);
  }
  std::optional<Request> request = take_in(channel, message.header);
  if (request) serve(std::move(*request), message);
}

std::optional<Request> Dispatcher::take_in(KernelChannel& channel, const fuse_in_header& header) {
  in_flight_.counters().count_request(header.opcode);
  int refusal = 0;
  const Handler handler = serving_.handlers[header.opcode];
  if (!initialised_) {
    refusal = EIO;
  } else if (refused(header)) {
    refusal = EACCES;
  } else if (!handler && header.opcode != FUSE_DESTROY) {
    refusal = ENOSYS;
  }
  if (refusal != 0 || !handler) {
    send_answer(channel, header.unique, refusal);
    return std::nullopt;
  }
  return std::optional<Request>(std::in_place, in_flight_, channel, header);
}

void Dispatcher::serve(Request request, const Message& message) {
  const OriginScope scope(message.header.unique);
  const Handler handler = serving_.handlers[message.header.opcode];
  if (handler(serving_.served, request, message)) return;
  report_malformed(message.header);
  request.reply_error(EIO);
}

void Dispatcher::initialise(KernelChannel& channel, const Message& message) {
  fuse_init_in wanted{};
  // Before FUSE 7.36 the structure ends earlier.
  const std::size_t given = std::min(message.arguments.size(), sizeof wanted);
  std::memcpy(&wanted, message.arguments.data(), given);
  const auto agreed = negotiate(wanted, serving_.limits);
  if (initialised_ || given < offsetof(fuse_init_in, flags2) || !agreed) {
    log::error("fuse: FUSE_INIT of version {}.{} is refused", wanted.major, wanted.minor);
    send_answer(channel, message.header.unique, initialised_ ? EIO : EPROTO);
    return;
  }
  channel.kernel_minor = wanted.minor;
  channel.over_io_uring = (agreed->flags2 & kOverIoUring) != 0;
  channel.maps_direct_io = (agreed->flags2 & kDirectIoAllowMmap) != 0;
  const int failed =
      send_answer(channel, message.header.unique, 0, std::as_bytes(std::span(&*agreed, 1)));
  // A newer major version is told ours, and asks once more.
  initialised_ = failed == 0 && wanted.major == FUSE_KERNEL_VERSION;
}

/// Open files stay usable for a user that they were passed to (allow_root).
bool Dispatcher::refused(const fuse_in_header& header) const {
  if (!serving_.only_owner_and_root || header.uid == owner_ || header.uid == 0) return false;
  switch (header.opcode) {
    case FUSE_READ:
    case FUSE_WRITE:
    case FUSE_FLUSH:
    case FUSE_FSYNC:
    case FUSE_RELEASE:
    case FUSE_READDIR:
    case FUSE_READDIRPLUS:
    case FUSE_FSYNCDIR:
    case FUSE_RELEASEDIR: return false;
    default: return true;
  }
}

void Dispatcher::report_malformed(const fuse_in_header& header) {
  in_flight_.counters().malformed.add();
  malformed_lines_.warning(reactor_.now(), "fuse: a malformed request, {} of {} bytes",
                           opcode_name(header.opcode), header.len);
}

}  // namespace nfsrdma::fuse
