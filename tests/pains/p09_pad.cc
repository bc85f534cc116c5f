// P9: READ of a length that is no multiple of four, from servers that write the XDR pad into the
// Write chunk and from servers that do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "client/files/open.h"
#include "client/files/open_files.h"
#include "client/requests/read.h"
#include "tests/client/mounted.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

/// What is behind the data in the sink stays as it was.
constexpr std::byte kUntouched{0xEE};

class P09_PadInWriteChunk : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(here_.start());
    if (GetParam()) here_.server().command("fault malformed=write-pad:op=READ");
  }
  void TearDown() override { EXPECT_TRUE(here_.stop()); }

  void expect_exact(std::size_t length) {
    std::string content(length, 0);
    for (std::size_t i = 0; i < length; ++i) content[i] = static_cast<char>(i * 7 + length);
    std::ofstream(here_.path("file"), std::ios::binary) << content;
    auto file = here_.run(open_by_name(here_.mount(), here_.caller(), here_.mount().root(), "file",
                                       OPEN4_SHARE_ACCESS_READ));
    ASSERT_TRUE(file) << file.error().message();
    Buffer sink = here_.data().acquire();
    std::ranges::fill(sink.bytes(), kUntouched);
    auto data = here_.run(read(here_.mount(), here_.caller(), file->handle, file->open.state(), 0,
                               sink.first(length), sink.size() - length));
    ASSERT_TRUE(data) << data.error().message();
    ASSERT_EQ(data->data.size(), length);
    EXPECT_TRUE(std::ranges::equal(data->data, std::as_bytes(std::span(content))));
    EXPECT_EQ(sink.data()[length + 4], kUntouched) << "beyond the pad";
    EXPECT_TRUE(here_.run(here_.mount().opens().close(std::move(file->open))));
  }

  Mounted here_;
};

TEST_P(P09_PadInWriteChunk, DataIsExactAndTheConnectionLives) {
  // Short ones come inline; the others are placed.
  for (const std::size_t base : {std::size_t{0}, std::size_t{8192}, std::size_t{262144}}) {
    for (std::size_t rest = 1; rest <= 4; ++rest) {
      SCOPED_TRACE(base + rest);
      expect_exact(base + rest);
    }
  }
  EXPECT_EQ(here_.counter("reconnects"), 0U);
  EXPECT_EQ(here_.counter("bad_replies"), 0U);
}

INSTANTIATE_TEST_SUITE_P(FromServersThatWriteIt, P09_PadInWriteChunk, ::testing::Bool());

}  // namespace
}  // namespace nfsrdma::client::test
