#include "tests/responder/nfs/fs/directory_reader.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

bool same(const Identity& a, const Identity& b) {
  return a.uid == b.uid && a.gid == b.gid && a.group_count == b.group_count &&
         std::equal(a.groups.begin(), a.groups.begin() + a.group_count, b.groups.begin());
}

bool is_dot(const char* name) {
  const std::string_view text(name);
  return text == "." || text == "..";
}

}  // namespace

DirectoryStream::DirectoryStream(FileRef directory, const Identity& who, UniqueFd fd)
    : directory_(std::move(directory)), who_(who), fd_(std::move(fd)), block_(kBlockSize) {}

bool DirectoryStream::serves(const FileRef& directory, const Identity& who) const {
  return directory_ == directory && same(who_, who);
}

Outcome<void> DirectoryStream::seek(std::uint64_t cookie) {
  if (::lseek(fd_.get(), static_cast<off_t>(cookie), SEEK_SET) < 0) {
    return refuse(NFS4ERR_BAD_COOKIE);
  }
  position_ = cookie;
  peeked_ = false;
  filled_ = next_ = 0;
  return {};
}

Outcome<bool> DirectoryStream::fill() {
  const long got = ::syscall(SYS_getdents64, fd_.get(), block_.data(), block_.size());
  if (got < 0) return refuse(errno == EINVAL ? NFS4ERR_BAD_COOKIE : status_of_errno(errno));
  filled_ = static_cast<std::size_t>(got);
  next_ = 0;
  return filled_ > 0;
}

Outcome<const DirectoryEntry*> DirectoryStream::peek() {
  if (peeked_) return &entry_;
  for (;;) {
    if (next_ == filled_) {
      const auto more = fill();
      if (!more) return refuse(more.error());
      if (!*more) return nullptr;
    }
    const auto* raw = reinterpret_cast<const dirent64*>(block_.data() + next_);
    next_ += raw->d_reclen;
    entry_ = {raw->d_name, static_cast<std::uint64_t>(raw->d_off)};
    if (is_dot(entry_.name)) continue;
    peeked_ = true;
    return &entry_;
  }
}

void DirectoryStream::advance() {
  position_ = entry_.cookie;
  peeked_ = false;
}

Outcome<DirectoryStream*> DirectoryReader::open(const Identity& who, const FileRef& directory,
                                                std::uint64_t cookie) {
  // A listing from the start wants a fresh view of the directory.
  const auto kept = std::ranges::find_if(streams_, [&](const DirectoryStream& stream) {
    return cookie != 0 && stream.position() == cookie && stream.serves(directory, who);
  });
  if (kept != streams_.end()) {
    streams_.splice(streams_.begin(), streams_, kept);
  } else {
    auto fd = files_.reopen(who, directory, O_RDONLY | O_DIRECTORY);
    if (!fd) return refuse(fd.error());
    streams_.emplace_front(directory, who, std::move(*fd));
    if (streams_.size() > kMaxStreams) streams_.pop_back();
  }
  DirectoryStream& stream = streams_.front();
  if (stream.position() != cookie) {
    const auto sought = stream.seek(cookie);
    if (!sought) return refuse(sought.error());
  }
  return &stream;
}

}  // namespace nfsrdma::responder
