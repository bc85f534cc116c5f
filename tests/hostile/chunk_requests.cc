#include "tests/hostile/chunk_requests.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace nfsrdma::hostile {
namespace {

constexpr std::uint32_t kSmallRead = 100;
/// Two READs.
constexpr std::uint32_t kLargeRead = 1U << 18;
constexpr std::size_t kMiddleWrite = 20000;
constexpr int kNames = 120;
constexpr std::uint32_t kListingRoom = 32768;
/// A symbolic link may have 4095 bytes.
constexpr std::size_t kLongTarget = 3900;

std::string long_text(std::size_t size) {
  std::string text;
  while (text.size() < size) text += content();
  text.resize(size);
  return text;
}

void opened_direct(Stage& s) {
  s.make_file();
  s.node = s.lookup(s.file);
  s.fh = s.open(s.node, O_RDWR | O_DIRECT);
}
void opened_large(Stage& s) {
  s.m.write_file(s.file, long_text(kLargeRead));
  s.node = s.lookup(s.file);
  s.fh = s.open(s.node, O_RDWR | O_DIRECT);
}

std::uint64_t read_of(Stage& s, std::uint32_t size) {
  fuse_read_in in{};
  in.fh = s.fh;
  in.size = size;
  in.flags = O_RDWR | O_DIRECT;
  return s.m.begin(FUSE_READ, s.node, in);
}
std::uint64_t read_small(Stage& s) { return read_of(s, kSmallRead); }
std::uint64_t read_large(Stage& s) { return read_of(s, kLargeRead); }
std::string is_part(Stage& s, const Answer& a, std::size_t size) {
  return a.text() == s.m.read_file(s.file).substr(0, size) ? "" : "other data than the file has";
}
std::string read_small_part(Stage& s, const Answer& a) { return is_part(s, a, kSmallRead); }
std::string read_large_part(Stage& s, const Answer& a) { return is_part(s, a, kLargeRead); }

std::uint64_t write_middle(Stage& s) {
  const std::string text = long_text(kMiddleWrite);
  fuse_write_in in{};
  in.fh = s.fh;
  in.size = kMiddleWrite;
  in.flags = O_RDWR | O_DIRECT;
  return s.m.begin(FUSE_WRITE, s.node, in, std::as_bytes(std::span(text)));
}
std::string wrote_middle(Stage& s, const Answer& a) {
  const std::uint32_t count = a.as<fuse_write_out>().size;
  if (count == 0 || count > kMiddleWrite) return "an impossible count";
  const bool there =
      s.m.read_file(s.file).substr(0, count) == long_text(kMiddleWrite).substr(0, count);
  return there ? "" : "what was written is not at the server";
}

std::string name_of(int number) {
  return "a name of some length, number " + std::to_string(number);
}
void large_directory(Stage& s) {
  s.make_directory();
  for (int i = 0; i < kNames; ++i) std::ofstream(s.m.path(s.directory) + "/" + name_of(i));
  s.node = s.lookup(s.directory);
  s.fh = s.open_directory(s.node);
}
std::uint64_t list_large(Stage& s) {
  fuse_read_in in{};
  in.fh = s.fh;
  in.size = kListingRoom;
  return s.m.begin(FUSE_READDIR, s.node, in);
}
std::string listed_large(Stage&, const Answer& a) {
  const auto entries = fuse::test::listed(a, false);
  std::set<std::string> names;
  for (const auto& entry : entries) names.insert(entry.name);
  if (names.size() != entries.size()) return "a name is there twice";
  for (const std::string& name : names) {
    const bool dots = name == "." || name == "..";
    if (!dots && !name.starts_with("a name of some length")) return "a name that is not there";
  }
  return {};
}

void long_link(Stage& s) {
  std::filesystem::create_symlink(long_text(kLongTarget), s.m.path(s.link));
  s.node = s.lookup(s.link);
}
std::uint64_t readlink(Stage& s) { return s.m.begin(FUSE_READLINK, s.node); }
std::string is_long_target(Stage&, const Answer& a) {
  return a.text() == long_text(kLongTarget) ? "" : "another text";
}

constexpr KernelOperation kChunkRequests[] = {
    {"ReadSmall", opened_direct, read_small, read_small_part},
    {"ReadLarge", opened_large, read_large, read_large_part},
    {"WriteMiddle", opened_direct, write_middle, wrote_middle},
    {"ReaddirLarge", large_directory, list_large, listed_large},
    {"ReadlinkLong", long_link, readlink, is_long_target},
};
constexpr std::string_view kOthers[] = {"Read",       "WriteDirect", "WriteSynchronous",
                                        "FsyncSmall", "FsyncLarge",  "Readdirplus",
                                        "Lookup",     "Create",      "Setlk"};

}  // namespace

std::vector<KernelOperation> chunk_requests() {
  std::vector<KernelOperation> all(std::begin(kChunkRequests), std::end(kChunkRequests));
  for (const std::string_view name : kOthers) {
    const auto found = std::ranges::find(kernel_operations(), name, &KernelOperation::name);
    if (found == kernel_operations().end()) std::abort();
    all.push_back(*found);
  }
  return all;
}

}  // namespace nfsrdma::hostile
