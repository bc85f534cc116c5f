#include "tests/hostile/kernel_operations.h"

#include <sys/stat.h>

#include <algorithm>

namespace nfsrdma::hostile {
namespace {

constexpr std::uint64_t kRoot = FUSE_ROOT_ID;
constexpr std::uint64_t kOwner = 1;
constexpr std::uint32_t kRoom = 16384;
/// More than is gathered: it is sent in parts, from the slot it came in.
constexpr std::size_t kLarge = 300000;

std::string unless(bool truth, const char* lie) { return truth ? "" : lie; }

struct stat real(Stage& s, const std::string& name) {
  struct stat status {};
  ::lstat(s.m.path(name).c_str(), &status);
  return status;
}

void nothing(Stage&) {}
void with_file(Stage& s) { s.make_file(); }
void with_directory(Stage& s) { s.make_directory(); }
void with_all(Stage& s) {
  s.make_file();
  s.make_directory();
  s.make_link();
}
void known(Stage& s) {
  s.make_file();
  s.node = s.lookup(s.file);
}
void opened(Stage& s) {
  known(s);
  s.fh = s.open(s.node);
}
void written(Stage& s) {
  opened(s);
  EXPECT_EQ(s.write(5, "new text").error, 0);
}
const std::string& large_text() {
  static const std::string text = [] {
    std::string made;
    while (made.size() < kLarge) made += content();
    made.resize(kLarge);
    return made;
  }();
  return text;
}
void written_large(Stage& s) {
  opened(s);
  EXPECT_EQ(s.write(0, large_text()).error, 0);
}
void locked(Stage& s) {
  opened(s);
  EXPECT_EQ(s.lock(kOwner, F_WRLCK), 0);
}

std::string true_always(Stage&, const Answer&) { return {}; }
std::string holds_new_text(Stage& s, const Answer&) {
  std::string wanted = content();
  wanted.replace(5, 8, "new text");
  return unless(s.m.read_file(s.file) == wanted, "what was written is not at the server");
}
std::string holds_large_text(Stage& s, const Answer&) {
  return unless(s.m.read_file(s.file) == large_text(), "what was written is not at the server");
}
std::string is_entry(Stage& s, const Answer& answer, const std::string& name) {
  s.note_entry(answer);
  const auto entry = answer.as<fuse_entry_out>();
  if (!s.m.exists(name)) return "it does not exist";
  if (entry.nodeid == 0) return "it is said not to exist";
  const struct stat status = real(s, name);
  if (entry.attr.ino != status.st_ino) return "another file's number";
  return unless(entry.attr.mode == status.st_mode &&
                    entry.attr.size == static_cast<std::uint64_t>(status.st_size),
                "wrong mode or size");
}

std::uint64_t lookup(Stage& s) { return s.m.begin(FUSE_LOOKUP, kRoot, s.file); }
std::string found_file(Stage& s, const Answer& a) { return is_entry(s, a, s.file); }
std::string made_it(Stage& s, const Answer& a) { return is_entry(s, a, s.missing); }

std::uint64_t getattr(Stage& s) { return s.m.begin(FUSE_GETATTR, s.node, fuse_getattr_in{}); }
std::string got_attributes(Stage& s, const Answer& a) {
  const fuse_attr attr = a.as<fuse_attr_out>().attr;
  return unless(attr.size == content().size() && attr.ino == real(s, s.file).st_ino &&
                    attr.mode == real(s, s.file).st_mode,
                "wrong attributes");
}

std::uint64_t chmod(Stage& s) {
  return s.m.begin(FUSE_SETATTR, s.node, fuse_setattr_in{.valid = FATTR_MODE, .mode = 0640});
}
std::string has_mode(Stage& s, const Answer&) {
  return unless(real(s, s.file).st_mode == (S_IFREG | 0640U), "the mode is another");
}
std::uint64_t truncate(Stage& s) {
  return s.m.begin(FUSE_SETATTR, s.node,
                   fuse_setattr_in{.valid = FATTR_SIZE | FATTR_FH, .fh = s.fh, .size = 4});
}
std::string is_cut(Stage& s, const Answer& a) {
  if (a.as<fuse_attr_out>().attr.size != 4) return "another size is told";
  return unless(s.m.read_file(s.file) == content().substr(0, 4), "the size is another");
}

std::uint64_t open(Stage& s) { return s.m.begin(FUSE_OPEN, s.node, fuse_open_in{O_RDWR, 0}); }
std::uint64_t open_cut(Stage& s) {
  return s.m.begin(FUSE_OPEN, s.node, fuse_open_in{O_RDWR | O_TRUNC, 0});
}
std::string can_be_read(Stage& s, const Answer& a) {
  s.fh = a.as<fuse_open_out>().fh;
  s.note_open(s.node, s.fh);
  const Answer read = s.read(s.node, s.fh, 0, kRoom);
  return unless(read.error == 0 && read.text() == s.m.read_file(s.file),
                "the open file cannot be read");
}
std::uint64_t create(Stage& s) {
  return s.m.begin(FUSE_CREATE, kRoot, fuse_create_in{O_RDWR | O_CREAT, S_IFREG | 0644, 0, 0},
                   s.missing);
}
std::uint64_t create_exclusive(Stage& s) {
  return s.m.begin(FUSE_CREATE, kRoot,
                   fuse_create_in{O_RDWR | O_CREAT | O_EXCL, S_IFREG | 0644, 0, 0}, s.missing);
}
std::string created(Stage& s, const Answer& a) {
  s.node = a.as<fuse_entry_out>().nodeid;
  s.fh = a.as<fuse_open_out>(sizeof(fuse_entry_out)).fh;
  s.note_open(s.node, s.fh);
  return is_entry(s, a, s.missing);
}

std::uint64_t read(Stage& s) {
  fuse_read_in in{};
  in.fh = s.fh;
  in.size = kRoom;
  return s.m.begin(FUSE_READ, s.node, in);
}
std::string read_all(Stage&, const Answer& a) {
  return unless(a.text() == content(), "other data than the file has");
}
void opened_direct(Stage& s) {
  known(s);
  s.fh = s.open(s.node, O_RDWR | O_DIRECT);
}
void opened_synchronous(Stage& s) {
  known(s);
  s.fh = s.open(s.node, O_RDWR | O_DSYNC);
}
std::uint64_t write_with(Stage& s, int flags) {
  fuse_write_in in{};
  in.fh = s.fh;
  in.size = static_cast<std::uint32_t>(large_text().size());
  in.flags = static_cast<std::uint32_t>(flags);
  return s.m.begin(FUSE_WRITE, s.node, in, std::as_bytes(std::span(large_text())));
}
std::uint64_t write_direct(Stage& s) { return write_with(s, O_RDWR | O_DIRECT); }
std::uint64_t write_synchronous(Stage& s) { return write_with(s, O_RDWR | O_DSYNC); }
std::string wrote_as_much(Stage& s, const Answer& a) {
  const std::uint32_t count = a.as<fuse_write_out>().size;
  if (count == 0 || count > large_text().size()) return "an impossible count";
  return unless(s.m.read_file(s.file).substr(0, count) == large_text().substr(0, count),
                "what was written is not at the server");
}
std::uint64_t fsync(Stage& s) { return s.m.begin(FUSE_FSYNC, s.node, fuse_fsync_in{.fh = s.fh}); }
std::uint64_t flush(Stage& s) {
  fuse_flush_in in{};
  in.fh = s.fh;
  in.lock_owner = kOwner;
  return s.m.begin(FUSE_FLUSH, s.node, in);
}
std::uint64_t release(Stage& s) {
  fuse_release_in in{};
  in.fh = s.fh;
  s.note_release(s.fh);
  return s.m.begin(FUSE_RELEASE, s.node, in);
}

std::uint64_t opendir(Stage& s) { return s.m.begin(FUSE_OPENDIR, kRoot, fuse_open_in{}); }
std::string opened_directory(Stage& s, const Answer& a) {
  s.m.ask(FUSE_RELEASEDIR, kRoot, fuse_release_in{.fh = a.as<fuse_open_out>().fh});
  return {};
}
void directory(Stage& s) {
  with_all(s);
  s.fh = s.open_directory();
}
std::uint64_t list(Stage& s, std::uint32_t opcode) {
  fuse_read_in in{};
  in.fh = s.fh;
  in.size = kRoom;
  return s.m.begin(opcode, kRoot, in);
}
std::uint64_t readdir(Stage& s) { return list(s, FUSE_READDIR); }
std::uint64_t readdirplus(Stage& s) { return list(s, FUSE_READDIRPLUS); }
std::string lists_all(Stage& s, const Answer& a, bool plus) {
  const auto entries = fuse::test::listed(a, plus);
  for (const std::string& name : {s.file, s.directory, s.link}) {
    if (std::ranges::count(entries, name, &fuse::test::ListedEntry::name) != 1) {
      return "a name is missing or there twice";
    }
  }
  return {};
}
std::string listed(Stage& s, const Answer& a) { return lists_all(s, a, false); }
std::string listed_plus(Stage& s, const Answer& a) {
  for (const auto& entry : fuse::test::listed(a, true)) {
    if (entry.entry.nodeid == 0) continue;
    Answer one;
    one.body.resize(sizeof entry.entry);
    std::memcpy(one.body.data(), &entry.entry, sizeof entry.entry);
    s.note_entry(one);
  }
  return lists_all(s, a, true);
}

std::uint64_t mkdir(Stage& s) {
  return s.m.begin(FUSE_MKDIR, kRoot, fuse_mkdir_in{S_IFDIR | 0755, 0}, s.missing);
}
std::uint64_t mknod(Stage& s) {
  return s.m.begin(FUSE_MKNOD, kRoot, fuse_mknod_in{S_IFREG | 0644, 0, 0, 0}, s.missing);
}
std::uint64_t mkfifo(Stage& s) {
  return s.m.begin(FUSE_MKNOD, kRoot, fuse_mknod_in{S_IFIFO | 0644, 0, 0, 0}, s.missing);
}
std::uint64_t symlink(Stage& s) {
  return s.m.begin(FUSE_SYMLINK, kRoot, s.missing, Stage::target());
}
std::uint64_t link(Stage& s) {
  return s.m.begin(FUSE_LINK, kRoot, fuse_link_in{s.node}, s.missing);
}
std::uint64_t unlink(Stage& s) { return s.m.begin(FUSE_UNLINK, kRoot, s.file); }
std::string unlinked(Stage& s, const Answer&) {
  return unless(!s.m.exists(s.file), "the file is still there");
}
std::uint64_t rmdir(Stage& s) { return s.m.begin(FUSE_RMDIR, kRoot, s.directory); }
std::string removed(Stage& s, const Answer&) {
  return unless(!s.m.exists(s.directory), "the directory is still there");
}
std::uint64_t rename(Stage& s) {
  return s.m.begin(FUSE_RENAME, kRoot, fuse_rename_in{kRoot}, s.file, s.missing);
}
std::string renamed(Stage& s, const Answer&) {
  return unless(!s.m.exists(s.file) && s.m.exists(s.missing), "it has the old name");
}
void symbolic(Stage& s) {
  s.make_link();
  s.node = s.lookup(s.link);
}
std::uint64_t readlink(Stage& s) { return s.m.begin(FUSE_READLINK, s.node); }
std::string is_target(Stage&, const Answer& a) {
  return unless(a.text() == Stage::target(), "another text");
}
std::uint64_t statfs(Stage& s) { return s.m.begin(FUSE_STATFS, kRoot); }
std::string has_blocks(Stage&, const Answer& a) {
  return unless(a.as<fuse_statfs_out>().st.blocks > 0, "a file system without blocks");
}
std::uint64_t access(Stage& s) { return s.m.begin(FUSE_ACCESS, s.node, fuse_access_in{R_OK, 0}); }

std::uint64_t getlk(Stage& s) {
  return s.m.begin(FUSE_GETLK, s.node, s.lock_in(kOwner + 1, F_WRLCK));
}
std::string shows_lock(Stage&, const Answer& a) {
  return unless(a.as<fuse_lk_out>().lk.type != F_UNLCK, "no lock is told of");
}
std::uint64_t setlk(Stage& s) { return s.m.begin(FUSE_SETLK, s.node, s.lock_in(kOwner, F_WRLCK)); }
std::uint64_t setlkw(Stage& s) {
  return s.m.begin(FUSE_SETLKW, s.node, s.lock_in(kOwner, F_WRLCK));
}
std::string is_locked(Stage& s, const Answer&) {
  return unless(s.lock(kOwner + 1, F_WRLCK) == EAGAIN, "the lock is not there");
}
std::uint64_t unlock(Stage& s) { return s.m.begin(FUSE_SETLK, s.node, s.lock_in(kOwner, F_UNLCK)); }
std::string is_unlocked(Stage& s, const Answer&) {
  const int error = s.lock(kOwner + 1, F_WRLCK);
  if (error == 0) s.lock(kOwner + 1, F_UNLCK);
  return unless(error == 0, "the lock is still there");
}

constexpr KernelOperation kOperations[] = {
    {"Lookup", with_file, lookup, found_file},
    {"Getattr", known, getattr, got_attributes},
    {"SetattrMode", known, chmod, has_mode},
    {"SetattrSize", opened, truncate, is_cut},
    {"Open", known, open, can_be_read},
    {"OpenTruncate", known, open_cut, can_be_read},
    {"Create", nothing, create, created},
    {"CreateExclusive", nothing, create_exclusive, created},
    {"Read", opened, read, read_all},
    {"WriteDirect", opened_direct, write_direct, wrote_as_much},
    {"WriteSynchronous", opened_synchronous, write_synchronous, wrote_as_much},
    {"FsyncSmall", written, fsync, holds_new_text},
    {"FsyncLarge", written_large, fsync, holds_large_text},
    {"Flush", written, flush, holds_new_text},
    {"Release", opened, release, true_always},
    {"Opendir", nothing, opendir, opened_directory},
    {"Readdir", directory, readdir, listed},
    {"Readdirplus", directory, readdirplus, listed_plus},
    {"Mkdir", nothing, mkdir, made_it},
    {"MknodFile", nothing, mknod, made_it},
    {"MknodFifo", nothing, mkfifo, made_it},
    {"Symlink", nothing, symlink, made_it},
    {"Link", known, link, made_it},
    {"Unlink", with_file, unlink, unlinked},
    {"UnlinkOpen", opened, unlink, unlinked},
    {"Rmdir", with_directory, rmdir, removed},
    {"Rename", with_file, rename, renamed},
    {"Readlink", symbolic, readlink, is_target},
    {"Statfs", nothing, statfs, has_blocks},
    {"Access", known, access, true_always},
    {"Getlk", locked, getlk, shows_lock},
    {"Setlk", opened, setlk, is_locked},
    {"Setlkw", opened, setlkw, is_locked},
    {"Unlock", locked, unlock, is_unlocked},
};

}  // namespace

void PrintTo(const KernelOperation& operation, std::ostream* out) { *out << operation.name; }

std::span<const KernelOperation> kernel_operations() { return kOperations; }

}  // namespace nfsrdma::hostile
