#include "fuse/channel/request_journal.h"

#include <cstring>
#include <vector>

namespace nfsrdma::fuse {
namespace {

using journal::Body;
using journal::Kind;

constexpr std::uint64_t kNoRequest = 0;

std::span<const std::byte> bytes_of(const iovec& part) {
  return {static_cast<const std::byte*>(part.iov_base), part.iov_len};
}

std::vector<std::byte> joined(std::span<const iovec> parts) {
  std::vector<std::byte> all;
  for (const iovec& part : parts) {
    all.insert(all.end(), bytes_of(part).begin(), bytes_of(part).end());
  }
  return all;
}

}  // namespace

fuse_out_header header_of(std::span<const iovec> parts) {
  fuse_out_header header{};
  if (!parts.empty() && parts[0].iov_len == sizeof header) {
    std::memcpy(&header, parts[0].iov_base, sizeof header);
  }
  return header;
}

Body answer_body(std::span<const iovec> parts, bool data) {
  const fuse_out_header header = header_of(parts);
  const std::vector<std::byte> body = joined(parts.empty() ? parts : parts.subspan(1));
  Body made;
  made.u64(header.unique).u32(static_cast<std::uint32_t>(-header.error));
  made.u64(body.size()).u64(journal::hash_of(body));
  if (!data) made.opaque(body);
  return made;
}

Body order_body(std::span<const iovec> parts) { return std::move(Body().opaque(joined(parts))); }

int RequestJournal::send(std::span<const iovec> parts) {
  // Other threads give orders at times that no rerun can repeat: only their outcomes are recorded.
  if (std::this_thread::get_id() != shard_) return kernel_->send(parts);
  const fuse_out_header header = header_of(parts);
  if (header.unique == kNoRequest) {
    reactor_.recorder().give(Kind::order, order_body(parts));
    return kernel_->send(parts);
  }
  const bool data = reads_.erase(header.unique) != 0;
  reactor_.recorder().give(Kind::answer, answer_body(parts, data));
  return reactor_.seen("what the kernel says to an answer", kernel_->send(parts));
}

void RequestJournal::begin_request(std::optional<journal::Input>& input,
                                   std::span<const std::byte> bytes) {
  fuse_in_header header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  if (header.opcode == FUSE_READ) reads_.insert(header.unique);
  input.emplace(reactor_, Kind::request, std::move(Body().opaque(bytes)));
}

void RequestJournal::begin_slot(std::optional<journal::Input>& input, journal::SlotStep step) {
  input.emplace(reactor_, Kind::slot, Body().u32(static_cast<std::uint32_t>(step)));
}

}  // namespace nfsrdma::fuse
