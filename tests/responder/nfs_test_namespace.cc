// Names and directories: LOOKUP, LOOKUPP, CREATE, REMOVE, RENAME, LINK, READLINK, READDIR, SECINFO.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

class NfsNamespaceTest : public NfsTest {
 protected:
  void SetUp() override {
    client = connect();
    root_handle = root(client);
  }
  nfsstat4 lookup_status(const nfs_fh4& directory, std::string_view name) {
    return status_on(client, directory, LOOKUP4args{name});
  }
  CREATE4args create_args(nfs_ftype4 type, std::string_view name) {
    CREATE4args args;
    args.objtype.type = type;
    args.objname = name;
    return args;
  }
  nfs_fh4 make_directory(const nfs_fh4& parent, std::string_view name) {
    EXPECT_EQ(status_on(client, parent, create_args(NF4DIR, name)), NFS4_OK);
    return lookup(client, parent, name);
  }
  struct Page {
    nfsstat4 status;
    bool eof;
    std::vector<std::string> names;
    nfs_cookie4 last = 0;
    std::size_t bytes = 0;
  };
  Page read_page(const nfs_fh4& directory, const READDIR4args& args) {
    const auto result = on<READDIR4res>(client, directory, args);
    Page page{result.status, result.resok4.reply.eof, {}};
    page.bytes = sizeof(verifier4) + 8;
    for (const entry4& entry : result.resok4.reply.entries) {
      page.names.emplace_back(entry.name);
      page.last = entry.cookie;
      page.bytes += 4 + 8 + 4 + xdr::padded(entry.name.size()) + 4 +
                    xdr::padded(entry.attrs.attr_vals.size()) + bitmap_bytes(entry.attrs);
    }
    return page;
  }
  static std::size_t bitmap_bytes(const fattr4& attributes) {
    std::array<std::byte, 64> memory;
    xdr::Encoder out(memory);
    attributes.attrmask.encode_to(out);
    return out.size();
  }
  std::multiset<std::string> list(const nfs_fh4& directory, count4 maxcount,
                                  const bitmap4& wanted = {}) {
    std::multiset<std::string> names;
    READDIR4args args{0, {}, 0, maxcount, wanted};
    for (;;) {
      const Page page = read_page(directory, args);
      EXPECT_EQ(page.status, NFS4_OK);
      EXPECT_LE(page.bytes, maxcount);
      names.insert(page.names.begin(), page.names.end());
      if (page.eof || page.status != NFS4_OK) return names;
      args.cookie = page.last;
    }
  }

  TestClient client;
  nfs_fh4 root_handle;
};

TEST_F(NfsNamespaceTest, LookupFindsAndRefuses) {
  write_file("file", "x");
  EXPECT_EQ(lookup_status(root_handle, "file"), NFS4_OK);
  EXPECT_EQ(lookup_status(root_handle, "absent"), NFS4ERR_NOENT);
  EXPECT_EQ(lookup_status(root_handle, ""), NFS4ERR_INVAL);
  EXPECT_EQ(lookup_status(root_handle, "."), NFS4ERR_BADNAME);
  EXPECT_EQ(lookup_status(root_handle, ".."), NFS4ERR_BADNAME);
  EXPECT_EQ(lookup_status(root_handle, "a/b"), NFS4ERR_BADNAME);
  EXPECT_EQ(lookup_status(root_handle, std::string_view("a\0b", 3)), NFS4ERR_BADNAME);
  EXPECT_EQ(lookup_status(root_handle, std::string(256, 'n')), NFS4ERR_NAMETOOLONG);
  EXPECT_EQ(lookup_status(root_handle, std::string(255, 'n')), NFS4ERR_NOENT);
  const nfs_fh4 file = lookup(client, root_handle, "file");
  EXPECT_EQ(lookup_status(file, "x"), NFS4ERR_NOTDIR);
}

