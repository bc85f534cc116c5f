#include "tests/lab/rerun/kernel.h"

#include <algorithm>
#include <cstring>

#include "fuse/channel/request_journal.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {

using journal::Kind;
using journal::SlotStep;

RerunKernel::RerunKernel(World& world, RerunReactor& reactor, BufferPool& slots,
                         fuse::CallerPolicy callers, fuse::AnswerLimit limit)
    : world_(world),
      reactor_(reactor),
      slots_(slots),
      in_flight_(reactor, callers, std::move(limit)) {}

void RerunKernel::serve(fuse::Serving serving) {
  dispatcher_.emplace(reactor_, in_flight_, serving);
}

void RerunKernel::request(const Entry& entry) {
  xdr::Decoder in(entry.body);
  const auto bytes = in.opaque(kLongestBody, "message");
  fuse::Message message;
  if (!dispatcher_ || !slot_ || bytes.size() < sizeof message.header ||
      bytes.size() > slot_.size()) {
    world_.damaged("a request that cannot have been received");
  }
  std::ranges::copy(bytes, slot_.bytes().begin());
  std::memcpy(&message.header, bytes.data(), sizeof message.header);
  message.arguments = slot_.first(bytes.size()).subspan(sizeof message.header);
  message.slot = &slot_;
  if (message.header.opcode == FUSE_READ) reads_.insert(message.header.unique);
  dispatcher_->dispatch(*this, message);
}

void RerunKernel::slot(const Entry& entry) {
  xdr::Decoder in(entry.body);
  switch (static_cast<SlotStep>(in.u32("step"))) {
    case SlotStep::acquire: slot_ = slots_.acquire(); return;
    case SlotStep::wait:
      unlink();
      slots_.wait(*this);
      return;
    case SlotStep::give_back:
      unlink();
      slot_.reset();
      return;
  }
  world_.damaged("no step of a receiver");
}

int RerunKernel::send(std::span<const iovec> parts) {
  // Threads give orders whenever they come to it.
  if (std::this_thread::get_id() != shard_) return 0;
  const fuse_out_header header = fuse::header_of(parts);
  if (header.unique == 0) {
    world_.give(Kind::order, fuse::order_body(parts));
    return 0;
  }
  const bool data = reads_.erase(header.unique) != 0;
  world_.give(Kind::answer, fuse::answer_body(parts, data));
  return reactor_.seen("what the kernel says to an answer", 0);
}

}  // namespace nfsrdma::lab::rerun
