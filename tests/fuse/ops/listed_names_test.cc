// Names that a directory is known to lack: answered without the server, as long as that is right.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class ListedDirectory : public KernelRequests {
 protected:
  void SetUp() override {
    KernelRequests::SetUp();
    server_.write_file("there", "text");
  }
  /// Reads the root, or another directory, to its end.
  void list(std::uint64_t node = kRoot) {
    const Opened directory = open_directory(node);
    std::uint64_t offset = 0;
    for (;;) {
      const Answer page = read_directory(directory, offset);
      ASSERT_EQ(page.error, 0);
      if (page.body.empty()) break;
      offset = last_offset(page);
    }
    close_directory(directory);
  }
  Answer read_directory(const Opened& directory, std::uint64_t offset) {
    return ask(FUSE_READDIR, directory.node, read_in(directory, offset, 64 << 10));
  }
  static std::uint64_t last_offset(const Answer& page) {
    std::uint64_t offset = 0;
    for (std::size_t at = 0; at < page.body.size();) {
      fuse_dirent entry;
      std::memcpy(&entry, page.body.data() + at, sizeof entry);
      offset = entry.off;
      at += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + entry.namelen);
    }
    return offset;
  }
  /// Whether the name is missing; `asked`: the server was asked.
  bool missing(const std::string& name, bool& asked, std::uint64_t parent = kRoot) {
    const std::size_t before = server_.arrivals().size();
    const Answer answer = ask(FUSE_LOOKUP, parent, name);
    asked = server_.arrivals().size() > before;
    return answer.error == ENOENT || answer.as<fuse_entry_out>().nodeid == 0;
  }
  void expect_known(const std::string& name, std::uint64_t parent = kRoot) {
    bool asked = false;
    EXPECT_TRUE(missing(name, asked, parent)) << name;
    EXPECT_FALSE(asked) << name;
  }
  void expect_asked(const std::string& name, std::uint64_t parent = kRoot) {
    bool asked = false;
    EXPECT_TRUE(missing(name, asked, parent)) << name;
    EXPECT_TRUE(asked) << name;
  }
  void expect_there(const std::string& name, std::uint64_t parent = kRoot) {
    bool asked = false;
    EXPECT_FALSE(missing(name, asked, parent)) << name;
  }
  std::uint64_t make_directory(const std::string& name) {
    const Answer made = ask(FUSE_MKDIR, kRoot, fuse_mkdir_in{0755, 0}, name);
    EXPECT_EQ(made.error, 0);
    return made.as<fuse_entry_out>().nodeid;
  }
  void create(const std::string& name, std::uint64_t parent = kRoot) {
    fuse_create_in in{};
    in.flags = O_RDWR | O_CREAT | O_EXCL;
    in.mode = S_IFREG | 0644;
    const Answer made = ask(FUSE_CREATE, parent, in, name);
    ASSERT_EQ(made.error, 0) << name;
    const auto* out =
        reinterpret_cast<const fuse_open_out*>(made.body.data() + sizeof(fuse_entry_out));
    release({made.as<fuse_entry_out>().nodeid, out->fh});
  }
  void ask_for_attributes() {
    fs_->inodes().find(kRoot)->attributes().expire();
    getattr(kRoot);
  }
  std::uint64_t known_missing() const { return fs_counter("cache_names_known_missing"); }
};

TEST_F(ListedDirectory, AnswersForNamesThatItLacks) {
  expect_asked("missing");
  list();
  expect_known("missing");
  expect_known("other");
  expect_there("there");
  EXPECT_EQ(known_missing(), 2U);
  EXPECT_EQ(fs_counter("cache_listed_directories"), 1U);
  EXPECT_EQ(fs_counter("cache_listed_names"), 1U);
}

TEST_F(ListedDirectory, TheKernelDoesNotRememberWhatWasNotAskedFor) {
  list();
  const auto answer = ask(FUSE_LOOKUP, kRoot, "a").as<fuse_entry_out>();
  EXPECT_EQ(known_missing(), 1U);
  EXPECT_EQ(answer.nodeid, 0U);
  EXPECT_EQ(answer.entry_valid, 0U);
  EXPECT_EQ(answer.entry_valid_nsec, 0U);
}