TEST_F(NfsNamespaceTest, OperationsWithoutAFileHandle) {
  EXPECT_EQ(run(client, LOOKUP4args{"a"}).status(), NFS4ERR_NOFILEHANDLE);
  EXPECT_EQ(run(client, GETFH4args{}).status(), NFS4ERR_NOFILEHANDLE);
  EXPECT_EQ(run(client, RESTOREFH4args{}).status(), NFS4ERR_RESTOREFH);
  EXPECT_EQ(run(client, PUTROOTFH4args{}, RENAME4args{"a", "b"}).status(), NFS4ERR_NOFILEHANDLE);
}

TEST_F(NfsNamespaceTest, SymbolicLinksAreNeverFollowed) {
  std::filesystem::create_directory_symlink("/etc", path("link"));
  const nfs_fh4 link = lookup(client, root_handle, "link");
  EXPECT_EQ(lookup_status(link, "passwd"), NFS4ERR_SYMLINK);
  EXPECT_EQ(open(client, open_args("link", OPEN4_SHARE_ACCESS_READ)).status, NFS4ERR_SYMLINK);
  EXPECT_EQ(text_of(on<READLINK4res>(client, link, READLINK4args{}).resok4.link.data), "/etc");
  EXPECT_EQ(status_on(client, root_handle, READLINK4args{}), NFS4ERR_ISDIR);
  EXPECT_EQ(status_on(client, link, LOOKUPP4args{}), NFS4ERR_SYMLINK);
}

TEST_F(NfsNamespaceTest, LookuppEndsAtTheRoot) {
  const nfs_fh4 inner = make_directory(root_handle, "inner");
  Results results = run(client, putfh(inner), LOOKUPP4args{}, GETFH4args{});
  results.skip<PUTFH4res>();
  results.skip<LOOKUPP4res>();
  EXPECT_EQ(results.next<GETFH4res>().resok4.object, root_handle);
  EXPECT_EQ(status_on(client, root_handle, LOOKUPP4args{}), NFS4ERR_NOENT);
  write_file("file", "x");
  EXPECT_EQ(status_on(client, lookup(client, root_handle, "file"), LOOKUPP4args{}), NFS4ERR_NOTDIR);
}

TEST_F(NfsNamespaceTest, ADirectoryMovedOutsideDoesNotLeadOut) {
  const nfs_fh4 outer = make_directory(root_handle, "outer");
  const nfs_fh4 inner = make_directory(outer, "inner");
  const std::string outside = config.directory + "-outside";
  std::filesystem::create_directory(outside);
  std::filesystem::rename(path("outer/inner"), outside + "/inner");
  EXPECT_EQ(status_on(client, inner, LOOKUPP4args{}), NFS4ERR_STALE);
  std::filesystem::remove_all(outside);
}

TEST_F(NfsNamespaceTest, CreatesEveryType) {
  Attributes wanted;
  wanted.present = {FATTR4_MODE};
  wanted.mode = 0751;
  const EncodedAttributes encoded(wanted);
  CREATE4args args = create_args(NF4DIR, "directory");
  args.createattrs = encoded;
  const auto made = on<CREATE4res>(client, root_handle, args);
  EXPECT_EQ(made.status, NFS4_OK);
  EXPECT_TRUE(made.resok4.attrset.test(FATTR4_MODE));
  EXPECT_GT(made.resok4.cinfo.after, made.resok4.cinfo.before);

  EXPECT_EQ(status_on(client, root_handle, create_args(NF4FIFO, "fifo")), NFS4_OK);
  EXPECT_EQ(status_on(client, root_handle, create_args(NF4SOCK, "socket")), NFS4_OK);
  CREATE4args link = create_args(NF4LNK, "link");
  link.objtype.linkdata.data = bytes_of("../anywhere");
  EXPECT_EQ(status_on(client, root_handle, link), NFS4_OK);
  EXPECT_EQ(std::filesystem::read_symlink(path("link")), "../anywhere");

  struct stat stat = {};
  ASSERT_EQ(::lstat(path("directory").c_str(), &stat), 0);
  EXPECT_EQ(stat.st_mode, S_IFDIR | 0751U);
  ASSERT_EQ(::lstat(path("fifo").c_str(), &stat), 0);
  EXPECT_TRUE(S_ISFIFO(stat.st_mode));
  ASSERT_EQ(::lstat(path("socket").c_str(), &stat), 0);
  EXPECT_TRUE(S_ISSOCK(stat.st_mode));
}

