#include "fuse/channel/arguments.h"

#include <algorithm>
#include <utility>

namespace nfsrdma::fuse {

std::span<const std::byte> Decoder::take(std::size_t size) {
  if (rest_.empty()) rest_ = std::exchange(next_, {});
  ok_ = ok_ && size <= rest_.size();
  if (!ok_) return {};
  const auto taken = rest_.first(size);
  rest_ = rest_.subspan(size);
  return taken;
}

std::string_view Decoder::name() {
  if (rest_.empty()) rest_ = std::exchange(next_, {});
  const auto end = std::ranges::find(rest_, std::byte{0});
  const auto length = static_cast<std::size_t>(end - rest_.begin());
  const auto text = take(length + 1);
  ok_ = ok_ && length > 0;
  return ok_ ? std::string_view(reinterpret_cast<const char*>(text.data()), length)
             : std::string_view();
}

void Decoder::read(SymlinkArguments& to) {
  to.name = name();
  to.target = name();
}

void Decoder::read(RenameArguments& to) {
  if (message_.header.opcode == FUSE_RENAME2) {
    fuse_rename2_in how{};
    read(how);
    to.new_directory = how.newdir;
    to.flags = how.flags;
  } else {
    fuse_rename_in how{};
    read(how);
    to.new_directory = how.newdir;
  }
  to.name = name();
  to.new_name = name();
}

void Decoder::read(ReadArguments& to) {
  read(static_cast<fuse_read_in&>(to));
  to.slot = message_.slot;
}

void Decoder::read(WriteArguments& to) {
  read(static_cast<fuse_write_in&>(to));
  to.data = take(to.size);
  to.slot = message_.slot;
}

void Decoder::read(ForgetArguments& to) {
  if (message_.header.opcode == FUSE_FORGET) {
    fuse_forget_in one{};
    read(one);
    to.single_ = {message_.header.nodeid, one.nlookup};
    to.count_ = 1;
    return;
  }
  fuse_batch_forget_in batch{};
  read(batch);
  to.many_ = take(batch.count * sizeof(fuse_forget_one));
  to.count_ = to.many_.size() / sizeof(fuse_forget_one);
}

}  // namespace nfsrdma::fuse
