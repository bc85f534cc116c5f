#include "fuse/daemon/remount.h"

#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "fuse/channel/mount_table.h"
#include "fuse/options/option_list.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kRemountStep = "remount";

std::vector<std::string> arguments_of(const std::filesystem::path& process) {
  std::ifstream file(process / "cmdline", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

/// As the command or as a helper of mount(8).
bool is_this_program(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return false;
  const auto name = std::filesystem::path(arguments.front()).filename().string();
  return name == "nfsrdma" || name == "mount.nfsrdma" || name == "mount.fuse.nfsrdma";
}

/// What the process that serves this mount was started with; its command line stays as it was.
std::vector<std::string> words_of_process(const std::string& mount_point) {
  std::vector<std::string> words;
  const std::string self = std::to_string(::getpid());
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == self) continue;
    const auto arguments = arguments_of(entry.path());
    if (!is_this_program(arguments)) continue;
    if (std::ranges::find(arguments, mount_point) == arguments.end()) continue;
    for (const auto& argument : arguments) {
      std::ranges::move(split_option_list(argument), std::back_inserter(words));
    }
  }
  return words;
}

/// Of the mount table: what FUSE shows of its own.
bool is_of_mount_table(std::string_view word) {
  return word == "allow_other" || word == "default_permissions";
}

Result<void> check_unchanged(const std::string& mount_point,
                             const std::vector<std::string>& others) {
  const auto given = words_of_process(mount_point);
  for (const auto& word : others) {
    if (is_of_mount_table(word) || std::ranges::find(given, word) != given.end()) continue;
    return fail(Error::local(EINVAL, kRemountStep,
                             "option remount: unmount and mount again for " + word +
                                 "; a live mount takes ro, rw and the words of set-user-ID modes, "
                                 "devices, programs and access times"));
  }
  return {};
}

}  // namespace

Result<void> remount(const std::string& source, const std::string& mount_point,
                     const Remount& wanted) {
  const auto mounted = find_mount(mount_point);
  // subtype= gives the type another name.
  const bool ours =
      mounted && (mounted->type == "fuse.nfsrdma" || !words_of_process(mount_point).empty());
  if (!ours) {
    return fail(
        Error::local(EINVAL, kRemountStep, "nothing of nfsrdma is mounted on " + mount_point));
  }
  TRY(check_unchanged(mount_point, wanted.others));
  if (::mount(source.c_str(), mount_point.c_str(), mounted->type.c_str(), wanted.flags, nullptr) !=
      0) {
    return fail(Error::from_errno(errno, kRemountStep, mount_point));
  }
  return {};
}

}  // namespace nfsrdma::fuse