TEST_F(NfsNamespaceTest, CreateRefuses) {
  make_directory(root_handle, "there");
  EXPECT_EQ(status_on(client, root_handle, create_args(NF4DIR, "there")), NFS4ERR_EXIST);
  EXPECT_EQ(status_on(client, root_handle, create_args(NF4REG, "file")), NFS4ERR_BADTYPE);
  EXPECT_EQ(status_on(client, root_handle, create_args(NF4DIR, "..")), NFS4ERR_BADNAME);
  EXPECT_EQ(status_on(client, root_handle, create_args(NF4LNK, "empty")), NFS4ERR_INVAL);
  write_file("file", "x");
  const nfs_fh4 file = lookup(client, root_handle, "file");
  EXPECT_EQ(status_on(client, file, create_args(NF4DIR, "below")), NFS4ERR_NOTDIR);
}

TEST_F(NfsNamespaceTest, RemoveFilesAndDirectories) {
  write_file("file", "x");
  const nfs_fh4 file = lookup(client, root_handle, "file");
  const nfs_fh4 directory = make_directory(root_handle, "directory");
  make_directory(directory, "inner");
  EXPECT_EQ(status_on(client, root_handle, REMOVE4args{"directory"}), NFS4ERR_NOTEMPTY);
  const auto removed = on<REMOVE4res>(client, root_handle, REMOVE4args{"file"});
  EXPECT_EQ(removed.status, NFS4_OK);
  EXPECT_GT(removed.resok4.cinfo.after, removed.resok4.cinfo.before);
  EXPECT_FALSE(removed.resok4.cinfo.atomic) << "others may change the directory";
  EXPECT_EQ(status_on(client, root_handle, REMOVE4args{"file"}), NFS4ERR_NOENT);
  EXPECT_EQ(status_on(client, file, GETATTR4args{{FATTR4_SIZE}}), NFS4ERR_STALE);
  EXPECT_EQ(status_on(client, directory, REMOVE4args{"inner"}), NFS4_OK);
  EXPECT_EQ(status_on(client, root_handle, REMOVE4args{"directory"}), NFS4_OK);
  EXPECT_EQ(status_on(client, directory, LOOKUP4args{"inner"}), NFS4ERR_STALE);
}

// The system has the names of a removed directory missing; its handle leads to nothing.
TEST_F(NfsNamespaceTest, ARemovedDirectoryIsStaleForChangesToo) {
  write_file("file", "x");
  const nfs_fh4 file = lookup(client, root_handle, "file");
  const nfs_fh4 directory = make_directory(root_handle, "directory");
  ASSERT_EQ(::rmdir(path("directory").c_str()), 0);
  EXPECT_EQ(status_on(client, directory, create_args(NF4DIR, "inner")), NFS4ERR_STALE);
  EXPECT_EQ(status_on(client, directory, create_args(NF4FIFO, "fifo")), NFS4ERR_STALE);
  EXPECT_EQ(status_on(client, directory, REMOVE4args{"inner"}), NFS4ERR_STALE);
  EXPECT_EQ(on_two<RENAME4res>(client, directory, root_handle, RENAME4args{"a", "b"}).status,
            NFS4ERR_STALE);
  EXPECT_EQ(on_two<RENAME4res>(client, root_handle, directory, RENAME4args{"file", "b"}).status,
            NFS4ERR_STALE);
  EXPECT_EQ(on_two<LINK4res>(client, file, directory, LINK4args{"link"}).status, NFS4ERR_STALE);
  EXPECT_EQ(status_on(client, root_handle, REMOVE4args{"none"}), NFS4ERR_NOENT);
}

