#include "transport/fabric/verbs/send_queue.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <utility>

#include "transport/fabric/verbs/fault.h"

namespace nfsrdma::fabric::verbs {
namespace {

/// At most so many requests are posted in one chain.
constexpr std::size_t kMaxSendChain = 32;
/// A full queue has at least so many requests that ask for a completion.
constexpr std::size_t kReportsPerQueue = 4;

std::uint64_t id_of(std::uint64_t position) { return position << 1 | 1; }

ibv_sge piece_of(const std::byte* data, std::size_t length, std::uint32_t key) {
  return {reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint32_t>(length), key};
}

Error not_registered() {
  return connection_error(Fault::resources, "memory that no registered pool has");
}

ibv_wr_opcode opcode_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::send: return IBV_WR_SEND;
    case WorkKind::send_invalidate: return IBV_WR_SEND_WITH_INV;
    case WorkKind::write: return IBV_WR_RDMA_WRITE;
    case WorkKind::read: return IBV_WR_RDMA_READ;
    case WorkKind::bind: return IBV_WR_BIND_MW;
    case WorkKind::invalidate: break;
  }
  return IBV_WR_LOCAL_INV;
}

}  // namespace

void SendQueue::configure(Device& device, std::uint32_t room, std::uint32_t pieces) {
  device_ = &device;
  depth_ = room;
  max_pieces_ = std::min<std::size_t>(pieces, WorkItem::kMaxPieces);
}

Result<void> SendQueue::push_send(const SendWork& work) {
  WorkItem item;
  item.kind = work.invalidate ? WorkKind::send_invalidate : WorkKind::send;
  item.handle = work.invalidate.value_or(0);
  item.context = work.context;
  item.signaled = !work.answered;
  TRY(gather(item, work.pieces));
  counters_.sends.add();
  items_.push(std::move(item));
  return {};
}

/// One request has room for few pieces, so that several Writes may be needed.
Result<void> SendQueue::push_write(std::span<const std::span<const std::byte>> pieces,
                                   const Segment& to) {
  std::uint64_t offset = to.offset;
  WorkItem item;
  auto push = [&] {
    item.kind = WorkKind::write;
    item.handle = to.handle;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < item.pieces; ++i) bytes += item.local[i].length;
    item.offset = std::exchange(offset, offset + bytes);
    items_.push(std::exchange(item, WorkItem{}));
  };
  for (const auto& piece : pieces) {
    if (piece.empty()) continue;
    const Region* region = device_->regions().find(piece.data(), piece.size());
    if (region == nullptr) return fail(not_registered());
    if (item.pieces == max_pieces_) push();
    item.local[item.pieces++] = piece_of(piece.data(), piece.size(), region->local->lkey);
  }
  if (item.pieces > 0) push();
  counters_.writes_posted.add();
  return {};
}

Result<void> SendQueue::push_read(std::span<std::byte> into, const Segment& from, void* context) {
  WorkItem item;
  item.kind = WorkKind::read;
  item.handle = from.handle;
  item.offset = from.offset;
  item.context = context;
  item.signaled = true;
  if (!into.empty()) {
    const Region* region = device_->regions().find(into.data(), into.size());
    if (region == nullptr) return fail(not_registered());
    item.local[item.pieces++] = piece_of(into.data(), into.size(), region->local->lkey);
  }
  counters_.reads_posted.add();
  items_.push(std::move(item));
  return {};
}

void SendQueue::push_bind(ibv_mw* window, const Region& region, std::uint32_t handle,
                          Lease& lease) {
  WorkItem item;
  item.kind = WorkKind::bind;
  item.handle = handle;
  item.lease = &lease;
  item.window = window;
  item.region = region.local.get();
  counters_.binds.add();
  items_.push(std::move(item));
}

void SendQueue::push_invalidate(Lease& lease) {
  WorkItem item;
  item.kind = WorkKind::invalidate;
  item.handle = lease.segment.handle;
  item.lease = &lease;
  counters_.invalidations_local.add();
  items_.push(std::move(item));
}

bool SendQueue::gather_in_place(WorkItem& item,
                                std::span<const std::span<const std::byte>> pieces) const {
  for (const auto& piece : pieces) {
    if (piece.empty()) continue;
    const Region* region = device_->regions().find(piece.data(), piece.size());
    if (region == nullptr || item.pieces == max_pieces_) return false;
    item.local[item.pieces++] = piece_of(piece.data(), piece.size(), region->local->lkey);
  }
  return true;
}

