#include "tests/hostile/stage.h"

#include <unistd.h>

#include <filesystem>

namespace nfsrdma::hostile {
namespace {

constexpr std::size_t kContentBytes = 3000;
constexpr std::uint32_t kListingRoomOfStage = 4096;  // of a listing

std::string numbered(const char* name) {
  static int number = 0;
  return name + std::to_string(++number);
}

}  // namespace

const std::string& content() {
  static const std::string text = [] {
    std::string made;
    while (made.size() < kContentBytes) made += "byte " + std::to_string(made.size()) + ' ';
    return made;
  }();
  return text;
}

Stage::Stage(HostileMount& mount)
    : m(mount),
      file(numbered("file")),
      missing(numbered("missing")),
      directory(numbered("directory")),
      link(numbered("link")),
      held(numbered("held")) {}

void Stage::make_directory() { std::filesystem::create_directory(m.path(directory)); }

void Stage::make_link() { std::filesystem::create_symlink(target(), m.path(link)); }

nfs4::nfs_fh4 Stage::hold() {
  m.write_file(held, content());
  const std::uint64_t of = lookup(held);
  open(of);
  return m.file_system().inodes().find(of)->handle();
}

std::uint64_t Stage::lookup(const std::string& name) {
  const Answer found = m.ask(FUSE_LOOKUP, FUSE_ROOT_ID, name);
  EXPECT_EQ(found.error, 0) << "LOOKUP of what is there";
  note_entry(found);
  return found.as<fuse_entry_out>().nodeid;
}

std::uint64_t Stage::open(std::uint64_t of, int flags) {
  const Answer answer = m.ask(FUSE_OPEN, of, fuse_open_in{static_cast<std::uint32_t>(flags), 0});
  EXPECT_EQ(answer.error, 0) << "OPEN of what is there";
  if (answer.error != 0) return 0;
  const std::uint64_t handle = answer.as<fuse_open_out>().fh;
  note_open(of, handle);
  return handle;
}

std::uint64_t Stage::open_directory(std::uint64_t of) {
  const Answer answer = m.ask(FUSE_OPENDIR, of, fuse_open_in{});
  EXPECT_EQ(answer.error, 0);
  if (answer.error != 0) return 0;
  directories_.emplace_back(of, answer.as<fuse_open_out>().fh);
  // Takes the page that OPENDIR has asked for, so that the next listing asks the server.
  fuse_read_in in{};
  in.fh = directories_.back().second;
  in.size = kListingRoomOfStage;
  EXPECT_EQ(m.ask(FUSE_READDIR, of, in).error, 0);
  return in.fh;
}

Answer Stage::read(std::uint64_t of, std::uint64_t handle, std::uint64_t offset,
                   std::uint32_t size) {
  fuse_read_in in{};
  in.fh = handle;
  in.offset = offset;
  in.size = size;
  return m.ask(FUSE_READ, of, in);
}

Answer Stage::write(std::uint64_t offset, std::string_view text) {
  fuse_write_in in{};
  in.fh = fh;
  in.offset = offset;
  in.size = static_cast<std::uint32_t>(text.size());
  return m.ask(FUSE_WRITE, node, in, std::as_bytes(std::span(text)));
}

fuse_lk_in Stage::lock_in(std::uint64_t owner, int type) const {
  return {fh, owner, {10, 19, static_cast<std::uint32_t>(type), 1234}, 0, 0};
}

int Stage::lock(std::uint64_t owner, int type) {
  return m.ask(FUSE_SETLK, node, lock_in(owner, type)).error;
}

void Stage::note_entry(const Answer& answer) {
  if (answer.error == 0) ++lookups_[answer.as<fuse_entry_out>().nodeid];
}

void Stage::note_release(std::uint64_t handle) {
  std::erase_if(opened_, [&](const auto& opened) { return opened.second == handle; });
}

bool Stage::clean_up() {
  for (const auto& [of, handle] : opened_) {
    fuse_flush_in flush{};
    flush.fh = handle;
    flush.lock_owner = 1;
    m.ask(FUSE_FLUSH, of, flush);
    fuse_release_in in{};
    in.fh = handle;
    m.ask(FUSE_RELEASE, of, in);
  }
  for (const auto& [of, handle] : directories_) {
    m.ask(FUSE_RELEASEDIR, of, fuse_release_in{.fh = handle});
  }
  const bool idle = m.become_idle();
  for (const auto& [known, count] : lookups_) {
    m.begin(FUSE_FORGET, known, fuse_forget_in{count});
  }
  for (const std::string& name : {file, missing, directory, link, held}) {
    std::error_code ignored;
    std::filesystem::remove_all(m.path(name), ignored);
  }
  return idle;
}

}  // namespace nfsrdma::hostile