TEST_F(NfsNamespaceTest, RenameMovesAndReplaces) {
  write_file("a", "content of a");
  write_file("b", "content of b");
  const nfs_fh4 a = lookup(client, root_handle, "a");
  const nfs_fh4 b = lookup(client, root_handle, "b");
  const nfs_fh4 directory = make_directory(root_handle, "directory");
  const auto moved = on_two<RENAME4res>(client, root_handle, directory, RENAME4args{"a", "c"});
  EXPECT_EQ(moved.status, NFS4_OK);
  EXPECT_GT(moved.resok4.source_cinfo.after, moved.resok4.source_cinfo.before);
  EXPECT_GT(moved.resok4.target_cinfo.after, moved.resok4.target_cinfo.before);
  EXPECT_EQ(getattr(client, a, {FATTR4_SIZE}).size, 12U) << "the handle follows";
  EXPECT_EQ(on_two<RENAME4res>(client, directory, root_handle, RENAME4args{"c", "b"}).status,
            NFS4_OK);
  EXPECT_EQ(read_file("b"), "content of a");
  EXPECT_EQ(lookup(client, root_handle, "b"), a);
  EXPECT_EQ(status_on(client, b, GETATTR4args{{FATTR4_SIZE}}), NFS4ERR_STALE);
}

TEST_F(NfsNamespaceTest, RenameRefuses) {
  write_file("file", "x");
  const nfs_fh4 directory = make_directory(root_handle, "directory");
  make_directory(root_handle, "full");
  write_file("full/file", "x");
  const auto rename = [&](const nfs_fh4& from, const nfs_fh4& to, std::string_view old_name,
                          std::string_view new_name) {
    return on_two<RENAME4res>(client, from, to, RENAME4args{old_name, new_name}).status;
  };
  EXPECT_EQ(rename(root_handle, root_handle, "absent", "x"), NFS4ERR_NOENT);
  EXPECT_EQ(rename(root_handle, root_handle, "file", "directory"), NFS4ERR_EXIST);
  EXPECT_EQ(rename(root_handle, root_handle, "directory", "file"), NFS4ERR_EXIST);
  EXPECT_EQ(rename(root_handle, root_handle, "directory", "full"), NFS4ERR_NOTEMPTY);
  EXPECT_EQ(rename(root_handle, directory, "directory", "inside-itself"), NFS4ERR_INVAL);
  EXPECT_EQ(rename(root_handle, root_handle, "file", ".."), NFS4ERR_BADNAME);
  EXPECT_EQ(rename(root_handle, root_handle, "file", "file"), NFS4_OK);
}

TEST_F(NfsNamespaceTest, LinkAddsAName) {
  write_file("file", "x");
  const nfs_fh4 file = lookup(client, root_handle, "file");
  EXPECT_EQ(on_two<LINK4res>(client, file, root_handle, LINK4args{"second"}).status, NFS4_OK);
  EXPECT_EQ(lookup(client, root_handle, "second"), file);
  EXPECT_EQ(getattr(client, file, {FATTR4_NUMLINKS}).numlinks, 2U);
  EXPECT_EQ(on_two<LINK4res>(client, file, root_handle, LINK4args{"second"}).status, NFS4ERR_EXIST);
  EXPECT_EQ(on_two<LINK4res>(client, root_handle, root_handle, LINK4args{"third"}).status,
            NFS4ERR_ISDIR);
  EXPECT_EQ(status_on(client, root_handle, REMOVE4args{"file"}), NFS4_OK);
  EXPECT_EQ(getattr(client, file, {FATTR4_NUMLINKS}).numlinks, 1U);
}

TEST_F(NfsNamespaceTest, SecinfoOffersAuthSysAndUsesUpTheHandle) {
  write_file("file", "x");
  const auto named = on<SECINFO4res>(client, root_handle, SECINFO4args{"file"});
  ASSERT_EQ(named.resok4.size(), 1U);
  EXPECT_EQ(named.resok4.front().flavor, kAuthSys);
  EXPECT_EQ(status_on(client, root_handle, SECINFO4args{"absent"}), NFS4ERR_NOENT);
  SECINFO_NO_NAME4args no_name;
  EXPECT_EQ(run(client, PUTROOTFH4args{}, no_name, GETFH4args{}).status(), NFS4ERR_NOFILEHANDLE);
  no_name.style = SECINFO_STYLE4_PARENT;
  EXPECT_EQ(status_on(client, root_handle, no_name), NFS4ERR_NOENT);
}

