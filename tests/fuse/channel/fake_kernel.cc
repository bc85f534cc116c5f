#include "tests/fuse/channel/fake_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

namespace nfsrdma::fuse::test {
namespace {

constexpr std::uint32_t kMinor = 38;

std::vector<std::byte> joined(std::span<const iovec> parts) {
  std::vector<std::byte> bytes;
  for (const iovec& part : parts) {
    const auto* begin = static_cast<const std::byte*>(part.iov_base);
    bytes.insert(bytes.end(), begin, begin + part.iov_len);
  }
  return bytes;
}

Notification to_notification(int code, const Answer& message) {
  if (code == FUSE_NOTIFY_INVAL_INODE) {
    const auto order = message.as<fuse_notify_inval_inode_out>();
    return {code, order.ino, order.off, order.len, {}};
  }
  const auto order = message.as<fuse_notify_inval_entry_out>();
  return {code, order.parent, 0, 0, message.text().substr(sizeof order, order.namelen)};
}

}  // namespace

FakeKernel::FakeKernel(Reactor& reactor, BufferPool& slots, Serving serving, AnswerLimit limit)
    : slots_(slots),
      in_flight_(reactor, CallerPolicy{}, std::move(limit)),
      dispatcher_(reactor, in_flight_, serving) {
  const fuse_init_in wanted{.major = FUSE_KERNEL_VERSION, .minor = kMinor};
  const Answer agreed = take_answer(send_request(FUSE_INIT, 0, wanted));
  EXPECT_EQ(agreed.error, 0);
  EXPECT_TRUE(dispatcher_.initialised());
}

std::uint64_t FakeKernel::dispatch(std::uint32_t opcode, std::uint64_t node,
                                   std::span<const std::byte> arguments) {
  Message message;
  message.header.len = static_cast<std::uint32_t>(sizeof message.header + arguments.size());
  message.header.opcode = opcode;
  message.header.unique = ++last_unique_;
  message.header.nodeid = node;
  message.header.uid = caller.uid;
  message.header.gid = caller.gid;
  message.header.pid = static_cast<std::uint32_t>(caller.pid);
  Buffer slot = slots_.acquire();
  EXPECT_TRUE(slot);
  if (!slot) return last_unique_;
  const std::span<std::byte> place = slot.bytes().subspan(sizeof message.header);
  std::ranges::copy(arguments, place.begin());
  message.arguments = place.first(arguments.size());
  if (structure_apart > 0) {
    message.payload = message.arguments.subspan(structure_apart);
    message.arguments = message.arguments.first(structure_apart);
  }
  message.slot = &slot;
  dispatcher_.dispatch(*this, message);
  return last_unique_;
}

void FakeKernel::interrupt(std::uint64_t unique) {
  send_request(FUSE_INTERRUPT, 0, fuse_interrupt_in{unique});
}

Answer FakeKernel::take_answer(std::uint64_t unique) {
  const auto found = answers_.find(unique);
  EXPECT_NE(found, answers_.end()) << "no answer";
  if (found == answers_.end()) return {EIO, {}};
  Answer answer = std::move(found->second);
  answers_.erase(found);
  return answer;
}

std::vector<Notification> FakeKernel::notifications() const {
  std::lock_guard lock(mutex_);
  return notifications_;
}

int FakeKernel::send(std::span<const iovec> parts) {
  const std::vector<std::byte> bytes = joined(parts);
  fuse_out_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header.len, bytes.size()) << "the kernel refuses what is not as long as it says";
  Answer answer{-header.error, {bytes.begin() + sizeof header, bytes.end()}};
  if (header.unique == 0) {
    std::lock_guard lock(mutex_);
    notifications_.push_back(to_notification(header.error, answer));
    return 0;
  }
  if (!takes_answers) return ENOENT;
  if (on_answer) on_answer();
  EXPECT_TRUE(answers_.emplace(header.unique, std::move(answer)).second) << "answered twice";
  return 0;
}

void FakeKernel::append(std::vector<std::byte>& to, std::string_view name) {
  append(to, std::as_bytes(std::span(name)));
  to.push_back(std::byte{0});
}

void FakeKernel::append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

std::vector<ListedEntry> listed(const Answer& answer, bool plus) {
  std::vector<ListedEntry> entries;
  const std::string text = answer.text();
  const std::size_t before = plus ? sizeof(fuse_entry_out) : 0;
  for (std::size_t at = 0; at + before + FUSE_NAME_OFFSET <= text.size();) {
    const std::size_t place = at + before;
    fuse_dirent head{};
    std::memcpy(&head, &text[place], FUSE_NAME_OFFSET);
    ListedEntry entry{text.substr(place + FUSE_NAME_OFFSET, head.namelen), head.off, head.ino,
                      head.type};
    if (plus) entry.entry = answer.as<fuse_entry_out>(at);
    entries.push_back(std::move(entry));
    at = place + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + head.namelen);
  }
  return entries;
}

}  // namespace nfsrdma::fuse::test
