#include "fuse/channel/request.h"

#include <cassert>
#include <utility>

#include "fuse/channel/in_flight.h"

namespace nfsrdma::fuse {

Request::Request(fuse_req_t request) {
  auto* dispatch = Dispatch::current();
  assert(dispatch && "a Request is made inside the operation libfuse calls");
  pending_ = &dispatch->in_flight.begin(request, dispatch->opcode, dispatch->node);
}

Request::Request(Request&& other) noexcept : pending_(std::exchange(other.pending_, nullptr)) {}

Request::~Request() {
  if (pending_) pending_->owner->end(*pending_);
}

const fuse_ctx& Request::context() const { return pending_->context; }

void* Request::user_data() const { return pending_->owner->user_data(); }

std::string_view Request::operation() const { return opcode_name(pending_->opcode); }

std::uint64_t Request::node() const { return pending_->node; }

rpc::Credential Request::caller() const {
  return pending_->owner->callers().credential(pending_->context);
}

Buffer Request::take_buffer() {
  auto* dispatch = Dispatch::current();
  assert(dispatch && "the slot belongs to the receive loop again");
  dispatch->in_flight.counters().slots_taken.add();
  return std::move(dispatch->slot);
}

bool Request::answered() const { return pending_->request == nullptr; }

bool Request::interrupted() const { return pending_->interrupted; }

void Request::on_interrupt(std::function<void()> wake) { pending_->on_interrupt = std::move(wake); }

/// Sends the one answer, or notes that it comes too late.
template <class Send>
bool Request::answer(Send&& send) {
  if (!pending_->request) {
    pending_->owner->counters().replies_after_abort.add();
    return false;
  }
  return pending_->owner->answered(*pending_, send(pending_->request));
}

bool Request::reply_error(int error_number) {
  return answer([&](fuse_req_t request) { return fuse_reply_err(request, error_number); });
}

bool Request::reply_none() {
  assert(pending_->request && "FORGET is never interrupted");
  fuse_reply_none(std::exchange(pending_->request, nullptr));
  return true;
}

bool Request::reply_entry(const fuse_entry_param& entry) {
  return answer([&](fuse_req_t request) { return fuse_reply_entry(request, &entry); });
}

bool Request::reply_create(const fuse_entry_param& entry, const fuse_file_info& file) {
  return answer([&](fuse_req_t request) { return fuse_reply_create(request, &entry, &file); });
}

bool Request::reply_open(const fuse_file_info& file) {
  return answer([&](fuse_req_t request) { return fuse_reply_open(request, &file); });
}

bool Request::reply_attr(const struct stat& attributes, double timeout_seconds) {
  return answer(
      [&](fuse_req_t request) { return fuse_reply_attr(request, &attributes, timeout_seconds); });
}

bool Request::reply_readlink(const char* target) {
  return answer([&](fuse_req_t request) { return fuse_reply_readlink(request, target); });
}

bool Request::reply_lock(const struct ::flock& lock) {
  return answer([&](fuse_req_t request) { return fuse_reply_lock(request, &lock); });
}

bool Request::reply_write(std::size_t bytes) {
  return answer([&](fuse_req_t request) { return fuse_reply_write(request, bytes); });
}

bool Request::reply_data(std::span<const std::byte> data) {
  return answer([&](fuse_req_t request) {
    return fuse_reply_buf(request, reinterpret_cast<const char*>(data.data()), data.size());
  });
}

bool Request::reply_statfs(const struct statvfs& status) {
  return answer([&](fuse_req_t request) { return fuse_reply_statfs(request, &status); });
}

bool Request::reply_xattr(std::size_t bytes) {
  return answer([&](fuse_req_t request) { return fuse_reply_xattr(request, bytes); });
}

}  // namespace nfsrdma::fuse