TEST_F(NfsNamespaceTest, ReaddirDeliversEveryNameOnceInPages) {
  std::multiset<std::string> expected;
  for (int i = 0; i < 500; ++i) {
    const std::string name = "entry-" + std::to_string(i);
    write_file(name, "");
    expected.insert(name);
  }
  const bitmap4 wanted{FATTR4_TYPE, FATTR4_FILEID, FATTR4_FILEHANDLE, FATTR4_SIZE};
  EXPECT_EQ(list(root_handle, 1 << 20), expected);
  EXPECT_EQ(list(root_handle, 1000), expected);
  EXPECT_EQ(list(root_handle, 4096, wanted), expected);
}

TEST_F(NfsNamespaceTest, AListingSurvivesRemovals) {
  for (int i = 0; i < 300; ++i) write_file("entry-" + std::to_string(i), "");
  READDIR4args args{0, {}, 0, 600, {}};
  for (;;) {
    const Page page = read_page(root_handle, args);
    ASSERT_EQ(page.status, NFS4_OK);
    for (const std::string& name : page.names) {
      EXPECT_EQ(status_on(client, root_handle, REMOVE4args{name}), NFS4_OK);
    }
    if (page.eof) break;
    args.cookie = page.last;
  }
  EXPECT_TRUE(std::filesystem::is_empty(config.directory));
}

TEST_F(NfsNamespaceTest, ReaddirEntriesHaveTheHandlesAndAttributesOfLookup) {
  write_file("file", "12345");
  make_directory(root_handle, "directory");
  const READDIR4args args{0, {}, 0, 8192, {FATTR4_FILEHANDLE, FATTR4_SIZE, FATTR4_TYPE}};
  const auto result = on<READDIR4res>(client, root_handle, args);
  ASSERT_EQ(result.resok4.reply.entries.size(), 2U);
  for (const entry4& entry : result.resok4.reply.entries) {
    const auto attributes = decode_attributes(entry.attrs);
    ASSERT_TRUE(attributes);
    const bool is_file = entry.name == "file";
    EXPECT_EQ(attributes->type, is_file ? NF4REG : NF4DIR);
    Results looked_up = run(client, putfh(root_handle), LOOKUP4args{entry.name}, GETFH4args{});
    looked_up.skip<PUTFH4res>();
    looked_up.skip<LOOKUP4res>();
    EXPECT_EQ(looked_up.next<GETFH4res>().resok4.object, attributes->filehandle);
  }
}

TEST_F(NfsNamespaceTest, ReaddirLimits) {
  write_file("a-name-of-some-length", "");
  write_file("another-of-that-length", "");
  EXPECT_EQ(read_page(root_handle, {0, {}, 0, 40, {}}).status, NFS4ERR_TOOSMALL);
  EXPECT_EQ(read_page(root_handle, {0, {}, 0, 10, {}}).status, NFS4ERR_TOOSMALL);
  // dircount counts cookies and names only.
  const Page one = read_page(root_handle, {0, {}, 40, 8192, {}});
  EXPECT_EQ(one.names.size(), 1U);
  EXPECT_FALSE(one.eof);
  EXPECT_EQ(read_page(root_handle, {0, {}, 80, 8192, {}}).names.size(), 2U);
  EXPECT_EQ(read_page(root_handle, {1, {}, 0, 8192, {}}).status, NFS4ERR_BAD_COOKIE);
  verifier4 other{};
  other.fill(std::byte{1});
  EXPECT_EQ(read_page(root_handle, {one.last, other, 0, 8192, {}}).status, NFS4ERR_NOT_SAME);
  EXPECT_EQ(read_page(root_handle, {0, {}, 0, 8192, {FATTR4_TIME_MODIFY_SET}}).status,
            NFS4ERR_INVAL);
  const nfs_fh4 file = lookup(client, root_handle, "a-name-of-some-length");
  EXPECT_EQ(read_page(file, {0, {}, 0, 8192, {}}).status, NFS4ERR_NOTDIR);
}

TEST_F(NfsNamespaceTest, AnEmptyDirectoryHasNoEntries) {
  const nfs_fh4 directory = make_directory(root_handle, "empty");
  const Page page = read_page(directory, {0, {}, 0, 4096, {}});
  EXPECT_TRUE(page.eof);
  EXPECT_TRUE(page.names.empty());
}

