#include "transport/journal/earlier_recording.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "transport/base/log.h"
#include "transport/capture/pcapng_file.h"
#include "transport/journal/entry.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::journal {
namespace {

constexpr const char* kStep = "keep the recording of before";

std::string kept_as(const std::string& path) { return path + ".old"; }

/// 0 at the end of the file, which is no value of interest.
std::uint32_t read_u32(std::istream& file) {
  std::uint32_t big_endian = 0;
  file.read(reinterpret_cast<char*>(&big_endian), sizeof big_endian);
  return __builtin_bswap32(big_endian);
}

/// Something has been asked of the mount. What is no recording counts as one: it may be of use.
bool has_requests(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic(kMagic.size(), '\0');
  file.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  if (!file || magic != kMagic) return true;
  constexpr std::streamoff kNestedAndTime = 12;
  while (file) {
    const auto kind = read_u32(file);
    if (file && kind == static_cast<std::uint32_t>(Kind::request)) return true;
    file.ignore(kNestedAndTime);
    const std::uint32_t length = read_u32(file);
    file.seekg(
        static_cast<std::streamoff>(length) + static_cast<std::streamoff>(xdr::pad_of(length)),
        std::ios::cur);
  }
  return false;
}

Result<void> rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return fail(Error::from_errno(errno, kStep, from + " as " + to));
}

Result<void> rename_parts(const std::string& path, bool parts, bool older_part) {
  const std::string kept = kept_as(path);
  if (older_part) {
    TRY(rename_file(older(path), older(kept)));
  } else if (parts && ::unlink(older(kept).c_str()) != 0 && errno != ENOENT) {
    // It would be taken for what came before the file that is called so now.
    return fail(Error::from_errno(errno, kStep, older(kept)));
  }
  return rename_file(path, kept);
}

}  // namespace

std::string older(const std::string& path) { return path + ".1"; }

Result<void> keep_earlier_recording(const std::string& path, bool parts, Duration patience) {
  auto file = capture::open_capture_file(path, patience);
  if (!file) return fail_from(file);
  struct stat status {};
  if (::fstat(file->get(), &status) != 0) return fail(Error::from_errno(errno, kStep, path));
  const bool empty = status.st_size == 0;
  const bool older_part = parts && ::lstat(older(path).c_str(), &status) == 0;
  if (!older_part && (empty || !has_requests(path))) return {};
  auto kept = rename_parts(path, parts, older_part);
  // Its directory may be another's, or the file a mount of its own: it is emptied then.
  if (!kept) log::warning("the recording of before is not kept: {}", kept.error().message());
  return {};
}

}  // namespace nfsrdma::journal
