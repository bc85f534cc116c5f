// man/nfsrdma-from-nfs.7: each word of its lists is given to the program, and has the fate that the
// page tells.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fuse/options/command_line.h"
#include "fuse/options/option_table.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kSame = "OPTIONS THAT MEAN THE SAME";
constexpr const char* kIgnored = "OPTIONS WITHOUT EFFECT";
constexpr const char* kRefused = "OPTIONS THAT ARE REFUSED";
constexpr const char* kUnknown = "OPTIONS THAT ARE UNKNOWN";

/// Section -> the words of its tags.
std::map<std::string, std::vector<std::string>> words_of_page() {
  std::ifstream page(NFSRDMA_FROM_NFS_PAGE);
  std::map<std::string, std::vector<std::string>> words;
  std::string section;
  bool after_tag = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with(".SH ")) section = line.substr(4);
    if (after_tag && line.starts_with(".B ")) {
      std::erase(line, '\\');
      std::istringstream in(line.substr(3));
      for (std::string word; in >> word;) words[section].push_back(word);
    }
    after_tag = line == ".TP";
  }
  return words;
}

Result<CommandLine> given(const std::string& word) {
  const std::array argv{"mount.nfsrdma", "server:/export", "/mnt", "-o", word.c_str()};
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

TEST(FromNfsPage, WordsHaveTheFateThatItTells) {
  auto words = words_of_page();
  EXPECT_GT(words[kSame].size(), 50u);
  for (const auto& word : words[kSame]) {
    const auto line = given(word);
    ASSERT_TRUE(line) << word << ": " << line.error().detail;
    EXPECT_TRUE(line->options.notes.empty() && line->options.notices.empty()) << word;
  }
  EXPECT_GT(words[kIgnored].size(), 50u);
  for (const auto& word : words[kIgnored]) {
    const auto line = given(word);
    ASSERT_TRUE(line) << word << ": " << line.error().detail;
    if (word.starts_with("x-")) continue;  // not even said
    EXPECT_EQ(line->options.notes.size() + line->options.notices.size(), 1u) << word;
  }
  EXPECT_GT(words[kRefused].size(), 15u);
  for (const auto& word : words[kRefused]) {
    const auto line = given(word);
    ASSERT_FALSE(line) << word;
    EXPECT_EQ(line.error().detail.find("unknown option"), std::string::npos) << word;
  }
  for (const auto& word : words[kUnknown]) {
    const auto line = given(word);
    ASSERT_FALSE(line) << word;
    EXPECT_NE(line.error().detail.find("unknown option"), std::string::npos) << word;
  }
}

TEST(FromNfsPage, HasEveryOptionThatIsNotOurs) {
  std::set<std::string> listed;
  for (const auto& [section, words] : words_of_page()) {
    for (const auto& word : words) listed.insert(word.substr(0, word.find('=')));
  }
  for (const auto& spec : option_table()) {
    if (spec.kind == OptionKind::ours || spec.kind == OptionKind::mount || spec.name == "x-*") {
      continue;
    }
    EXPECT_TRUE(listed.contains(std::string(spec.name))) << spec.name;
  }
}

}  // namespace
}  // namespace nfsrdma::fuse
