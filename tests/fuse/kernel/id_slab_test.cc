// Ids that outlive their objects find nothing.
#include "fuse/kernel/id_slab.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace nfsrdma::fuse {
namespace {

TEST(IdSlab, TheFirstIdIsOneAndZeroIsNone) {
  IdSlab<int> slab;
  EXPECT_EQ(slab.id_of_next(), 1u);
  slab.emplace(5);
  EXPECT_EQ(*slab.find(1), 5);
  EXPECT_EQ(slab.find(0), nullptr);
}

TEST(IdSlab, AnIdThatWasNeverGivenOutFindsNothing) {
  IdSlab<int> slab;
  slab.emplace(5);
  for (const std::uint64_t id :
       {std::uint64_t{2}, std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 1, UINT64_MAX}) {
    EXPECT_EQ(slab.find(id), nullptr) << id;
    slab.erase(id);
  }
  EXPECT_EQ(slab.size(), 1u);
}

TEST(IdSlab, AReusedPlaceHasANewId) {
  IdSlab<int> slab;
  slab.emplace(1);
  const auto old = slab.id_of_next();
  slab.emplace(2);
  slab.erase(old);
  const auto fresh = slab.id_of_next();
  slab.emplace(3);
  EXPECT_NE(fresh, old);
  EXPECT_EQ(slab.find(old), nullptr);
  EXPECT_EQ(*slab.find(fresh), 3);
  slab.erase(old);
  EXPECT_EQ(*slab.find(fresh), 3);
}

TEST(IdSlab, ObjectsStayWhereTheyAre) {
  IdSlab<int> slab;
  int* first = &slab.emplace(1);
  for (int i = 0; i < 10000; ++i) slab.emplace(i);
  EXPECT_EQ(slab.find(1), first);
}

TEST(IdSlab, ErasingDestroys) {
  IdSlab<std::shared_ptr<int>> slab;
  auto object = std::make_shared<int>(1);
  slab.emplace(object);
  EXPECT_EQ(object.use_count(), 2);
  slab.erase(1);
  EXPECT_EQ(object.use_count(), 1);
}

TEST(IdSlab, VisitsWhatIsThere) {
  IdSlab<int> slab;
  for (int i = 1; i <= 5; ++i) slab.emplace(i);
  slab.erase(2);
  std::set<int> seen;
  slab.for_each([&](int value) { EXPECT_TRUE(seen.insert(value).second); });
  EXPECT_EQ(seen, (std::set<int>{1, 3, 4, 5}));
}

}  // namespace
}  // namespace nfsrdma::fuse
