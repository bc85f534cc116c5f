// Ids that outlive their objects find nothing.
#include "fuse/kernel/id_slab.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

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

TEST(IdSlab, ABlockWithoutObjectsIsFreedAndItsIdsStayUsed) {
  IdSlab<int> slab;
  std::vector<IdSlab<int>::Id> old;
  for (std::size_t i = 0; i < 4 * IdSlab<int>::kBlock; ++i) {
    old.push_back(slab.id_of_next());
    slab.emplace(1);
  }
  EXPECT_EQ(slab.blocks(), 4u);
  for (const auto id : old) slab.erase(id);
  EXPECT_EQ(slab.blocks(), 1u) << "the first stays";
  EXPECT_EQ(slab.size(), 0u);
  std::set<IdSlab<int>::Id> ids(old.begin(), old.end());
  for (std::size_t i = 0; i < old.size(); ++i) {
    EXPECT_TRUE(ids.insert(slab.id_of_next()).second);
    slab.emplace(2);
  }
  EXPECT_EQ(slab.blocks(), 4u);
  for (const auto id : old) EXPECT_EQ(slab.find(id), nullptr);
  for (const auto id : ids) EXPECT_EQ(slab.find(id) != nullptr, !std::ranges::count(old, id));
}

TEST(IdSlab, TheFirstBlocksAreFilledFirst) {
  constexpr std::size_t kBlock = IdSlab<int>::kBlock;
  IdSlab<int> slab;
  std::vector<IdSlab<int>::Id> ids;
  for (std::size_t i = 0; i < 3 * kBlock; ++i) {
    ids.push_back(slab.id_of_next());
    slab.emplace(1);
  }
  slab.erase(ids[2 * kBlock]);
  slab.erase(ids[5]);
  const auto id = slab.id_of_next();
  slab.emplace(1);
  EXPECT_EQ(id & UINT32_MAX, ids[5]);
}

/// Its end erases another, as that of a file may be the end of its directory.
struct Link {
  IdSlab<Link>* slab;
  IdSlab<Link>::Id next;
  ~Link() { slab->erase(next); }
};

TEST(IdSlab, AnObjectMayEraseAnotherAtItsEnd) {
  IdSlab<Link> slab;
  for (std::size_t i = 0; i < IdSlab<Link>::kBlock; ++i) slab.emplace(&slab, 0u);
  const auto last = slab.id_of_next();
  slab.emplace(&slab, 0u);
  const auto middle = slab.id_of_next();
  slab.emplace(&slab, last);
  const auto first = slab.id_of_next();
  slab.emplace(&slab, middle);
  slab.erase(first);
  EXPECT_EQ(slab.blocks(), 1u);
  EXPECT_EQ(slab.size(), IdSlab<Link>::kBlock);
}

TEST(IdSlab, IsVisitedInParts) {
  constexpr std::size_t kBlock = IdSlab<int>::kBlock;
  IdSlab<int> slab;
  for (std::size_t i = 0; i < 3 * kBlock; ++i) slab.emplace(1);
  std::size_t visited = 0;
  const auto visit = [&](int) { ++visited; };
  EXPECT_EQ(slab.visit_blocks(0, 2, visit), 2u);
  EXPECT_EQ(visited, 2 * kBlock);
  EXPECT_EQ(slab.visit_blocks(2, 2, visit), 0u);
  EXPECT_EQ(visited, 3 * kBlock);
}

}  // namespace
}  // namespace nfsrdma::fuse
