#include "tests/responder/nfs/fs/file_handle.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace nfsrdma::responder {

namespace {

enum class Kind : std::uint32_t { kernel = 1, table = 2 };

// In host order: a handle means something to this machine only.
struct Header {
  std::uint64_t seal = 0;  // over all that follows
  Kind kind = Kind::table;
  std::int32_t kernel_type = 0;
  InodeKey key;
};
constexpr std::size_t kSealSize = sizeof(std::uint64_t);
constexpr std::size_t kMaxKernelHandle = nfs4::NFS4_FHSIZE - sizeof(Header);

SipKey random_key() {
  SipKey key{};
  if (::getrandom(key.data(), sizeof key, 0) != sizeof key) std::abort();
  return key;
}

SipKey key_from(std::string text) {
  if (text.empty()) {
    std::ifstream machine_id("/etc/machine-id");
    std::getline(machine_id, text);
  }
  if (text.empty()) return random_key();
  const auto bytes = std::as_bytes(std::span(text));
  return {siphash({1, 0}, bytes), siphash({2, 0}, bytes)};
}

// struct file_handle has a flexible array; this is one with room.
struct alignas(struct file_handle) HandleRoom {
  std::array<std::byte, sizeof(struct file_handle) + kMaxKernelHandle> room;
  struct file_handle* get() {
    return reinterpret_cast<struct file_handle*>(room.data());
  }
};

}  // namespace

std::optional<KernelHandle> kernel_handle_of(int directory, const char* name) {
  HandleRoom room;
  room.get()->handle_bytes = kMaxKernelHandle;
  int mount_id = 0;
  const int flags = *name == '\0' ? AT_EMPTY_PATH : 0;
  if (::name_to_handle_at(directory, name, room.get(), &mount_id, flags) != 0) return {};
  KernelHandle handle;
  handle.type = room.get()->handle_type;
  handle.size = room.get()->handle_bytes;
  std::memcpy(handle.data.data(), room.get()->f_handle, handle.size);
  return handle;
}

Outcome<int> open_kernel_handle(int mount, const KernelHandle& handle) {
  if (handle.size > kMaxKernelHandle) return refuse(nfs4::NFS4ERR_BADHANDLE);
  HandleRoom room;
  room.get()->handle_bytes = handle.size;
  room.get()->handle_type = handle.type;
  std::memcpy(room.get()->f_handle, handle.data.data(), handle.size);
  const int fd = ::open_by_handle_at(mount, room.get(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return refuse(is_shortage(errno) ? nfs4::NFS4ERR_SERVERFAULT : nfs4::NFS4ERR_STALE);
  return fd;
}

HandleCodec::HandleCodec(const std::string& key_text) : key_(key_from(key_text)) {}

nfs4::nfs_fh4 HandleCodec::seal(const InodeKey& key, const KernelHandle* kernel) const {
  Header header;
  header.kind = kernel ? Kind::kernel : Kind::table;
  header.kernel_type = kernel ? kernel->type : 0;
  header.key = key;
  nfs4::nfs_fh4 handle;
  handle.length = sizeof header;
  std::memcpy(handle.data.data(), &header, sizeof header);
  if (kernel) {
    std::ranges::copy(kernel->bytes(), handle.data.begin() + sizeof header);
    handle.length += kernel->size;
  }
  header.seal = siphash(key_, handle.bytes().subspan(kSealSize));
  std::memcpy(handle.data.data(), &header.seal, kSealSize);
  return handle;
}

Outcome<ParsedHandle> HandleCodec::open(const nfs4::nfs_fh4& handle) const {
  Header header;
  if (handle.length < sizeof header) return refuse(nfs4::NFS4ERR_BADHANDLE);
  std::memcpy(&header, handle.data.data(), sizeof header);
  const auto sealed = handle.bytes().subspan(kSealSize);
  ParsedHandle parsed{header.key, {}};
  if (header.kind == Kind::table) {
    if (header.seal != siphash(key_, sealed)) return refuse(nfs4::NFS4ERR_STALE);
    return parsed;
  }
  if (header.kind != Kind::kernel || header.seal != siphash(key_, sealed)) {
    return refuse(nfs4::NFS4ERR_BADHANDLE);
  }
  KernelHandle& kernel = parsed.kernel.emplace();
  kernel.type = header.kernel_type;
  kernel.size = handle.length - static_cast<std::uint32_t>(sizeof header);
  std::ranges::copy(handle.bytes().subspan(sizeof header), kernel.data.begin());
  return parsed;
}

}  // namespace nfsrdma::responder
