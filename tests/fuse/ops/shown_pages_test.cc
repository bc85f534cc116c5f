// What the kernel has cached goes before an answer shows something newer.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "client/files/open_files.h"
#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class ShownPages : public KernelRequests {
 protected:
  static constexpr std::uint32_t kPage = 4096;

  explicit ShownPages(responder::DelegationKind delegations = {}) : KernelRequests(delegations) {}
  void SetUp() override {
    KernelRequests::SetUp();
    attach();
  }
  /// As far as this client's cache knows, by another one.
  void change_elsewhere(const std::string& name, const std::string& text) {
    client::Opened elsewhere = open_file(name, nfs4::OPEN4_SHARE_ACCESS_BOTH);
    ASSERT_TRUE(write_text(elsewhere, 0, text));
    ASSERT_TRUE(run(mount().opens().close(std::move(elsewhere.open))));
  }
  /// An open file of which the kernel has pages that are out of date.
  Opened read_and_changed(int flags = O_RDWR) {
    server_.write_file("f", text_of(2 * kPage));
    const Opened file = kernel_open("f", flags);
    EXPECT_EQ(read(file, 0, kPage).error, 0);
    change_elsewhere("f", "changed elsewhere");
    return file;
  }
  /// Orders to drop pages of the inode, when the request is answered.
  std::size_t drops_when_answered(std::uint64_t unique, std::uint64_t node) {
    wait_for_thread([&] { return kernel_->answered(unique); });
    const std::size_t drops = drops_of(node).size();
    EXPECT_EQ(end(unique).error, 0);
    return drops;
  }
  template <class... Parts>
  std::size_t drops_by(std::uint64_t of, std::uint32_t opcode, std::uint64_t node,
                       const Parts&... parts) {
    return drops_when_answered(begin(opcode, node, parts...), of);
  }
  bool doubted(const std::string& name) const {
    return std::ranges::any_of(kernel_->notifications(),
                               [&](const Notification& order) { return order.name == name; });
  }
  /// A thread gives the order.
  void wait_for_doubt(const std::string& name) const {
    while (!doubted(name)) std::this_thread::yield();
  }
  /// Of a file that stays open and is not asked for; when its attributes are old enough.
  void wait_for_drop(std::uint64_t node) {
    reactor_.advance(std::chrono::minutes(2));
    wait_for_thread([&] { return !drops_of(node).empty(); });
  }
  std::optional<std::uint64_t> kernels_size(std::uint64_t node) {
    const InodeRef inode = fs_->inodes().find(node);
    return inode->view().size();
  }
};

TEST_F(ShownPages, BeforeALookUpIsAnswered) {
  const Opened file = read_and_changed();
  EXPECT_GT(drops_by(file.node, FUSE_LOOKUP, kRoot, std::string("f")), 0U);
  release(file);
}

TEST_F(ShownPages, BeforeAttributesAreAnswered) {
  const Opened file = read_and_changed();
  reactor_.advance(std::chrono::minutes(2));
  EXPECT_GT(drops_by(file.node, FUSE_GETATTR, file.node, fuse_getattr_in{}), 0U);
  release(file);
}

// The WRITE's reply has told of the other change, too.
TEST_F(ShownPages, BeforeAttributesThatAFlushHasBroughtAreAnswered) {
  const Opened file = read_and_changed();
  EXPECT_EQ(write(file, kPage, "mine"), 0);
  EXPECT_GT(drops_by(file.node, FUSE_GETATTR, file.node, fuse_getattr_in{}), 0U);
  release(file);
}

// Who opened it reads them without a READ.
TEST_F(ShownPages, AfterAWhileToWhoOpensAFileThatWasReadBefore) {
  server_.write_file("f", text_of(2 * kPage));
  const Opened first = kernel_open("f");
  EXPECT_EQ(read(first, 0, kPage).error, 0);
  release(first);
  const Opened file = open_node(first.node, O_RDONLY);
  change_elsewhere("f", "changed elsewhere");
  wait_for_drop(file.node);
  release(file);
}

