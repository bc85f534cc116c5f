// The man page and the option table say the same.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "fuse/options/letters.h"
#include "fuse/options/option_table.h"

namespace nfsrdma::fuse {
namespace {

/// The letters of both ways to call the program, "-f" ...
std::vector<std::string> command_letters() {
  std::vector<std::string> letters;
  for (auto table : {command_letter_table(), helper_letters()}) {
    for (const auto& letter : table) letters.push_back(std::string("-") + letter.letter);
  }
  return letters;
}

/// Each option is a tagged paragraph: a line `.TP` and then `.B name` or `.BI name= VALUE`.
std::set<std::string> tagged_words() {
  std::ifstream page(NFSRDMA_MAN_PAGE);
  std::set<std::string> words;
  bool after_tag = false;
  for (std::string line; std::getline(page, line);) {
    const bool names = after_tag && (line.starts_with(".B ") || line.starts_with(".BI "));
    // `.TQ` adds another name for the same paragraph.
    after_tag = line == ".TP" || line == ".TQ";
    if (!names) continue;
    std::istringstream in(line.substr(line.find(' ') + 1));
    std::string word;
    in >> word;
    if (word.ends_with('=') || word.ends_with(',')) word.pop_back();
    std::string plain;
    for (char c : word) {
      if (c != '\\') plain += c;  // hyphens are written \-
    }
    words.insert(plain);
  }
  return words;
}

TEST(ManPage, DescribesEveryOptionAndLetter) {
  const auto words = tagged_words();
  ASSERT_FALSE(words.empty()) << NFSRDMA_MAN_PAGE;
  for (const auto& spec : option_table()) {
    EXPECT_TRUE(words.contains(std::string(spec.name))) << spec.name << " is not in the page";
  }
  for (const auto& letter : command_letters()) {
    EXPECT_TRUE(words.contains(letter)) << letter << " is not in the page";
  }
}

TEST(ManPage, DescribesNoOptionThatDoesNotExist) {
  std::set<std::string> known;
  for (const auto& spec : option_table()) known.insert(std::string(spec.name));
  for (const auto& letter : command_letters()) known.insert(letter);
  for (const auto& word : tagged_words()) {
    const bool other_section = word.find_first_not_of("0123456789") == std::string::npos ||
                               word.starts_with("SIG") || word.starts_with('/');
    EXPECT_TRUE(other_section || known.contains(word)) << word << " is not an option";
  }
}

TEST(ManPage, GivesDefaultsAndRangesAsTheTableHasThem) {
  std::ifstream page(NFSRDMA_MAN_PAGE);
  const std::string text(std::istreambuf_iterator<char>(page), {});
  for (const auto& spec : option_table()) {
    if (spec.max == 0 || spec.default_value.empty()) continue;
    const std::string expected = std::string("Default ") + std::string(spec.default_value);
    const auto place = text.find(".BI " + std::string(spec.name) + "= ");
    ASSERT_NE(place, std::string::npos) << spec.name;
    const auto paragraph = text.substr(place, text.find(".TP", place) - place);
    EXPECT_NE(paragraph.find(expected), std::string::npos) << spec.name << ": " << expected;
  }
}

}  // namespace
}  // namespace nfsrdma::fuse