TEST_F(NfsNamespaceTest, TheOnlyWriterTellsItsChangesAsAtomic) {
  service.reset();
  config.sole_writer = true;
  write_file("file", "x");
  client = connect();
  root_handle = root(client);
  const std::uint64_t before = getattr(client, root_handle, {FATTR4_CHANGE}).change;
  const auto removed = on<REMOVE4res>(client, root_handle, REMOVE4args{"file"});
  EXPECT_TRUE(removed.resok4.cinfo.atomic);
  EXPECT_EQ(removed.resok4.cinfo.before, before);
  EXPECT_EQ(removed.resok4.cinfo.after, getattr(client, root_handle, {FATTR4_CHANGE}).change);
}

TEST_F(NfsNamespaceTest, AReadOnlyExportRefusesChanges) {
  service.reset();
  config.read_only = true;
  write_file("file", "x");
  client = connect();
  root_handle = root(client);
  EXPECT_EQ(status_on(client, root_handle, create_args(NF4DIR, "d")), NFS4ERR_ROFS);
  EXPECT_EQ(status_on(client, root_handle, REMOVE4args{"file"}), NFS4ERR_ROFS);
  EXPECT_EQ(open(client, open_args("file", OPEN4_SHARE_ACCESS_WRITE)).status, NFS4ERR_ROFS);
  EXPECT_EQ(open(client, open_args("file", OPEN4_SHARE_ACCESS_READ)).status, NFS4_OK);
}

// RFC 8881 section 18.26.3: two names of one file, and one name, stay as they are.
TEST_F(NfsNamespaceTest, ARenameThatDoesNothingTellsOfNoChange) {
  write_file("file", "x");
  std::filesystem::create_hard_link(path("file"), path("second"));
  make_directory(root_handle, "directory");
  const std::pair<std::string_view, std::string_view> renames[] = {
      {"file", "file"}, {"directory", "directory"}, {"file", "second"}};
  for (const auto& [from, to] : renames) {
    const auto renamed =
        on_two<RENAME4res>(client, root_handle, root_handle, RENAME4args{from, to});
    ASSERT_EQ(renamed.status, NFS4_OK);
    EXPECT_EQ(renamed.resok4.source_cinfo.before, renamed.resok4.source_cinfo.after) << from << to;
    EXPECT_EQ(renamed.resok4.target_cinfo.before, renamed.resok4.target_cinfo.after) << from << to;
  }
  EXPECT_EQ(lookup_status(root_handle, "second"), NFS4_OK);
}

// A directory inherits group and set-group-id bit, whichever user makes it with whichever mode.
TEST_F(NfsNamespaceTest, DirectoriesInheritTheSetGroupIdBit) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to act as others";
  constexpr gid_t kGroup = 5000;
  service.reset();
  ::umask(022);
  client = connect();
  root_handle = root(client);
  const nfs_fh4 shared = make_directory(root_handle, "shared");
  ASSERT_EQ(::chown(path("shared").c_str(), 0, kGroup), 0);
  ASSERT_EQ(::chmod(path("shared").c_str(), 02777), 0);
  for (const std::uint32_t uid : {0U, 1000U}) {
    TestClient maker = connect("maker-" + std::to_string(uid));
    maker.credential = user(uid, uid);
    const std::string name = "directory-" + std::to_string(uid);
    Attributes wanted;
    wanted.present = {FATTR4_MODE};
    wanted.mode = 0777;
    const EncodedAttributes encoded(wanted);
    CREATE4args args = create_args(NF4DIR, name);
    args.createattrs = encoded;
    ASSERT_EQ(status_on(maker, shared, args), NFS4_OK);
    struct ::stat made {};
    ASSERT_EQ(::stat(path("shared/" + name).c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 07777U, 02777U) << "made by " << uid;
    EXPECT_EQ(made.st_gid, kGroup);
    EXPECT_EQ(made.st_uid, uid);
  }
}

}  // namespace nfsrdma::responder::test
