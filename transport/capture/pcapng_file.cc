#include "transport/capture/pcapng_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "transport/base/log.h"

namespace nfsrdma::capture {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint32_t kVersion = 1;  // 1.0: major, then minor, 16 bits each
constexpr std::uint32_t kLengthUnknown = ~0u;
constexpr std::uint32_t kLinkTypeRaw = 101;  // the packet starts with its IP header
constexpr std::uint32_t kNoSnapLength = 0;
constexpr std::uint32_t kFirstInterface = 0;
constexpr std::uint16_t kTimeResolution = 9;  // the option if_tsresol
constexpr std::uint32_t kNanoseconds = 9;     // its value, in the first of the word's bytes
constexpr std::uint32_t kEndOfOptions = 0;
constexpr std::size_t kBlockAlignment = 4;
constexpr const char* kStep = "create capture file";
constexpr mode_t kForTheUserAlone = 0600;

static_assert(std::endian::native == std::endian::little, "options have two fields in a word");
/// Code and length of an option, as they stand in the file.
constexpr std::uint32_t option(std::uint16_t code, std::uint16_t length) {
  return std::uint32_t{length} << 16 | code;
}

}  // namespace

std::int64_t wall_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Result<UniqueFd> open_capture_file(const std::string& path) {
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
  if (::fchmod(file.get(), kForTheUserAlone) != 0 || ::ftruncate(file.get(), 0) != 0) {
    return fail(Error::from_errno(errno, kStep, path));
  }
  return file;
}

Result<std::unique_ptr<PcapngFile>> PcapngFile::create(const std::string& path, Clock clock) {
  auto opened = open_capture_file(path);
  if (!opened) return fail_from(opened);
  return create(std::move(*opened), path, std::move(clock));
}

Result<std::unique_ptr<PcapngFile>> PcapngFile::create(UniqueFd opened, const std::string& path,
                                                       Clock clock) {
  std::FILE* file = ::fdopen(opened.get(), "wb");
  if (file == nullptr) return fail(Error::from_errno(errno, kStep, path));
  static_cast<void>(opened.release());
  std::unique_ptr<PcapngFile> made(new PcapngFile(file, path, std::move(clock)));
  made->write_file_header();
  return made;
}

void PcapngFile::write_file_header() {
  // The file is in this machine's byte order, which the magic tells the reader.
  constexpr std::array<std::uint32_t, 7> section = {
      kSectionHeader, 28, kByteOrderMagic, kVersion, kLengthUnknown, kLengthUnknown, 28};
  static_assert(sizeof section == 28);
  constexpr std::array<std::uint32_t, 8> interface = {
      kInterfaceDescription,      32,           kLinkTypeRaw,  kNoSnapLength,
      option(kTimeResolution, 1), kNanoseconds, kEndOfOptions, 32};
  static_assert(sizeof interface == 32);
  write(section.data(), sizeof section);
  write(interface.data(), sizeof interface);
  check();
}

void PcapngFile::add_packet(std::span<const std::span<const std::byte>> parts) {
  std::size_t length = 0;
  for (const auto& part : parts) length += part.size();
  const std::size_t pad = (kBlockAlignment - length % kBlockAlignment) % kBlockAlignment;
  const std::int64_t now = clock_();
  const auto bytes = static_cast<std::uint32_t>(length);
  std::array<std::uint32_t, 7> head = {kEnhancedPacket,
                                       0,
                                       kFirstInterface,
                                       static_cast<std::uint32_t>(now >> 32),
                                       static_cast<std::uint32_t>(now),
                                       bytes,
                                       bytes};
  const auto total = static_cast<std::uint32_t>(sizeof head + length + pad + sizeof(std::uint32_t));
  head[1] = total;
  constexpr std::array<std::byte, kBlockAlignment> zeros{};

  std::lock_guard lock(mutex_);
  packets_.add();
  write(head.data(), sizeof head);
  for (const auto& part : parts) write(part.data(), part.size());
  write(zeros.data(), pad);
  write(&total, sizeof total);
  check();
}

void PcapngFile::flush() {
  std::lock_guard lock(mutex_);
  if (!broken_) std::fflush(file_.get());
  check();
}

void PcapngFile::write(const void* data, std::size_t size) {
  if (!broken_ && size != 0) std::fwrite(data, 1, size, file_.get());
}

void PcapngFile::check() {
  if (broken_ || std::ferror(file_.get()) == 0) return;
  broken_ = true;
  log::warning("capture stopped: {}: {}", path_, std::strerror(errno));
}

}  // namespace nfsrdma::capture
