// The checked arguments of each operation. An operation whose arguments are one structure of
// <linux/fuse.h> is called with that structure; the others with one of these.
#pragma once

#include <linux/fuse.h>

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "fuse/channel/kernel_channel.h"

namespace nfsrdma::fuse {

struct NoArguments {};

/// A structure that a name follows, in the directory that the request names.
template <class Structure>
struct Named : Structure {
  std::string name;
};
using MknodArguments = Named<fuse_mknod_in>;
using MkdirArguments = Named<fuse_mkdir_in>;
using CreateArguments = Named<fuse_create_in>;
using LinkArguments = Named<fuse_link_in>;

/// LOOKUP, UNLINK, RMDIR.
struct NameArguments {
  std::string name;
};
struct SymlinkArguments {
  std::string name;
  std::string target;
};
/// RENAME and RENAME2.
struct RenameArguments {
  std::uint64_t new_directory = 0;
  std::uint32_t flags = 0;  ///< RENAME_* of renameat2(2)
  std::string name;
  std::string new_name;
};
/// READ, READDIR, READDIRPLUS. The slot may be moved away before the first suspension.
struct ReadArguments : fuse_read_in {
  Buffer* slot = nullptr;
};
/// `data` lies in the slot, which may be moved away before the first suspension.
struct WriteArguments : fuse_write_in {
  std::span<const std::byte> data;
  Buffer* slot = nullptr;
};
/// FORGET and BATCH_FORGET. Valid until the first suspension.
class ForgetArguments {
 public:
  std::size_t count() const { return count_; }
  fuse_forget_one operator[](std::size_t place) const {
    fuse_forget_one one = single_;
    if (!many_.empty()) std::memcpy(&one, &many_[place * sizeof one], sizeof one);
    return one;
  }

 private:
  friend class Decoder;
  std::size_t count_ = 0;
  fuse_forget_one single_{};
  std::span<const std::byte> many_;
};

/// Reads arguments out of a message, no byte behind its end. Once something is missing, ok() is
/// false and whatever is read is empty.
class Decoder {
 public:
  explicit Decoder(const Message& message)
      : message_(message), rest_(message.arguments), next_(message.payload) {}

  bool ok() const { return ok_; }

  void read(NoArguments&) {}
  void read(NameArguments& to) { to.name = name(); }
  void read(SymlinkArguments& to);
  void read(RenameArguments& to);
  void read(ReadArguments& to);
  void read(WriteArguments& to);
  void read(ForgetArguments& to);
  template <class Structure>
  void read(Named<Structure>& to) {
    read(static_cast<Structure&>(to));
    to.name = name();
  }
  template <class Structure>
  void read(Structure& to) {
    static_assert(std::is_trivially_copyable_v<Structure>);
    const auto bytes = take(sizeof to);
    if (ok_) std::memcpy(&to, bytes.data(), sizeof to);
  }

 private:
  std::span<const std::byte> take(std::size_t size);
  std::string_view name();

  const Message& message_;
  std::span<const std::byte> rest_;
  std::span<const std::byte> next_;  ///< what follows when the rest is used up
  bool ok_ = true;
};

}  // namespace nfsrdma::fuse
