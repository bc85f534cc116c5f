#include "fuse/channel/kernel_channel.h"

#include <array>
#include <cerrno>

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kNoRequest = 0;
/// Before, the kernel does not look at the flag and drops the entry.
constexpr std::uint32_t kMinorOfExpireOnly = 38;
constexpr std::uint32_t kMinorOfLinux6_6 = 39;
/// FUSE_NOTIFY_PRUNE and struct fuse_notify_prune_out of Linux 6.18, which older headers lack.
constexpr std::uint32_t kMinorOfLinux6_16 = 44;
constexpr std::uint32_t kMinorOfPrune = 45;
constexpr int kNotifyPrune = 9;
struct NotifyPrune {
  std::uint32_t count = 0;  ///< of the numbers of inodes that follow, 64 bits each
  std::uint32_t padding = 0;
  std::uint64_t spare = 0;
};

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

bool waits_for_pages(const KernelChannel& channel) {
  return channel.kernel_minor >= kMinorOfLinux6_16;
}

namespace {

int notify_entry(KernelChannel& channel, std::uint64_t parent, std::string_view name,
                 std::uint32_t flags) {
  const fuse_notify_inval_entry_out order{parent, static_cast<std::uint32_t>(name.size()), flags};
  constexpr std::size_t end_of_name = 1;
  const auto header =
      header_of(kNoRequest, FUSE_NOTIFY_INVAL_ENTRY, sizeof order + name.size() + end_of_name);
  const std::array parts = {part(&header, sizeof header), part(&order, sizeof order),
                            part(name.data(), name.size()), part("", end_of_name)};
  return channel.send(parts);
}

}  // namespace

int notify_expire_entry(KernelChannel& channel, std::uint64_t parent, std::string_view name) {
  if (channel.kernel_minor < kMinorOfExpireOnly) return ENOSYS;
  return notify_entry(channel, parent, name, FUSE_EXPIRE_ONLY);
}

int notify_forget_entry(KernelChannel& channel, std::uint64_t parent, std::string_view name) {
  return notify_entry(channel, parent, name, 0);
}

int notify_forget_inodes(KernelChannel& channel, std::span<const std::uint64_t> nodes) {
  if (channel.kernel_minor < kMinorOfPrune) return ENOSYS;
  const NotifyPrune order{static_cast<std::uint32_t>(nodes.size())};
  const auto header = header_of(kNoRequest, kNotifyPrune, sizeof order + nodes.size_bytes());
  const std::array parts = {part(&header, sizeof header), part(&order, sizeof order),
                            part(nodes.data(), nodes.size_bytes())};
  return channel.send(parts);
}

}  // namespace nfsrdma::fuse
