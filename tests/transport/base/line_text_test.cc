#include "transport/base/line_text.h"

#include <gtest/gtest.h>

namespace nfsrdma {
namespace {

TEST(LineText, StaysInItsLineAndComesBack) {
  const std::string name = "/mnt/a\nb\\c\x1b[2J\td e\xff";
  const std::string line = escape_line(name);
  EXPECT_EQ(line, "/mnt/a\\012b\\134c\\033[2J\\011d e\xff");
  EXPECT_EQ(unescape_line(line), name);
}

TEST(LineText, OthersAsTheCallerWants) {
  EXPECT_EQ(escape_line("a b", " "), "a\\040b");
  EXPECT_EQ(unescape_line("a\\040b"), "a b");
}

TEST(LineText, WhatIsNoEscapeStays) {
  for (const char* text : {"\\", "\\0", "\\01", "\\09x", "\\777", "a\\"}) {
    EXPECT_EQ(unescape_line(text), text);
  }
}

}  // namespace
}  // namespace nfsrdma
