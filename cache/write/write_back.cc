#include "cache/write/write_back.h"

#include <algorithm>

#include "client/requests/errno.h"

namespace nfsrdma::cache {
namespace {

constexpr std::size_t kPercent = 100;

std::size_t dirty_slots(const BufferPool& data_slots, unsigned ratio) {
  return std::max<std::size_t>(data_slots.available() * ratio / kPercent, 1);
}

UncommittedMemory::Limits memory_limits(const BufferPool& data_slots, unsigned dirty_ratio) {
  UncommittedMemory::Limits limits;
  limits.slots = dirty_slots(data_slots, dirty_ratio);
  return limits;
}

}  // namespace

WriteBack::WriteBack(client::Mount& mount, AttributeCache& attributes, FailureLog& failures,
                     BufferPool& data_slots, unsigned dirty_ratio)
    : mount_(mount),
      attributes_(attributes),
      failures_(failures),
      resend_slot_(data_slots.acquire()),
      resend_mutex_(mount.reactor()),
      memory_(mount.reactor(), memory_limits(data_slots, dirty_ratio)),
      behind_(*this, mount.reactor(), data_slots, dirty_slots(data_slots, dirty_ratio)) {}

void WriteBack::note_failure(Inode& inode, std::string_view operation, const Error& error) {
  const Failed failed{
      .operation = operation, .fileid = inode.attributes().value().fileid, .data_lost = true};
  failures_.reported(failed, error, mount_.reactor().now());
  attributes_.doubt_data(inode);
}

void WriteBack::note_refused(const Inode& inode, std::uint32_t uid, const Error& error) {
  full_.refused(inode.attributes().value().fsid, uid, client::to_errno(error),
                mount_.reactor().now());
}

void WriteBack::keep(OpenInode& open, std::uint64_t offset, const Uncommitted& kept,
                     const WriteVerifier& verifier) {
  if (open.uncommitted.empty()) open.kept_under = memory_.times_forgotten();
  open.uncommitted.keep(offset, kept, verifier);
  list(open);
}

void WriteBack::list(OpenInode& open) {
  if (open.uncommitted.empty()) {
    open.unlink();
  } else if (!open.linked()) {
    uncommitted_.push_back(open);
  }
}

void WriteBack::visit_counters(CounterVisitor& visitor) const {
  memory_.visit_counters(visitor);
  behind_.visit_counters(visitor);
}

}  // namespace nfsrdma::cache