TEST_F(ShownPages, AfterAWhileToWhoHasWrittenThem) {
  const Opened file = kernel_open("f");
  EXPECT_EQ(write(file, 0, text_of(kPage)), 0);
  EXPECT_EQ(fsync(file), 0);
  change_elsewhere("f", "changed elsewhere");
  wait_for_drop(file.node);
  release(file);
}

TEST_F(ShownPages, AreNotLookedAtWhereThereAreNone) {
  const Opened file = kernel_open("f");
  for (int second = 0; second < 20; ++second) {
    EXPECT_EQ(write(file, 100 * second, "a line of a log"), 0);
    reactor_.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(fs_counter("fs_open_files_looked_at"), 0U);
  release(file);
}

// The kernel asks for a page of a mapping with the flags of the open file, and names no owner.
TEST_F(ShownPages, OfAMappingThroughADirectDescriptor) {
  server_.write_file("f", text_of(2 * kPage));
  const Opened mapped = kernel_open("f", O_RDWR | O_DIRECT);
  fuse_read_in page = read_in(mapped, 0, kPage);
  page.read_flags = 0;
  EXPECT_EQ(ask(FUSE_READ, mapped.node, page).error, 0);
  const Opened direct = open_node(mapped.node, O_WRONLY | O_DIRECT);
  EXPECT_GT(drops_when_answered(begin_write(direct, 0, text_of(kPage)), mapped.node), 0U);
  release(direct);
  release(mapped);
}

// Its opener was killed: the pages of the others are as they were, and as well known.
TEST_F(ShownPages, AfterAnOpenThatTheKernelHasNotTaken) {
  server_.write_file("f", text_of(2 * kPage));
  const Opened file = kernel_open("f");
  EXPECT_EQ(read(file, 0, kPage).error, 0);
  kernel_->takes_answers = false;
  fuse_open_in in{};
  in.flags = O_RDONLY;
  begin(FUSE_OPEN, file.node, in);
  reactor_.settle();
  kernel_->takes_answers = true;
  change_elsewhere("f", "changed elsewhere");
  reactor_.advance(std::chrono::minutes(2));
  EXPECT_GT(drops_by(file.node, FUSE_GETATTR, file.node, fuse_getattr_in{}), 0U);
  release(file);
}

TEST_F(ShownPages, BeforeACreateOfWhatIsThereIsAnswered) {
  const Opened file = read_and_changed();
  fuse_create_in in{};
  in.flags = O_RDWR;
  in.mode = S_IFREG | 0600;
  const auto unique = begin(FUSE_CREATE, kRoot, in, std::string("f"));
  EXPECT_GT(drops_when_answered(unique, file.node), 0U);
  finish(fs_->finish());
}

TEST_F(ShownPages, BeforeAListingWithAttributesIsAnswered) {
  const Opened file = read_and_changed();
  const Opened directory = open_directory();
  EXPECT_GT(drops_by(file.node, FUSE_READDIRPLUS, kRoot, read_in(directory, 0, 1 << 16)), 0U);
  close_directory(directory);
  release(file);
}

TEST_F(ShownPages, BeforeALockIsGranted) {
  const Opened file = read_and_changed();
  const fuse_lk_in whole{file.fh, /*owner=*/7, {0, kLast, F_WRLCK, 0}, 0, 0};
  EXPECT_GT(drops_by(file.node, FUSE_SETLK, file.node, whole), 0U);
  EXPECT_TRUE(attributes_dropped(file.node));
  EXPECT_EQ(flush(file, 7), 0);
  release(file);
}

TEST_F(ShownPages, BeforeALockIsGrantedWhenNothingCanBeAsked) {
  server_.write_file("f", text_of(kPage));
  const Opened file = kernel_open("f");
  EXPECT_EQ(read(file, 0, kPage).error, 0);
  server_.fail(nfs4::OP_GETATTR, nfs4::NFS4ERR_IO);
  const fuse_lk_in whole{file.fh, /*owner=*/7, {0, kLast, F_WRLCK, 0}, 0, 0};
  EXPECT_GT(drops_by(file.node, FUSE_SETLK, file.node, whole), 0U);
  EXPECT_EQ(flush(file, 7), 0);
  release(file);
}

TEST_F(ShownPages, BeforeADirectWriteOfThemIsAnswered) {
  server_.write_file("f", text_of(2 * kPage));
  const Opened file = kernel_open("f");
  EXPECT_EQ(read(file, 0, kPage).error, 0);
  const Opened direct = open_node(file.node, O_WRONLY | O_DIRECT);
  EXPECT_GT(drops_when_answered(begin_write(direct, 0, text_of(kPage)), file.node), 0U);
  release(direct);
  release(file);
}

TEST_F(ShownPages, BeforeADirectWriteOfWhatWasWrittenIsAnswered) {
  const Opened file = kernel_open("f");
  EXPECT_EQ(write(file, 0, text_of(2 * kPage)), 0);
  const Opened direct = open_node(file.node, O_WRONLY | O_DIRECT);
  EXPECT_GT(drops_when_answered(begin_write(direct, 0, text_of(kPage)), file.node), 0U);
  release(direct);
  release(file);
}

// They were read between a drop and the write, and may be older than what is written.
TEST_F(ShownPages, BeforeAWriteOfWhatAnotherReadAfterADropIsAnswered) {
  server_.write_file("f", text_of(2 * kPage));
  const Opened writer = kernel_open("f");
  fs_->inodes().find(writer.node)->view().forget_pages();
  const Opened reader = open_node(writer.node, O_RDONLY);
  EXPECT_EQ(read(reader, 0, kPage).error, 0);
  EXPECT_GT(drops_when_answered(begin_write(writer, 0, "text"), writer.node), 0U);
  release(writer);
  release(reader);
}

TEST_F(ShownPages, SetIdBitsAreLookedAtAgainAfterAWrite) {
  server_.write_file("f", "text");
  std::filesystem::permissions(server_.path("f"), std::filesystem::perms(04755));
  const Opened file = kernel_open("f", O_RDWR | O_DIRECT);
  ASSERT_NE(getattr(file.node).mode & S_ISUID, 0U);
  EXPECT_EQ(write(file, 0, "more"), 0);
  EXPECT_TRUE(attributes_dropped(file.node));
  release(file);
}

TEST_F(ShownPages, TheKernelsSizeIsThatOfATruncation) {
  server_.write_file("f", "some text");
  const Opened file = kernel_open("f");
  fuse_setattr_in cut{};
  cut.valid = FATTR_SIZE | FATTR_FH;
  cut.fh = file.fh;
  cut.size = 4;
  EXPECT_EQ(ask(FUSE_SETATTR, file.node, cut).error, 0);
  EXPECT_EQ(kernels_size(file.node), 4U);
  EXPECT_EQ(write(file, 4, " and more"), 0);
  EXPECT_EQ(kernels_size(file.node), 13U);
  release(file);
}

TEST_F(ShownPages, TheKernelsSizeIsNotKnownWhenAReadEndsBeforeIt) {
  server_.write_file("f", "some text");
  const Opened file = kernel_open("f");
  ASSERT_EQ(kernels_size(file.node), 9U);
  server_.write_file("f", "some");
  EXPECT_EQ(read(file, 0, kPage).text(), "some");
  EXPECT_EQ(kernels_size(file.node), std::nullopt);
  release(file);
}

TEST_F(ShownPages, ANameThatIsNotListedAnyMoreIsDoubted) {
  server_.write_file("gone", "");
  server_.write_file("there", "");
  lookup("gone");
  lookup("there");
  std::filesystem::remove(server_.path("gone"));
  const Opened directory = open_directory();
  EXPECT_EQ(ask(FUSE_READDIR, kRoot, read_in(directory, 0, 1 << 16)).error, 0);
  close_directory(directory);
  wait_for_doubt("gone");
  finish(fs_->finish());
  EXPECT_FALSE(doubted("there"));
}

TEST_F(ShownPages, NamesAreDoubtedWhenOthersHaveChangedTheDirectory) {
  server_.write_file("f", "");
  lookup("f");
  getattr(kRoot);
  server_.write_file("g", "");
  reactor_.advance(std::chrono::minutes(2));
  getattr(kRoot);
  wait_for_doubt("f");
  finish(fs_->finish());
}

// What such a READ brings may be older than the drop.
TEST_F(ShownPages, BeforePagesGoTheReadsUnderWayAreAnswered) {
  const Opened file = read_and_changed();
  const std::uint64_t orders = fs_counter("fs_notifications");
  hold(nfs4::OP_READ);
  const auto reading = begin(FUSE_READ, file.node, read_in(file, kPage, kPage));
  reactor_.settle();
  const Opened directory = open_directory();
  const auto listing = begin(FUSE_READDIRPLUS, kRoot, read_in(directory, 0, 1 << 16));
  reactor_.settle();
  EXPECT_EQ(fs_counter("fs_notifications"), orders);
  EXPECT_FALSE(kernel_->answered(listing));
  let_go();
  EXPECT_EQ(end(reading).error, 0);
  EXPECT_GT(drops_when_answered(listing, file.node), 0U);
  close_directory(directory);
  release(file);
}

// A name that was removed here meanwhile must not come back.
TEST_F(ShownPages, AListingThatWaitedThroughAChangeMadeHereShowsNoInodes) {
  const Opened file = read_and_changed();
  hold(nfs4::OP_READ);
  const auto reading = begin(FUSE_READ, file.node, read_in(file, kPage, kPage));
  const Opened directory = open_directory();
  const auto listing = begin(FUSE_READDIRPLUS, kRoot, read_in(directory, 0, 1 << 16));
  reactor_.settle();
  ASSERT_FALSE(kernel_->answered(listing));
  const fuse_mkdir_in in{.mode = 0755};
  ASSERT_EQ(ask(FUSE_MKDIR, kRoot, in, std::string("d")).error, 0);
  let_go();
  EXPECT_EQ(end(reading).error, 0);
  for (const ListedEntry& one : listed(end(listing), /*plus=*/true)) {
    if (one.name == "f") {
      EXPECT_EQ(one.entry.nodeid, 0U);
    }
  }
  close_directory(directory);
  release(file);
}

// The kernel passes over the answer to a question that an order overtakes.
TEST_F(ShownPages, AttributesThatItHasAskedForAreNotDroppedByTheNextOpen) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f", O_RDONLY);
  server_.write_file("f", "another text");
  reactor_.advance(std::chrono::minutes(2));
  EXPECT_EQ(getattr(file.node).size, 12U);
  const Opened again = open_node(file.node, O_RDONLY);
  EXPECT_FALSE(attributes_dropped(file.node));
  release(file);
  release(again);
}

