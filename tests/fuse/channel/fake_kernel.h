// A kernel without /dev/fuse: requests are values, and so are the answers.
#pragma once

#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fuse/channel/dispatcher.h"

namespace nfsrdma::fuse::test {

struct Answer {
  int error = 0;  ///< an errno value
  std::vector<std::byte> body;

  /// What the kernel reads at this place of the body.
  template <class T>
  T as(std::size_t offset = 0) const {
    T value{};
    if (offset + sizeof value <= body.size()) std::memcpy(&value, &body[offset], sizeof value);
    return value;
  }
  std::string text() const { return {reinterpret_cast<const char*>(body.data()), body.size()}; }
};

/// An order to forget something of an inode, or a name in it.
struct Notification {
  int code = 0;  ///< FUSE_NOTIFY_*
  std::uint64_t node = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::string name;
};

/// One entry of a listing; with attributes in READDIRPLUS only.
struct ListedEntry {
  std::string name;
  std::uint64_t next = 0;
  std::uint64_t number = 0;
  std::uint32_t type = 0;
  fuse_entry_out entry{};
};

/// Makes requests as the kernel lays them out, and keeps the answers. Each request lies in a slot
/// of `slots`, as from /dev/fuse. INIT was answered when the constructor returns.
class FakeKernel final : public KernelChannel {
 public:
  FakeKernel(Reactor& reactor, BufferPool& slots, Serving serving, AnswerLimit limit = {});

  /// Structures, names (ended by a zero) and bytes, one after another. Returns the unique number.
  template <class... Parts>
  std::uint64_t send_request(std::uint32_t opcode, std::uint64_t node, const Parts&... parts) {
    std::vector<std::byte> bytes;
    (append(bytes, parts), ...);
    return dispatch(opcode, node, bytes);
  }
  /// The caller of a request got a signal.
  void interrupt(std::uint64_t unique);
  bool answered(std::uint64_t unique) const { return answers_.contains(unique); }
  Answer take_answer(std::uint64_t unique);

  /// What was ordered so far; any thread's.
  std::vector<Notification> notifications() const;
  int send(std::span<const iovec> parts) override;

  InFlight& in_flight() { return in_flight_; }
  const ChannelCounters& counters() { return in_flight_.counters(); }

  CallerIds caller{::getuid(), ::getgid(), ::getpid()};  ///< of the requests that follow
  bool takes_answers = true;                             ///< else it has given up what is answered
  /// Structure and payload of what follows lie apart, as on an io_uring.
  std::size_t structure_apart = 0;
  std::function<void()> on_answer;  ///< called when an answer comes

 private:
  static void append(std::vector<std::byte>& to, std::string_view name);
  static void append(std::vector<std::byte>& to, std::span<const std::byte> bytes);
  template <class Structure>
  requires(
      std::is_trivially_copyable_v<Structure> &&
      !std::is_convertible_v<Structure, std::string_view> &&
      !std::is_convertible_v<
          Structure, std::span<const std::byte>>) static void append(std::vector<std::byte>& to,
                                                                     const Structure& structure) {
    append(to, std::as_bytes(std::span(&structure, 1)));
  }
  std::uint64_t dispatch(std::uint32_t opcode, std::uint64_t node,
                         std::span<const std::byte> arguments);

  BufferPool& slots_;
  InFlight in_flight_;
  Dispatcher dispatcher_;
  std::uint64_t last_unique_ = 0;
  std::map<std::uint64_t, Answer> answers_;
  mutable std::mutex mutex_;
  std::vector<Notification> notifications_;
};

std::vector<ListedEntry> listed(const Answer& answer, bool plus);

}  // namespace nfsrdma::fuse::test
