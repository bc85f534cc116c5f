// Attributes of a reply, taken into those of a file.
#include "cache/attr/from_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace nfsrdma::cache {
namespace {

client::Attributes reply() {
  client::Attributes fresh;
  fresh.present = {nfs4::FATTR4_TYPE,          nfs4::FATTR4_CHANGE,      nfs4::FATTR4_SIZE,
                   nfs4::FATTR4_FILEID,        nfs4::FATTR4_MODE,        nfs4::FATTR4_NUMLINKS,
                   nfs4::FATTR4_OWNER,         nfs4::FATTR4_OWNER_GROUP, nfs4::FATTR4_TIME_ACCESS,
                   nfs4::FATTR4_TIME_METADATA, nfs4::FATTR4_TIME_MODIFY, nfs4::FATTR4_SPACE_USED};
  fresh.type = nfs4::NF4REG;
  fresh.change = 7;
  fresh.size = 100;
  fresh.fileid = 42;
  fresh.mode = 04640;
  fresh.numlinks = 3;
  fresh.owner = {1000, true, {}};
  fresh.owner_group = {2000, true, {}};
  fresh.time_access = {1, 10};
  fresh.time_modify = {2, 20};
  fresh.time_metadata = {3, 30};
  fresh.space_used = 4096;
  return fresh;
}

TEST(FromServer, EachAttributeGoesToItsPlace) {
  FileAttributes known;
  apply(reply(), known);
  EXPECT_EQ(known.mode, S_IFREG | 04640U);
  EXPECT_EQ(known.change, 7U);
  EXPECT_EQ(known.size, 100U);
  EXPECT_EQ(known.fileid, 42U);
  EXPECT_EQ(known.links, 3U);
  EXPECT_EQ(known.uid, 1000U);
  EXPECT_EQ(known.gid, 2000U);
  EXPECT_EQ(known.access_time.seconds, 1);
  EXPECT_EQ(known.modify_time.seconds, 2);
  EXPECT_EQ(known.change_time.seconds, 3);
  EXPECT_EQ(known.change_time.nanoseconds, 30U);
  EXPECT_EQ(known.space_used, 4096U);
}

// A WRITE brings some of them only.
TEST(FromServer, WhatAReplyDoesNotHaveStays) {
  FileAttributes known;
  apply(reply(), known);
  client::Attributes part;
  part.present = {nfs4::FATTR4_CHANGE, nfs4::FATTR4_MODE};
  part.change = 8;
  part.mode = 0600;
  apply(part, known);
  EXPECT_EQ(known.change, 8U);
  EXPECT_EQ(known.mode, S_IFREG | 0600U) << "the type stays";
  EXPECT_EQ(known.size, 100U);
  EXPECT_EQ(known.gid, 2000U);
  EXPECT_EQ(known.modify_time.seconds, 2);
}

TEST(FromServer, AFileIsDescribedByTypeFileidAndChange) {
  EXPECT_TRUE(describes_file(reply()));
  for (const std::uint32_t one : {nfs4::FATTR4_TYPE, nfs4::FATTR4_FILEID, nfs4::FATTR4_CHANGE}) {
    client::Attributes without = reply();
    without.present = without.present - nfs4::bitmap4{one};
    EXPECT_FALSE(describes_file(without)) << one;
  }
}

TEST(FromServer, AnOwnerIsKnownWhenItIsANumber) {
  EXPECT_TRUE(owners_known(reply()));
  client::Attributes named = reply();
  named.owner = {0, false, "somebody@example"};
  EXPECT_FALSE(owners_known(named));
  named = reply();
  named.owner_group = {0, false, "group@example"};
  EXPECT_FALSE(owners_known(named));
  named.present = named.present - nfs4::bitmap4{nfs4::FATTR4_OWNER_GROUP};
  EXPECT_TRUE(owners_known(named));
}

}  // namespace
}  // namespace nfsrdma::cache