// READs wait for mapped pages that are being written back: to drop them would wait for itself.
TEST_F(ShownPages, MappedPagesThatAreWrittenBackDropNone) {
  server_.write_file("f", text_of(2 * kPage));
  const Opened file = kernel_open("f");
  fs_->inodes().find(file.node)->watch_writes();
  EXPECT_EQ(read(file, 0, kPage).error, 0);
  EXPECT_EQ(drops_when_answered(begin_write(file, 0, text_of(kPage), FUSE_WRITE_CACHE), file.node),
            0U);
  EXPECT_GT(drops_when_answered(begin_write(file, 0, "text"), file.node), 0U) << "as write(2) does";
  release(file);
}

class ShownUnderDelegation : public ShownPages {
 protected:
  ShownUnderDelegation() : ShownPages(responder::DelegationKind::write) {}
};

TEST_F(ShownUnderDelegation, AttributesAreDroppedWhenItEnds) {
  const Opened file = kernel_open("f");
  const auto handle = fs_->find_file(file.fh)->inode->handle();
  ASSERT_TRUE(mount().delegations().held(handle));
  EXPECT_FALSE(attributes_dropped(file.node));
  finish(mount().delegations().give_back(handle));
  EXPECT_TRUE(attributes_dropped(file.node));
  release(file);
}

