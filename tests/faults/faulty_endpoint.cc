#include "tests/faults/faulty_endpoint.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace nfsrdma::faults {
namespace {

using fabric::Segment;
using Pieces = std::vector<std::span<const std::byte>>;

constexpr std::size_t kRememberedHandles = 16;
/// Added to a handle so that no lease has it.
constexpr std::uint32_t kForeign = 0x00010000;

Error fault_script() {
  return Error{Layer::fabric, static_cast<int>(net::Fault::local_close), "fault script", {}};
}

std::size_t size_of(const Pieces& pieces) {
  std::size_t size = 0;
  for (const auto& piece : pieces) size += piece.size();
  return size;
}

void cut_to(Pieces& pieces, std::size_t length) {
  for (auto& piece : pieces) {
    piece = piece.first(std::min(piece.size(), length));
    length -= piece.size();
  }
}

/// In place: the memory is the consumer's, and lent.
void corrupt(const Pieces& pieces, std::size_t at) {
  if (const std::size_t size = size_of(pieces)) at %= size;
  for (const auto& piece : pieces) {
    if (at < piece.size()) {
      const_cast<std::byte&>(piece[at]) ^= std::byte{0xff};
      return;
    }
    at -= piece.size();
  }
}

std::vector<std::byte> copy_of(const Pieces& pieces) {
  std::vector<std::byte> bytes;
  for (const auto& piece : pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

Segment moved(Segment segment, const FabricFault& fault) {
  const auto amount = static_cast<std::uint64_t>(fault.amount);
  if (fault.what == What::stag) segment.handle += static_cast<std::uint32_t>(amount);
  if (fault.what == What::offset) segment.offset += amount;
  return segment;
}

}  // namespace

Error no_resources(const char* step) {
  return Error{Layer::fabric, static_cast<int>(net::Fault::resources), step, "fault script"};
}

void FaultyEndpoint::meet(const FabricFault& fault) {
  if (fault.what == What::end) {
    end_ = Error{Layer::fabric, static_cast<int>(fault.amount), "fault script", "the device"};
  }
  inner_->disconnect(fault_script());
}

void FaultyEndpoint::hold(std::int64_t milliseconds, std::function<void()> act) {
  if (milliseconds == 0) return;
  auto& held = held_.emplace_back(reactor_, std::move(act));
  held.timer.arm(std::chrono::milliseconds(milliseconds));
}

Result<void> FaultyEndpoint::post_receive(fabric::ReceiveBuffer& buffer) {
  for (const FabricFault& fault : script_.decide(At::receive)) {
    if (fault.what == What::fail) {
      inner_->disconnect(fault_script());
      return fail(no_resources("post receive"));
    }
    hold(fault.amount, [this, &buffer] { (void)inner_->post_receive(buffer); });
    return {};
  }
  return inner_->post_receive(buffer);
}

Result<void> FaultyEndpoint::prepare(fabric::Lease& lease, std::span<std::byte> memory,
                                     fabric::Access access) {
  if (!script_.decide(At::prepare).empty()) return fail(no_resources("expose memory"));
  return inner_->prepare(lease, memory, access);
}

void FaultyEndpoint::note_handle(std::uint32_t handle) {
  if (!handles_.empty() && handles_.back() == handle) return;
  handles_.push_back(handle);
  if (handles_.size() > kRememberedHandles) handles_.pop_front();
}

Result<void> FaultyEndpoint::post_write(std::span<const std::span<const std::byte>> pieces,
                                        const Segment& to) {
  note_handle(to.handle);
  const auto faults = script_.decide(At::write);
  if (faults.empty()) return inner_->post_write(pieces, to);
  Pieces from(pieces.begin(), pieces.end());
  Segment target = to;
  bool twice = false;
  bool ends = false;
  for (const FabricFault& fault : faults) {
    const auto amount = static_cast<std::size_t>(fault.amount);
    switch (fault.what) {
      case What::drop: return {};
      case What::late: late_.push_back({copy_of(from), target}); return {};
      case What::fail: inner_->disconnect(fault_script()); return fail(no_resources("RDMA Write"));
      case What::cut: cut_to(from, amount); break;
      case What::corrupt: corrupt(from, amount); break;
      case What::twice: twice = true; break;
      case What::disconnect:
        cut_to(from, amount);
        ends = true;
        break;
      default: target = moved(target, fault);
    }
  }
  target.length = static_cast<std::uint32_t>(size_of(from));
  std::erase_if(from, [](const auto& piece) { return piece.empty(); });
  if (!from.empty()) TRY(inner_->post_write(from, target));
  if (twice) TRY(inner_->post_write(from, target));
  if (ends) inner_->disconnect(fault_script());
  return {};
}

Result<void> FaultyEndpoint::post_read(std::span<std::byte> into, const Segment& from,
                                       void* context) {
  note_handle(from.handle);
  Segment source = from;
  for (const FabricFault& fault : script_.decide(At::read)) {
    if (fault.what == What::fail) {
      inner_->disconnect(fault_script());
      return fail(no_resources("RDMA Read"));
    }
    if (fault.what == What::cut) {
      source.length = std::min(source.length, static_cast<std::uint32_t>(fault.amount));
      into = into.first(source.length);
    }
    source = moved(source, fault);
  }
  return inner_->post_read(into, source, context);
}

void FaultyEndpoint::invalidate_otherwise(What what, fabric::SendWork& work) const {
  if (what == What::invalidate_none) work.invalidate.reset();
  if (what == What::invalidate_wrong && work.invalidate) *work.invalidate += kForeign;
  if (what == What::invalidate_unasked && !work.invalidate && !handles_.empty()) {
    work.invalidate = handles_.back();
  }
  if (what != What::invalidate_other || !work.invalidate) return;
  const auto other = std::find_if(handles_.rbegin(), handles_.rend(),
                                  [&work](auto handle) { return handle != *work.invalidate; });
  if (other != handles_.rend()) *work.invalidate = *other;
}

Result<void> FaultyEndpoint::post_send(const fabric::SendWork& work) {
  fabric::SendWork changed = work;
  bool dropped = false;
  const FabricFault* last = nullptr;
  const auto faults = script_.decide(At::send);
  for (const FabricFault& fault : faults) {
    switch (fault.what) {
      case What::drop: dropped = true; break;
      case What::fail: inner_->disconnect(fault_script()); return fail(no_resources("post send"));
      case What::instead: inner_->disconnect(fault_script()); return fail(fault_script());
      case What::disconnect:
      case What::end: last = &fault; break;
      default: invalidate_otherwise(fault.what, changed);
    }
  }
  if (dropped) {
    reactor_.post([this, alive = std::weak_ptr<bool>(alive_), context = work.context] {
      if (!alive.expired()) consumer_.on_send_done(context);
    });
    return {};
  }
  // A completion that is to be late has to come first.
  const auto done = script_.decide(At::send_done);
  if (!done.empty()) {
    changed.answered = false;
    late_done_[work.context] = done.front().amount;
  }
  TRY(inner_->post_send(changed));
  TRY(post_late_writes());
  if (last) meet(*last);
  return {};
}

Result<void> FaultyEndpoint::post_late_writes() {
  for (LateWrite& write : std::exchange(late_, {})) {
    copies_.push_back(std::move(write.bytes));
    const std::span<const std::byte> bytes = copies_.back();
    TRY(inner_->post_write(std::span(&bytes, 1), write.to));
  }
  return {};
}

bool FaultyEndpoint::answered(void* context) {
  return !late_done_.contains(context) && inner_->answered(context);
}

void FaultyEndpoint::on_send_done(void* context) {
  const auto late = late_done_.find(context);
  if (late == late_done_.end()) return consumer_.on_send_done(context);
  const std::int64_t amount = late->second;
  hold(amount, [this, context] {
    late_done_.erase(context);
    consumer_.on_send_done(context);
  });
}

void FaultyEndpoint::on_read_done(void* context) {
  const bool ends = !script_.decide(At::read_done).empty();
  if (ends) inner_->disconnect(fault_script());
  consumer_.on_read_done(context);
}

void FaultyEndpoint::on_disconnected(const Error& reason) {
  alive_.reset();
  held_.clear();
  consumer_.on_disconnected(end_.value_or(reason));
}

}  // namespace nfsrdma::faults
