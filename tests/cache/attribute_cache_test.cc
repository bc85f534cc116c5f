// Which attributes of a file are believed on a served mount, and until when.
#include "cache/file/attribute_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "cache/file/open.h"
#include "cache/write/set_attributes.h"
#include "tests/cache/served_files.h"

namespace nfsrdma::cache::test {
namespace {

using Outcome = AttributeCache::Outcome;

class AttributeCacheTest : public ServedFiles {
 protected:
  using ServedFiles::ServedFiles;
  AttributeCache& cache() { return files().attributes(); }
  Outcome learn(const InodeRef& inode, const client::Attributes& fresh) {
    return cache().learn(*inode, fresh, cache().issue(), ChangedBy::anyone);
  }
  static client::Attributes described() {
    client::Attributes fresh;
    fresh.present = {nfs4::FATTR4_TYPE, nfs4::FATTR4_FILEID, nfs4::FATTR4_CHANGE,
                     nfs4::FATTR4_SIZE};
    fresh.type = nfs4::NF4REG;
    fresh.fileid = 42;
    fresh.change = 1;
    fresh.size = 10;
    return fresh;
  }
  InodeRef unknown() {
    client::FileHandle handle;
    const std::uint32_t number = 4711;
    handle.assign(std::as_bytes(std::span(&number, 1)));
    return inodes_.obtain(handle, 42, S_IFREG);
  }
};

TEST_F(AttributeCacheTest, WithoutAllThatDescribesAFileNothingIsKnown) {
  const InodeRef inode = unknown();
  client::Attributes part = described();
  part.present.clear(nfs4::FATTR4_TYPE);
  EXPECT_EQ(learn(inode, part), Outcome::older);
  EXPECT_FALSE(inode->attributes().known());
  EXPECT_EQ(learn(inode, described()), Outcome::changed);
  EXPECT_TRUE(cache().fresh(*inode));
  part = described();
  part.present.clear(nfs4::FATTR4_CHANGE);
  EXPECT_EQ(learn(inode, part), Outcome::older);
  EXPECT_FALSE(cache().fresh(*inode));
}

// NFS-Ganesha 9 shows size and change, and no more, of a file that another client holds for
// writing.
TEST_F(AttributeCacheTest, APartDescribesAFileThatIsKnown) {
  client::Attributes part = described();
  part.present.clear(nfs4::FATTR4_TYPE);
  part.change = 2;
  part.size = 20;
  const InodeRef inode = unknown();
  EXPECT_FALSE(cache().adopt(inode->handle(), part, cache().issue()));
  learn(inode, described());
  const auto adopted = cache().adopt(inode->handle(), part, cache().issue());
  ASSERT_TRUE(adopted);
  EXPECT_EQ(*adopted, inode);
  EXPECT_EQ(inode->attributes().value().size, 20U);
  EXPECT_TRUE(S_ISREG(inode->attributes().value().mode));
}

TEST_F(AttributeCacheTest, AnOwnerWhoseNumberIsNotKnownIsAskedForAgain) {
  const InodeRef inode = unknown();
  client::Attributes fresh = described();
  fresh.present.set(nfs4::FATTR4_OWNER);
  fresh.owner = {0, false, "somebody@example"};
  learn(inode, fresh);
  EXPECT_FALSE(cache().fresh(*inode));
}

/// Counts changes that the change attribute has not shown.
class Noticed final : public Unobserved {
 public:
  void on_changed_unseen(Inode&) override { ++unseen; }
  int unseen = 0;
};

TEST_F(AttributeCacheTest, AnotherSizeUnderTheSameChangeAttributeIsNoticed) {
  Noticed noticed;
  AttributeCache cache(mount(), AttributePolicy{}, inodes_, noticed);
  const InodeRef inode = unknown();
  client::Attributes fresh = described();
  cache.learn(*inode, fresh, cache.issue(), ChangedBy::anyone);
  EXPECT_EQ(noticed.unseen, 0);
  fresh.size = 20;
  cache.learn(*inode, fresh, cache.issue(), ChangedBy::anyone);
  EXPECT_EQ(noticed.unseen, 1);
}

class DelegatedAttributes : public AttributeCacheTest {
 protected:
  DelegatedAttributes() : AttributeCacheTest(responder::DelegationKind::write) {}