TEST_F(ListedDirectory, ANameThatAnotherClientMakesIsFoundAMomentLater) {
  const std::uint64_t made = make_directory("directory");
  list();
  server_.write_file("new", "");
  server_.write_file("directory/new", "");
  reactor_.advance(std::chrono::milliseconds(1));
  expect_there("new");
  expect_there("new", made);
}

TEST_F(ListedDirectory, ALongDirectoryToo) {
  for (int i = 0; i < 3000; ++i) server_.write_file("name" + std::to_string(i), "");
  list();
  EXPECT_GT(server_.successes_of(nfs4::OP_READDIR), 1);
  expect_known("missing");
  expect_there("name2999");
  expect_there("name0");
}

// The pages of the second listing are of two versions: they are not a listing of either.
TEST_F(ListedDirectory, LacksNoNameThatALaterListingHasShown) {
  for (int i = 0; i < 3000; ++i) server_.write_file("name" + std::to_string(i), "");
  list();
  expect_known("missing");
  server_.write_file("new", "");
  server_.write_file("newer", "");
  const Opened directory = open_directory();
  std::uint64_t offset = 0;
  bool changed = false;
  for (;;) {
    const Answer page = read_directory(directory, offset);
    ASSERT_EQ(page.error, 0);
    if (page.body.empty()) break;
    offset = last_offset(page);
    if (!std::exchange(changed, true)) server_.write_file("z", "");
  }
  close_directory(directory);
  EXPECT_GT(server_.successes_of(nfs4::OP_READDIR), 2);
  expect_there("new");
  expect_there("newer");
}

TEST_F(ListedDirectory, IsAskedAgainAfterAWhile) {
  list();
  reactor_.advance(std::chrono::milliseconds(1));
  expect_asked("missing");
}

TEST_F(ListedDirectory, IsBelievedOnWhenTheServerShowsTheSameVersion) {
  ask_for_attributes();
  reactor_.advance(std::chrono::seconds(3));
  list();
  reactor_.advance(std::chrono::minutes(2));
  getattr(kRoot);
  expect_known("missing");
}

// The change attributes of many servers are of a clock that ticks slowly.
TEST_F(ListedDirectory, OfADirectoryThatHasJustChangedIsBelievedOnce) {
  server_.write_file("another", "");
  ask_for_attributes();
  list();
  expect_known("missing");
  reactor_.advance(std::chrono::minutes(2));
  getattr(kRoot);
  expect_asked("missing");
}

TEST_F(ListedDirectory, ANameThatAnotherClientMakesIsFoundWithTheNextAttributes) {
  list();
  server_.write_file("new", "");
  expect_known("new");
  reactor_.advance(std::chrono::minutes(2));
  getattr(kRoot);
  expect_there("new");
  expect_asked("missing");
}

TEST_F(ListedDirectory, NamesThatAreMadeHereAreFound) {
  list();
  expect_known("made");
  create("made");
  expect_there("made");
  make_directory("directory");
  expect_there("directory");
}

TEST_F(ListedDirectory, IsKnownOnAfterChangesMadeHere) {
  list();
  create("one");
  create("two");
  expect_known("three");
  ASSERT_EQ(ask(FUSE_UNLINK, kRoot, "one").error, 0);
  expect_known("three");
  getattr(kRoot);
  expect_known("three");
  expect_asked("one");
}

TEST_F(ListedDirectory, ALinkAndASymlinkAreFound) {
  list();
  const std::uint64_t node = lookup("there").nodeid;
  ASSERT_EQ(ask(FUSE_LINK, kRoot, fuse_link_in{node}, "link").error, 0);
  expect_there("link");
  ASSERT_EQ(ask(FUSE_SYMLINK, kRoot, "symlink", "target").error, 0);
  expect_there("symlink");
  ASSERT_EQ(ask(FUSE_MKNOD, kRoot, fuse_mknod_in{.mode = S_IFIFO | 0600}, "fifo").error, 0);
  expect_there("fifo");
}

TEST_F(ListedDirectory, ARenamedFileIsFoundWhereItIs) {
  const std::uint64_t other = make_directory("other");
  list();
  list(other);
  ASSERT_EQ(ask(FUSE_RENAME, kRoot, fuse_rename_in{kRoot}, "there", "here").error, 0);
  expect_there("here");
  ASSERT_EQ(ask(FUSE_RENAME, kRoot, fuse_rename_in{other}, "here", "moved").error, 0);
  expect_there("moved", other);
  expect_known("missing", other);
}

