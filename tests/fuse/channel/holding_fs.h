// A file system in memory that keeps some requests unanswered until the test says so.
#pragma once

#include <deque>
#include <string_view>

#include "fuse/channel/request.h"
#include "tests/support/memory_fs.h"

namespace nfsrdma::testing {

/// A request that waits, and the slot it took (WRITE, and READ where hold_read_slots is set).
struct Held {
  fuse::Request request;
  Buffer slot;
  std::span<const std::byte> data{};
  std::size_t size = 0;
};

/// READ and WRITE of the files kHeld, kHeld + "2" ... wait in `held`; everything else is answered
/// at once. There are several because the kernel sends one WRITE of a file after the other. Those
/// of kHeldPages are read through the page cache. FLUSH waits where hold_flushes is set,
/// SETLKW of any file and STATFS always.
class HoldingFileSystem : public MemoryFileSystem {
 public:
  static constexpr std::string_view kHeld = "held";

  static constexpr std::string_view kHeldPages = "held-pages";

  static constexpr int kFiles = 3;

  HoldingFileSystem() {
    add(std::string(kHeld), std::size_t{1} << 20);
    add(std::string(kHeldPages), std::size_t{1} << 20);
    for (int i = 2; i <= kFiles; ++i) add(std::string(kHeld) + std::to_string(i), 0);
  }

  static const fuse::HandlerTable& handlers();
  /// In the order of their arrival. For the session's thread.
  std::deque<Held> held;
  bool hold_flushes = false;
  bool hold_read_slots = false;
};

}  // namespace nfsrdma::testing