class Inodes : public KernelRequests {};

TEST_F(Inodes, StayUntilTheKernelForgetsThem) {
  fuse_create_in in{};
  in.flags = O_RDWR;
  in.mode = S_IFREG | 0600;
  const Answer made = ask(FUSE_CREATE, kRoot, in, std::string("f"));
  ASSERT_EQ(made.error, 0);
  const std::uint64_t node = made.as<fuse_entry_out>().nodeid;
  const std::uint64_t fh = made.as<fuse_open_out>(sizeof(fuse_entry_out)).fh;
  release({node, fh});
  EXPECT_TRUE(known(node));
  forget(node, 1);
  EXPECT_FALSE(known(node));
}

TEST_F(Inodes, AParentHasItsOwnNumber) {
  std::filesystem::create_directory(server_.path("d"));
  const std::uint64_t node = lookup("d").nodeid;
  const Opened directory = open_directory(node);
  const auto entries = listed(ask(FUSE_READDIR, node, read_in(directory, 0, 1 << 16)), false);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].number, getattr(kRoot).ino);
  EXPECT_NE(entries[0].number, entries[1].number);
  close_directory(directory);
}

// The kernel goes on behind the last entry it was given.
TEST_F(Inodes, NoEntryIsGivenBehindOneThatDidNotFit) {
  for (int i = 0; i < 40; ++i) {
    server_.write_file(std::string(i % 2 == 0 ? 1 : 200, static_cast<char>('A' + i)), "");
  }
  const Opened directory = open_directory();
  std::size_t seen = 0;
  std::uint64_t next = 0;
  for (;;) {
    const auto entries = listed(ask(FUSE_READDIR, kRoot, read_in(directory, next, 600)), false);
    if (entries.empty()) break;
    seen += entries.size();
    next = entries.back().next;
  }
  EXPECT_EQ(seen, 42U);
  close_directory(directory);
}

