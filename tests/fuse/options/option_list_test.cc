#include "fuse/options/option_list.h"

#include <gtest/gtest.h>

namespace nfsrdma::fuse {
namespace {

using Items = std::vector<std::string>;

TEST(OptionList, SplitsAtCommas) {
  EXPECT_EQ(split_option_list("a,b=c,d"), (Items{"a", "b=c", "d"}));
}

TEST(OptionList, BackslashMakesTheNextCharacterOrdinary) {
  EXPECT_EQ(split_option_list(R"(a,b=c\,d,e=\\f)"), (Items{"a", "b=c,d", R"(e=\f)"}));
}

TEST(OptionList, LeavesEmptyItemsOut) {
  EXPECT_EQ(split_option_list(",,a,,"), (Items{"a"}));
  EXPECT_EQ(split_option_list(""), Items{});
}

TEST(OptionList, ABackslashAtTheEndStandsForItself) {
  EXPECT_EQ(split_option_list(R"(a\)"), (Items{R"(a\)"}));
}

}  // namespace
}  // namespace nfsrdma::fuse