Result<void> SendQueue::gather(WorkItem& item, std::span<const std::span<const std::byte>> pieces) {
  if (gather_in_place(item, pieces)) return {};
  std::size_t length = 0;
  for (const auto& piece : pieces) length += piece.size();
  auto staged = device_->stage(length);
  if (!staged) return fail_from(staged);
  item.staged = std::move(*staged);
  std::byte* to = item.staged.data();
  for (const auto& piece : pieces) to = std::copy(piece.begin(), piece.end(), to);
  const Region* region = device_->regions().find(item.staged.data(), length);
  item.pieces = 1;
  item.local[0] = piece_of(item.staged.data(), length, region->local->lkey);
  counters_.sends_copied.add();
  return {};
}

std::size_t SendQueue::room() const {
  const auto out = static_cast<std::size_t>(posted_ - completed_);
  return std::min(depth_ - out, static_cast<std::size_t>(items_.tail() - posted_));
}

/// Of neighbouring invalidations only the last asks for a completion.
bool SendQueue::must_signal(Position position) {
  const WorkItem& item = items_[position];
  bool signal = item.signaled;
  if (item.kind == WorkKind::invalidate) {
    const bool last = position + 1 == items_.tail();
    signal = last || items_[position + 1].kind != WorkKind::invalidate;
  }
  signal = signal || unsignaled_ + 1 >= depth_ / kReportsPerQueue;
  unsignaled_ = signal ? 0 : unsignaled_ + 1;
  return signal;
}

ibv_send_wr SendQueue::request_for(Position position) {
  const bool signal = must_signal(position);
  WorkItem& item = items_[position];
  item.signaled = signal;
  ibv_send_wr request{};
  request.wr_id = id_of(position);
  request.opcode = opcode_of(item.kind);
  request.send_flags = signal ? IBV_SEND_SIGNALED : 0;
  request.sg_list = item.local.data();
  request.num_sge = item.pieces;
  switch (item.kind) {
    case WorkKind::write:
    case WorkKind::read:
      request.wr.rdma.remote_addr = item.offset;
      request.wr.rdma.rkey = item.handle;
      break;
    case WorkKind::bind:
      request.bind_mw.mw = item.window;
      request.bind_mw.rkey = item.handle;
      request.bind_mw.bind_info.mr = item.region;
      request.bind_mw.bind_info.addr = item.lease->segment.offset;
      request.bind_mw.bind_info.length = item.lease->segment.length;
      request.bind_mw.bind_info.mw_access_flags = item.lease->access == Access::remote_read
                                                      ? IBV_ACCESS_REMOTE_READ
                                                      : IBV_ACCESS_REMOTE_WRITE;
      break;
    default: request.invalidate_rkey = item.handle; break;
  }
  return request;
}

Result<void> SendQueue::post() {
  std::array<ibv_send_wr, kMaxSendChain> chain;
  while (queue_pair_ != nullptr) {
    const std::size_t count = std::min(room(), kMaxSendChain);
    if (count == 0) return {};
    for (std::size_t i = 0; i < count; ++i) {
      chain[i] = request_for(posted_ + i);
      if (i > 0) chain[i - 1].next = &chain[i];
    }
    ibv_send_wr* bad = nullptr;
    const int rc = ::ibv_post_send(queue_pair_, chain.data(), &bad);
    if (rc != 0) return fail(call_error(std::abs(rc), "ibv_post_send"));
    for (std::size_t i = 0; i < count; ++i, ++posted_) {
      const WorkItem& item = items_[posted_];
      if (item.kind == WorkKind::bind) item.window->rkey = item.handle;
      if (item.signaled) ++signaled_out_;
    }
    counters_.posts.add();
    counters_.work_requests.add(count);
  }
  return {};
}

void SendQueue::complete(std::uint64_t id) {
  const Position position = id >> 1;
  assert(position >= completed_ && position < posted_);
  completed_ = position + 1;
  if (signaled_out_ > 0) --signaled_out_;
  counters_.signaled.add();
}

bool SendQueue::take_ended(Ended& ended) {
  while (items_.head() < completed_) {
    WorkItem& item = items_.front();
    const bool telling = !item.over && item.kind != WorkKind::write && item.kind != WorkKind::bind;
    ended = {item.kind, item.context, item.lease};
    item.staged.reset();
    items_.pop();
    if (telling) return true;
  }
  return false;
}

bool SendQueue::end_by_answer(const void* context) {
  for (Position p = items_.head(); p != posted_; ++p) {
    WorkItem& item = items_[p];
    const bool is_send = item.kind == WorkKind::send || item.kind == WorkKind::send_invalidate;
    if (!is_send || item.context != context || item.over) continue;
    item.over = true;
    counters_.sends_over_by_answer.add();
    return true;
  }
  return false;
}

void SendQueue::clear() {
  for (Position p = items_.head(); p != items_.tail(); ++p) items_[p].staged.reset();
  items_.clear();
  posted_ = completed_ = items_.tail();
  queue_pair_ = nullptr;
}

}  // namespace nfsrdma::fabric::verbs
