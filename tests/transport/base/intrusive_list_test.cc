#include "transport/base/intrusive_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace nfsrdma {
namespace {

struct Item : ListNode {
  explicit Item(char n) : name(n) {}
  char name;
};

std::string names(IntrusiveList<Item>& list) {
  std::string text;
  list.for_each([&](Item& item) { text += item.name; });
  return text;
}

class List : public testing::Test {
 protected:
  Item a_{'a'}, b_{'b'}, c_{'c'};
  IntrusiveList<Item> list_;
};

TEST_F(List, KeepsTheOrderOfBothEnds) {
  EXPECT_TRUE(list_.empty());
  list_.push_back(b_);
  list_.push_back(c_);
  list_.push_front(a_);
  EXPECT_EQ(names(list_), "abc");
  EXPECT_EQ(list_.size(), 3U);
  EXPECT_EQ(list_.front().name, 'a');
}

TEST_F(List, PopsFromTheFrontUntilItIsEmpty) {
  list_.push_back(a_);
  list_.push_back(b_);
  EXPECT_EQ(list_.pop_front(), &a_);
  EXPECT_FALSE(a_.linked());
  EXPECT_EQ(list_.pop_front(), &b_);
  EXPECT_EQ(list_.pop_front(), nullptr);
}

TEST_F(List, ElementsLeaveFromTheMiddleAndMayComeBack) {
  list_.push_back(a_);
  list_.push_back(b_);
  list_.push_back(c_);
  b_.unlink();
  b_.unlink();
  EXPECT_EQ(names(list_), "ac");
  list_.push_back(b_);
  EXPECT_EQ(names(list_), "acb");
}

TEST_F(List, AnElementThatIsDestroyedLeaves) {
  list_.push_back(a_);
  auto gone = std::make_unique<Item>('x');
  list_.push_back(*gone);
  list_.push_back(c_);
  gone.reset();
  EXPECT_EQ(names(list_), "ac");
}

TEST_F(List, ElementsOutliveTheListAndAreFree) {
  {
    IntrusiveList<Item> shorter;
    shorter.push_back(a_);
    EXPECT_TRUE(a_.linked());
  }
  EXPECT_FALSE(a_.linked());
  list_.push_back(a_);
  EXPECT_EQ(names(list_), "a");
}

TEST_F(List, ForEachMayUnlinkTheElementItIsGiven) {
  list_.push_back(a_);
  list_.push_back(b_);
  list_.push_back(c_);
  list_.for_each([](Item& item) {
    if (item.name != 'b') item.unlink();
  });
  EXPECT_EQ(names(list_), "b");
}

}  // namespace
}  // namespace nfsrdma
