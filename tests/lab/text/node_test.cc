// The text form of values, as trees.
#include "tests/lab/text/node.h"

#include <gtest/gtest.h>

namespace nfsrdma::lab {
namespace {

std::string again(std::string_view text) {
  auto node = read_node(text);
  return node ? to_text(*node) : node.error().detail;
}

TEST(NodeTest, ReadsWhatItWrites) {
  for (const char* text :
       {"{}", "[]", "7", "\"a \\x00 \\x22\"", "{a=1 b=[1 2 [3]] c={d=0x1f e=\"f g\"}}"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again("{ a = 1, b=[1,2\n 3] # what follows is not read\n }"), "{a=1 b=[1 2 3]}");
  EXPECT_EQ(again(R"("\\\n\"")"), R"("\x5c\x0a\x22")");
}

TEST(NodeTest, SaysWhatIsWrongAndInWhichLine) {
  EXPECT_EQ(again("{a=1\nb}"), "2: '=' is missing before '}'");
  EXPECT_EQ(again("[1\n2"), "2: a value is missing before the end of the script");
  EXPECT_EQ(again("\"abc"), "1: text without its end (\")");
  EXPECT_EQ(again("\"\\q\""), "1: behind \\ stands one of \\ \" n and xNN");
  EXPECT_EQ(again("1 2"), "1: behind the value stands '2'");
  EXPECT_EQ(again(std::string(1000, '[')), "1: brackets are nested too deeply");
  EXPECT_EQ(again("\x80"), "1: a character that is no plain text; write it as \"\\xNN\"");
}

TEST(NodeTest, FollowsAPath) {
  const auto node = read_node("{READ={status=NFS4_OK} READ={status=NFS4ERR_IO} l=[5 6]}");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->at("READ.status")->text, "NFS4_OK");
  EXPECT_EQ(node->at("READ#2.status")->text, "NFS4ERR_IO");
  EXPECT_EQ(node->at("l.2")->text, "6");
  for (const char* none : {"READ#3", "READ#0", "l.0", "l.3", "l.x", "READ.status.x", "no"}) {
    EXPECT_EQ(node->at(none), nullptr) << none;
  }
}

TEST(NodeTest, ReplacesNames) {
  Bindings bindings;
  bindings["o"] = *read_node("{fh=0x01 list=[1 {x=2}]}");
  const auto resolved = resolve(*read_node("{a=$o.fh b=[$o.list.2.x \"$o\"]}"), bindings);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(to_text(*resolved), "{a=0x01 b=[2 \"$o\"]}");
  EXPECT_EQ(resolve(*read_node("$p.fh"), bindings).error().detail, "1: $p.fh was given no value");
  EXPECT_EQ(resolve(*read_node("$o.size"), bindings).error().detail,
            "1: $o.size: there is no such field in {fh=0x01 list=[1 {x=2}]}");
}

TEST(NodeTest, Numbers) {
  EXPECT_EQ(to_number("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(to_number("0xffffffffffffffff"), UINT64_MAX);
  EXPECT_EQ(to_number("4K"), 4096U);
  EXPECT_EQ(to_number("2G"), 2ULL << 30);
  for (const char* none : {"", "0x", "x", "1x", "18446744073709551616", "0x1K",
                           "18446744073709551615K", "-1", "1KK"}) {
    EXPECT_FALSE(to_number(none)) << none;
  }
  EXPECT_EQ(to_hex(*to_bytes("0x00fF")), "0x00ff");
  EXPECT_FALSE(to_bytes("0x0"));
  EXPECT_FALSE(to_bytes("0x0g"));
  EXPECT_FALSE(to_bytes("00"));
}

}  // namespace
}  // namespace nfsrdma::lab