class PositiveNames : public KernelRequests {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig wanted;
    wanted.attributes.lookup_cache = cache::LookupCache::positive;
    return wanted;
  }
};

TEST_F(PositiveNames, AMissingNameIsNotRemembered) {
  EXPECT_EQ(ask(FUSE_LOOKUP, kRoot, std::string("missing")).error, ENOENT);
  server_.write_file("f", "");
  EXPECT_GT(lookup("f").entry_valid, 0U);
}

class NamesOfEachUser : public KernelRequests {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig wanted;
    wanted.kernel.names_of_each_user = true;
    return wanted;
  }
};

TEST_F(NamesOfEachUser, AreNotAnswersToAnother) {
  server_.write_file("f", "");
  const fuse_entry_out found = lookup("f");
  EXPECT_EQ(found.entry_valid, 0U);
  EXPECT_EQ(found.entry_valid_nsec, 0U);
}

class DelegatedOpens : public KernelRequests {
 protected:
  DelegatedOpens() : KernelRequests(responder::DelegationKind::read) {}
};

TEST_F(DelegatedOpens, OneThatNobodyGotIsNotLeftOpen) {
  const Opened file = kernel_open("f", O_RDONLY);
  const int asked = server_.successes_of(nfs4::OP_OPEN);
  kernel_->takes_answers = false;
  begin(FUSE_OPEN, file.node, fuse_open_in{O_RDONLY, 0});
  reactor_.settle();
  kernel_->takes_answers = true;
  EXPECT_EQ(server_.successes_of(nfs4::OP_OPEN), asked);
  EXPECT_EQ(fs_counter("fs_open_files"), 1U);
  release(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
