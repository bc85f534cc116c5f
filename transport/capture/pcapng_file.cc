#include "transport/capture/pcapng_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "transport/base/log.h"
#include "transport/capture/pcapng_block.h"

namespace nfsrdma::capture {
namespace {

constexpr const char* kStep = "create capture file";
constexpr mode_t kForTheUserAlone = 0600;

/// Takes the lock, unless another has it still after `patience`.
bool is_locked_by_another(int file, Duration patience) {
  constexpr Duration kBetweenLooks = std::chrono::milliseconds(50);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    if (std::chrono::steady_clock::now() >= end) return true;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return false;
}

}  // namespace

std::int64_t wall_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<UniqueFd> open_capture_file(const std::string& path, Duration patience) {
  constexpr int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  UniqueFd file(::open(path.c_str(), flags, kForTheUserAlone));
  if (!file && errno == ELOOP)
    return fail(Error::local(ELOOP, kStep, path + " is a symbolic link"));
  if (!file) return fail(Error::from_errno(errno, kStep, path));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return fail(Error::from_errno(errno, kStep, path));
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1 || status.st_uid != ::geteuid()) {
    return fail(Error::local(EINVAL, kStep, path + " is not an own, ordinary file; remove it"));
  }
  // Two recordings in one file leave neither. A file system without such locks is not refused.
  if (is_locked_by_another(file.get(), patience)) {
    return fail(
        Error::local(EBUSY, kStep, path + ": another program records into it; name another"));
  }
  if (::fchmod(file.get(), kForTheUserAlone) != 0) {
    return fail(Error::from_errno(errno, kStep, path));
  }
  return file;
}

Result<std::vector<UniqueFd>> open_capture_files(const std::string& path, std::size_t files,
                                                 Duration patience) {
  std::vector<UniqueFd> opened;
  for (const std::string& name : file_names(path, files)) {
    auto file = open_capture_file(name, patience);
    if (!file) return fail_from(file);
    opened.push_back(std::move(*file));
  }
  return opened;
}

Result<std::unique_ptr<PcapngFile>> PcapngFile::create(std::vector<UniqueFd> files,
                                                       const std::string& path, const Form& form,
                                                       Clock clock) {
  std::vector<File> streams;
  for (UniqueFd& file : files) {
    if (::ftruncate(file.get(), 0) != 0) return fail(Error::from_errno(errno, kStep, path));
    std::FILE* stream = ::fdopen(file.get(), "wb");
    if (stream == nullptr) return fail(Error::from_errno(errno, kStep, path));
    static_cast<void>(file.release());
    streams.emplace_back(stream);
  }
  return std::unique_ptr<PcapngFile>(
      new PcapngFile(std::move(streams), path, form, std::move(clock)));
}

PcapngFile::PcapngFile(std::vector<File> files, std::string path, const Form& form, Clock clock)
    : files_(std::move(files)),
      path_(std::move(path)),
      form_(form),
      clock_(std::move(clock)),
      header_(make_file_header(form)) {
  begin_file();
}

/// Begins the file of the present number. Drops what an earlier round has left in it.
void PcapngFile::begin_file() {
  std::FILE* const file = files_[present_ % files_.size()].get();
  if (present_ >= files_.size() && !broken_) {
    std::rewind(file);
    if (::ftruncate(::fileno(file), 0) != 0) return stop();
  }
  write(file, header_.data(), header_.size());
  written_ = header_.size();
  check(file);
}

PcapngFile::Number PcapngFile::present() const {
  if (!ring()) return 0;
  const std::lock_guard lock(mutex_);
  return present_;
}

void PcapngFile::add_packet(Number number, std::span<const std::span<const std::byte>> parts,
                            std::string_view comment) {
  std::size_t length = 0;
  for (const auto& part : parts) length += part.size();
  const std::size_t kept = form_.snap == 0 ? length : std::min(length, form_.snap);
  const PacketBlock block = make_packet_block(clock_(), kept, length, comment);
  constexpr std::array<std::byte, kBlockAlignment> zeros{};

  const std::lock_guard lock(mutex_);
  if (number + 1 < present_) return;
  std::FILE* const file = files_[number % files_.size()].get();
  packets_.add();
  write(file, block.head.data(), sizeof block.head);
  std::size_t left = kept;
  for (const auto& part : parts) {
    const std::size_t size = std::min(part.size(), left);
    write(file, part.data(), size);
    left -= size;
  }
  write(file, zeros.data(), pad_of(kept));
  write(file, block.tail.data(), block.tail.size());
  check(file);
  if (!std::exchange(unflushed_, true) && tell_unflushed_) tell_unflushed_();
  if (number != present_) return;
  written_ += block.head[1];
  if (!ring() || written_ < form_.file_bytes) return;
  ++present_;
  begin_file();
}

void PcapngFile::flush() {
  const std::lock_guard lock(mutex_);
  unflushed_ = false;
  for (const File& file : files_) {
    if (!broken_) std::fflush(file.get());
    check(file.get());
  }
}

void PcapngFile::write(std::FILE* file, const void* data, std::size_t size) {
  if (!broken_ && size != 0) std::fwrite(data, 1, size, file);
}

void PcapngFile::check(std::FILE* file) {
  if (!broken_ && std::ferror(file) != 0) stop();
}

void PcapngFile::stop() {
  broken_ = true;
  log::warning("capture stopped: {}: {}", path_, std::strerror(errno));
}

}  // namespace nfsrdma::capture
