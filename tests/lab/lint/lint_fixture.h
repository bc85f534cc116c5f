// Lints a capture that a test has made.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/lab/capture/capture_maker.h"
#include "tests/lab/lint/linter.h"

namespace nfsrdma::lab::test {

class LintFixture : public ::testing::Test {
 protected:
  /// What is found first, "client: RFC 8166 section 3.4.3"; empty: nothing.
  std::string first(const CaptureMaker& file) {
    const Bytes& bytes = file.bytes();
    std::FILE* stream = ::fmemopen(const_cast<std::byte*>(bytes.data()), bytes.size(), "rb");
    auto opened = PacketFile::open(stream, "the test's capture");
    EXPECT_TRUE(opened) << opened.error().message();
    linter = std::make_unique<Linter>();
    summary = read_capture(**opened, *linter);
    EXPECT_EQ(summary.damaged, "");
    for (const Finding& finding : linter->findings().all()) {
      if (finding.note) continue;
      seen = finding.seen;
      return std::string(side_name(finding.source.from)) + ": " + std::string(finding.rule.where);
    }
    return {};
  }
  std::uint64_t messages() const { return linter->connections().at(0)->messages; }

  CaptureSummary summary;
  std::unique_ptr<Linter> linter;
  std::string seen;  ///< of that finding
};

}  // namespace nfsrdma::lab::test
