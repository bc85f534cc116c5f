#include "fuse/channel/kernel_channel.h"

#include <array>
#include <cerrno>

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kNoRequest = 0;
/// Before, the kernel does not look at the flag and drops the entry.
constexpr std::uint32_t kMinorOfExpireOnly = 38;
constexpr std::uint32_t kMinorOfNoFlush = 35;
constexpr std::uint32_t kMinorOfLinux6_6 = 39;

iovec part(const void* begin, std::size_t size) { return {const_cast<void*>(begin), size}; }

fuse_out_header header_of(std::uint64_t unique, int error, std::size_t body) {
  return {static_cast<std::uint32_t>(sizeof(fuse_out_header) + body), error, unique};
}

}  // namespace

int send_answer(KernelChannel& channel, std::uint64_t unique, int error_number,
                std::span<const std::byte> body) {
  const fuse_out_header header = header_of(unique, -error_number, body.size());
  const std::array parts = {part(&header, sizeof header), part(body.data(), body.size())};
  return channel.send(std::span(parts).first(body.empty() ? 1 : 2));
}

int notify_inval_inode(KernelChannel& channel, std::uint64_t node, std::int64_t offset,
                       std::int64_t length) {
  const fuse_notify_inval_inode_out order{node, offset, length};
  const auto header = header_of(kNoRequest, FUSE_NOTIFY_INVAL_INODE, sizeof order);
  const std::array parts = {part(&header, sizeof header), part(&order, sizeof order)};
  return channel.send(parts);
}

bool doubts_refuted_names(const KernelChannel& channel) {
  return channel.kernel_minor >= kMinorOfLinux6_6;
}

bool closes_quietly(const KernelChannel& channel) {
  return channel.kernel_minor >= kMinorOfNoFlush;
}

int notify_expire_entry(KernelChannel& channel, std::uint64_t parent, std::string_view name) {
  if (channel.kernel_minor < kMinorOfExpireOnly) return ENOSYS;
  const fuse_notify_inval_entry_out order{parent, static_cast<std::uint32_t>(name.size()),
                                          FUSE_EXPIRE_ONLY};
  constexpr std::size_t end_of_name = 1;
  const auto header =
      header_of(kNoRequest, FUSE_NOTIFY_INVAL_ENTRY, sizeof order + name.size() + end_of_name);
  const std::array parts = {part(&header, sizeof header), part(&order, sizeof order),
                            part(name.data(), name.size()), part("", end_of_name)};
  return channel.send(parts);
}

}  // namespace nfsrdma::fuse