  /// Open, with this text at the server.
  FileRef written(const std::string& text) {
    FileRef file = open("f");
    EXPECT_TRUE(gather(file, 0, text));
    flush(file);
    return file;
  }
};

TEST_F(DelegatedAttributes, AreBelievedForAsLongAsNothingMakesThemWrong) {
  FileRef file = open("f");
  ASSERT_TRUE(mount().delegations().held(file->inode->handle()));
  reactor_.advance(std::chrono::minutes(30));
  EXPECT_TRUE(cache().fresh(*file->inode));
  file->inode->attributes().expire();
  EXPECT_FALSE(cache().fresh(*file->inode));
  EXPECT_FALSE(open_locally(cache(), caller(), file->inode, O_RDWR)) << "OPEN brings new ones";
}

TEST_F(DelegatedAttributes, AreDoubtedWhenTheDelegationHasEnded) {
  FileRef file = open("f");
  const client::FileHandle handle = file->inode->handle();
  finish(mount().delegations().give_back(handle));
  EXPECT_FALSE(file->inode->attributes().stands());
  ASSERT_TRUE(run(cache().revalidate(file->inode, caller())));
  mount().delegations().user()->on_delegation_ended(handle);
  EXPECT_FALSE(file->inode->attributes().stands());
}

/// Attributes of another size, as NFS-Ganesha 9 goes on showing them to the holder of a write
/// delegation.
client::Attributes outdated(const InodeRef& inode, std::uint64_t size) {
  client::Attributes fresh;
  fresh.present = {nfs4::FATTR4_CHANGE, nfs4::FATTR4_SIZE};
  fresh.change = inode->attributes().value().change;
  fresh.size = size;
  return fresh;
}

// Programs would find an empty file where they have written, and append over what is there.
TEST_F(DelegatedAttributes, NoServerShortensWhatWasWrittenUnderThem) {
  FileRef file = written("content");
  const InodeRef inode = file->inode;
  EXPECT_EQ(inode->attributes().value().size, 7U);
  learn(inode, outdated(inode, 0));
  EXPECT_EQ(inode->attributes().value().size, 7U);
  learn(inode, outdated(inode, 9));
  EXPECT_EQ(inode->attributes().value().size, 9U);
}

TEST_F(DelegatedAttributes, AreShorterWhereTheFileWasCutHere) {
  FileRef file = written("content");
  const InodeRef inode = file->inode;
  AttributeChange cut;
  cut.caller = caller();
  cut.set.size = 3;
  ASSERT_TRUE(run(set_attributes(files().writes(), inode, file, cut)));
  EXPECT_EQ(inode->attributes().value().size, 3U);
  learn(inode, outdated(inode, 0));
  EXPECT_EQ(inode->attributes().value().size, 3U);
}

// By then another client may have cut the file.
TEST_F(DelegatedAttributes, AreTheServersOnceTheDelegationHasEnded) {
  FileRef file = written("content");
  const InodeRef inode = file->inode;
  finish(mount().delegations().give_back(inode->handle()));
  learn(inode, outdated(inode, 0));
  EXPECT_EQ(inode->attributes().value().size, 0U);
}

// RFC 8881 section 10.4.3
TEST_F(DelegatedAttributes, TheServerIsToldWhatIsDirtyWhenTheRestIsDoubted) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "text"));
  file->inode->attributes().expire();
  const auto told = mount().delegations().attributes_of(file->inode->handle());
  ASSERT_TRUE(told);
  EXPECT_EQ(told->size, 4U);
}

TEST_F(DelegatedAttributes, TheServerIsToldWhatWasWrittenWhenTheRestIsDoubted) {
  FileRef file = open("f");
  ASSERT_TRUE(gather(file, 0, "text"));
  flush(file);
  commit(file);
  file->inode->attributes().expire();
  const auto told = mount().delegations().attributes_of(file->inode->handle());
  ASSERT_TRUE(told);
  EXPECT_EQ(told->size, 4U);
}

// RFC 8881 section 10.4.3
TEST_F(DelegatedAttributes, TheServerIsToldWhatIsGathered) {
  FileRef file = open("f");
  const client::FileHandle handle = file->inode->handle();
  auto told = mount().delegations().user()->local_attributes(handle);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->size, 0U);
  EXPECT_FALSE(told->dirty);
  ASSERT_TRUE(gather(file, 0, "text"));
  told = mount().delegations().user()->local_attributes(handle);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->size, 4U);
  EXPECT_TRUE(told->dirty);
}

}  // namespace
}  // namespace nfsrdma::cache::test