TEST_F(ListedDirectory, ASillyNameIsFound) {
  list();
  const Opened file = kernel_open("there");
  ASSERT_EQ(ask(FUSE_UNLINK, kRoot, "there").error, 0);
  std::string silly;
  for (const auto& entry : std::filesystem::directory_iterator(server_.path("."))) {
    silly = entry.path().filename();
  }
  ASSERT_TRUE(silly.starts_with(".nfs")) << silly;
  expect_there(silly);
  release(file);
}

TEST_F(ListedDirectory, AFailedCreateLeavesItInDoubt) {
  list();
  server_.fail(nfs4::OP_OPEN, nfs4::NFS4ERR_IO);
  fuse_create_in in{};
  in.flags = O_RDWR | O_CREAT;
  in.mode = S_IFREG | 0644;
  EXPECT_EQ(ask(FUSE_CREATE, kRoot, in, "made").error, EIO);
  expect_asked("made");
}

TEST_F(ListedDirectory, AFailedMkdirOrRenameLeavesItInDoubt) {
  list();
  server_.fail(nfs4::OP_CREATE, nfs4::NFS4ERR_IO);
  EXPECT_EQ(ask(FUSE_MKDIR, kRoot, fuse_mkdir_in{0755, 0}, "made").error, EIO);
  expect_asked("made");
  list();
  server_.fail(nfs4::OP_RENAME, nfs4::NFS4ERR_IO);
  EXPECT_EQ(ask(FUSE_RENAME, kRoot, fuse_rename_in{kRoot}, "there", "here").error, EIO);
  expect_asked("here");
  list();
  server_.fail(nfs4::OP_LINK, nfs4::NFS4ERR_IO);
  const std::uint64_t node = lookup("there").nodeid;
  EXPECT_EQ(ask(FUSE_LINK, kRoot, fuse_link_in{node}, "link").error, EIO);
  expect_asked("link");
}

TEST_F(ListedDirectory, WhatIsDroppedOnDemandIsAskedFor) {
  list();
  fs_->drop_caches();
  expect_asked("missing");
}

TEST_F(ListedDirectory, WhatIsMadeWhileItIsListedMayBeMissed) {
  for (int i = 0; i < 3000; ++i) server_.write_file("name" + std::to_string(i), "");
  const Opened directory = open_directory();
  std::uint64_t offset = last_offset(read_directory(directory, 0));
  create("made");
  for (;;) {
    const Answer page = read_directory(directory, offset);
    if (page.body.empty()) break;
    offset = last_offset(page);
  }
  close_directory(directory);
  expect_asked("missing");
}

TEST_F(ListedDirectory, AListingThatIsCutShortTellsNothing) {
  for (int i = 0; i < 3000; ++i) server_.write_file("name" + std::to_string(i), "");
  const Opened directory = open_directory();
  read_directory(directory, 0);
  close_directory(directory);
  expect_asked("missing");
}

TEST_F(ListedDirectory, AnotherUserIsNotToldWhatWasListedForOne) {
  std::filesystem::permissions(server_.path("."), std::filesystem::perms(0755));
  list();
  kernel_->caller.uid = 4242;
  expect_asked("missing");
}

TEST_F(ListedDirectory, ANewDirectoryLacksEveryName) {
  const std::uint64_t made = make_directory("made");
  expect_known("missing", made);
  create("f", made);
  expect_there("f", made);
  expect_known("g", made);
}

TEST_F(ListedDirectory, ANewDirectoryIsListedBeforeItIsBelievedForLong) {
  const std::uint64_t made = make_directory("made");
  reactor_.advance(std::chrono::minutes(2));
  getattr(made);
  expect_asked("missing", made);
}

class ListedNotBelieved : public ListedDirectory {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig config;
    config.attributes.lookup_cache = cache::LookupCache::positive;
    return config;
  }
};

TEST_F(ListedNotBelieved, AreAskedFor) {
  list();
  expect_asked("missing");
}

class ListedForEachUser : public ListedDirectory {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig config;
    config.kernel.names_of_each_user = true;
    return config;
  }
};

// The server has to say whether the user may search the directory.
TEST_F(ListedForEachUser, AreAskedFor) {
  list();
  expect_asked("missing");
}

}  // namespace
}  // namespace nfsrdma::fuse::test
