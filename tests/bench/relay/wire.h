// What the relay and its server say to each other, in the byte order of this machine: the least
// that does the work. Answers come in the order of what was asked.
#pragma once

#include <linux/fuse.h>

#include <cstddef>
#include <cstdint>

namespace nfsrdma::bench::relay {

/// Most bytes of a READ or WRITE, and of a path.
inline constexpr std::size_t kMostData = std::size_t{1} << 20;
inline constexpr std::size_t kMostPath = 4096;
/// A file that is not longer comes with the answer to `open`.
inline constexpr std::size_t kFirstBytes = 4096;

enum class Order : std::uint32_t {
  look_up,  ///< of a path, as the next ones up to `list`
  resize,
  open,
  create,
  remove,
  make_folder,
  remove_folder,
  list,  ///< fuse_dirent of `size` bytes, from entry `offset` on
  read,  ///< of an open file, as all others
  write,
  sync,
  close,           ///< has no answer
  close_answered,  ///< the same with an answer (--nfs)
};

struct Ask {
  Order order = Order::look_up;
  std::uint32_t payload_size = 0;  ///< bytes that follow: the path, or data
  std::uint64_t file = 0;          ///< as `open` or `create` has answered
  std::uint64_t offset = 0;
  std::uint32_t size = 0;  ///< bytes wanted
  std::uint32_t mode = 0;  ///< of a file that is made; flags of open(2) of one that is opened
};

struct Answer {
  std::int32_t error = 0;  ///< an errno value
  std::uint32_t size = 0;  ///< bytes of data, of those wanted
  std::uint64_t file = 0;
};

/// Bytes behind the Answer: attributes, data. Never fewer, whatever becomes of the order: so the
/// receiver knows where each answer will lie, and has it read to its place.
inline std::size_t body_size(const Ask& ask) {
  switch (ask.order) {
    case Order::look_up:
    case Order::resize:
    case Order::create:
    case Order::make_folder: return sizeof(fuse_attr);
    case Order::open: return sizeof(fuse_attr) + ask.size;
    case Order::list:
    case Order::read: return ask.size;
    default: return 0;
  }
}

}  // namespace nfsrdma::bench::relay
