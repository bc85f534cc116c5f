#include "tests/lab/rerun/kernel_ids.h"

#include <linux/fuse.h>

#include <cstddef>
#include <cstring>
#include <string>

namespace nfsrdma::lab::rerun {
namespace {

template <class Value>
std::optional<Value> load(std::span<const std::byte> bytes, std::size_t at = 0) {
  Value value;
  if (at > bytes.size() || bytes.size() - at < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool replace(std::vector<std::byte>& bytes, std::size_t at,
             const std::map<std::uint64_t, std::uint64_t>& numbers) {
  const auto number = load<std::uint64_t>(bytes, at);
  const auto found = number ? numbers.find(*number) : numbers.end();
  if (found == numbers.end()) return false;
  std::memcpy(bytes.data() + at, &found->second, sizeof found->second);
  return true;
}

/// Where a request has the number of an open file, behind the header.
std::optional<std::size_t> file_place(std::uint32_t opcode) {
  switch (opcode) {
    case FUSE_READ:
    case FUSE_WRITE:
    case FUSE_RELEASE:
    case FUSE_FLUSH:
    case FUSE_FSYNC:
    case FUSE_GETLK:
    case FUSE_SETLK:
    case FUSE_SETLKW:
    case FUSE_LSEEK:
    case FUSE_FALLOCATE: return 0;
    case FUSE_SETATTR:
    case FUSE_GETATTR: return offsetof(fuse_getattr_in, fh);
    default: return std::nullopt;
  }
}

bool names_file(std::uint32_t opcode, std::span<const std::byte> arguments) {
  if (opcode == FUSE_GETATTR) {
    return (load<std::uint32_t>(arguments).value_or(0) & FUSE_GETATTR_FH) != 0;
  }
  if (opcode == FUSE_SETATTR) return (load<std::uint32_t>(arguments).value_or(0) & FATTR_FH) != 0;
  return file_place(opcode).has_value();
}

bool names_directory(std::uint32_t opcode) {
  return opcode == FUSE_READDIR || opcode == FUSE_READDIRPLUS || opcode == FUSE_RELEASEDIR ||
         opcode == FUSE_FSYNCDIR;
}

/// A second inode, as the first thing behind the header.
bool names_second_node(std::uint32_t opcode) {
  return opcode == FUSE_RENAME || opcode == FUSE_RENAME2 || opcode == FUSE_LINK;
}

/// Entries of READDIRPLUS: name to inode.
std::map<std::string, std::uint64_t> listing_of(std::span<const std::byte> body) {
  std::map<std::string, std::uint64_t> nodes;
  std::size_t at = 0;
  while (const auto entry = load<fuse_entry_out>(body, at)) {
    const auto length =
        load<std::uint32_t>(body, at + sizeof *entry + offsetof(fuse_dirent, namelen)).value_or(0);
    const std::size_t size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + length);
    if (size > body.size() - at) break;
    const auto name = body.subspan(at + FUSE_NAME_OFFSET_DIRENTPLUS, length);
    nodes[{reinterpret_cast<const char*>(name.data()), name.size()}] = entry->nodeid;
    at += size;
  }
  return nodes;
}

}  // namespace

std::optional<std::vector<std::byte>> KernelIds::translate(
    std::span<const std::byte> request) const {
  const auto header = load<fuse_in_header>(request);
  if (!header || header->opcode == FUSE_BATCH_FORGET || header->opcode == FUSE_COPY_FILE_RANGE) {
    return std::nullopt;
  }
  std::vector<std::byte> made(request.begin(), request.end());
  const auto arguments = request.subspan(sizeof *header);
  const std::uint32_t opcode = header->opcode;
  const bool without_node = header->nodeid == 0;
  if (!without_node && !replace(made, offsetof(fuse_in_header, nodeid), nodes_)) {
    return std::nullopt;
  }
  if (names_second_node(opcode) && !replace(made, sizeof *header, nodes_)) return std::nullopt;
  if (names_directory(opcode) && !replace(made, sizeof *header, directories_)) return std::nullopt;
  if (names_file(opcode, arguments) &&
      !replace(made, sizeof *header + file_place(opcode).value_or(0), files_)) {
    return std::nullopt;
  }
  return made;
}

void KernelIds::learn(std::uint32_t opcode, std::span<const std::byte> recorded,
                      std::span<const std::byte> made) {
  const auto both = [&](Numbers& numbers, std::size_t at) {
    const auto there = load<std::uint64_t>(recorded, at);
    const auto here = load<std::uint64_t>(made, at);
    if (there && here && *there != 0 && *here != 0) numbers[*there] = *here;
  };
  switch (opcode) {
    case FUSE_LOOKUP:
    case FUSE_MKNOD:
    case FUSE_MKDIR:
    case FUSE_SYMLINK:
    case FUSE_LINK: return both(nodes_, offsetof(fuse_entry_out, nodeid));
    case FUSE_CREATE:
      both(nodes_, offsetof(fuse_entry_out, nodeid));
      return both(files_, sizeof(fuse_entry_out) + offsetof(fuse_open_out, fh));
    case FUSE_OPEN: return both(files_, offsetof(fuse_open_out, fh));
    case FUSE_OPENDIR: return both(directories_, offsetof(fuse_open_out, fh));
    case FUSE_READDIRPLUS: return learn_listing(recorded, made);
    default: return;
  }
}

void KernelIds::learn_listing(std::span<const std::byte> recorded,
                              std::span<const std::byte> made) {
  const auto here = listing_of(made);
  for (const auto& [name, node] : listing_of(recorded)) {
    const auto found = here.find(name);
    if (found != here.end() && node != 0 && found->second != 0) nodes_[node] = found->second;
  }
}

}  // namespace nfsrdma::lab::rerun
