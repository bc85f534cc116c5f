#include "fuse/channel/request.h"

#include <cassert>
#include <utility>

#include "fuse/channel/in_flight.h"

namespace nfsrdma::fuse {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

Request::Request(InFlight& in_flight, KernelChannel& channel, const fuse_in_header& header)
    : pending_(&in_flight.begin(channel, header)) {}

Request::Request(Request&& other) noexcept : pending_(std::exchange(other.pending_, nullptr)) {}

Request::~Request() {
  if (pending_) pending_->owner->end(*pending_);
}

const CallerIds& Request::context() const { return pending_->context; }

std::uint32_t Request::opcode() const { return pending_->opcode; }

std::string_view Request::operation() const { return opcode_name(pending_->opcode); }

std::uint64_t Request::node() const { return pending_->node; }

rpc::Credential Request::caller() const {
  return pending_->owner->callers().credential(pending_->context);
}

bool Request::answered() const { return pending_->answered; }

void Request::on_interrupt(std::function<void()> wake) { pending_->on_interrupt = std::move(wake); }

/// Sends the one answer, or notes that it comes too late.
bool Request::answer(int error_number, std::span<const std::byte> body) {
  if (pending_->answered) {
    pending_->owner->counters().replies_after_abort.add();
    return false;
  }
  return pending_->owner->answer(*pending_, error_number, body);
}

bool Request::reply_error(int error_number) { return answer(error_number); }

// Of an inode that the kernel cannot use (fuse_force_forget() of Linux) it sends FORGET as it sends
// other requests, so over io_uring where there is one: READDIRPLUS then waits for the entry to be
// given back, and holds the directory locked.
void Request::reply_none() {
  assert(!pending_->answered && "FORGET is never interrupted");
  if (pending_->channel->is_ring) {
    answer(0, {});
  } else {
    pending_->answered = true;
  }
}

bool Request::reply_entry(const EntryAnswer& entry) { return answer(0, bytes_of(to_wire(entry))); }

bool Request::reply_create(const EntryAnswer& entry, const OpenAnswer& file) {
  const struct {
    fuse_entry_out entry;
    fuse_open_out file;
  } both{to_wire(entry), to_wire(file, *pending_->channel)};
  return answer(0, bytes_of(both));
}

bool Request::reply_open(const OpenAnswer& file) {
  return answer(0, bytes_of(to_wire(file, *pending_->channel)));
}

bool Request::reply_attr(const struct stat& attributes, double timeout_seconds) {
  return answer(0, bytes_of(to_wire(attributes, timeout_seconds)));
}

bool Request::reply_readlink(std::string_view target) {
  return answer(0, std::as_bytes(std::span(target)));
}

bool Request::reply_lock(const fuse_file_lock& lock) { return answer(0, bytes_of(lock)); }

bool Request::reply_write(std::size_t bytes) {
  const fuse_write_out out{static_cast<std::uint32_t>(bytes), 0};
  return answer(0, bytes_of(out));
}

bool Request::reply_data(std::span<const std::byte> data) { return answer(0, data); }

bool Request::reply_statfs(const struct statvfs& status) {
  return answer(0, bytes_of(to_wire(status)));
}

}  // namespace nfsrdma::fuse
