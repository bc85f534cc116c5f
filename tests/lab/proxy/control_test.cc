// What a proxy's control socket refuses, and that the pages have every command and fault that it
// lists.
#include "tests/lab/proxy/control.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace nfsrdma::lab::proxy {
namespace {

/// A section of a page, without the marks of troff.
std::string section(const char* path, const std::string& name) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t begin = text.find(".SH " + name + "\n");
  if (begin == std::string::npos) return {};
  text = text.substr(begin, text.find("\n.SH ", begin + 1) - begin);
  std::erase(text, '\\');
  return text;
}

bool has_word(const std::string& text, const std::string& word) {
  constexpr std::string_view kOfWords = "abcdefghijklmnopqrstuvwxyz-0123456789";
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const std::size_t end = at + word.size();
    const char behind = end == text.size() ? ' ' : text[end];
    if (kOfWords.find(before) == std::string_view::npos &&
        kOfWords.find(behind) == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

TEST(ProxyControl, RefusesFaultsOfTheServersService) {
  for (const char* spec : {"replay-cache=off", "replay-cache=garbage:op=READ", "unstable=lost"}) {
    EXPECT_NE(refusal_of(spec).find("nfsrdma-responder"), std::string::npos) << spec;
  }
  for (const char* spec : {"nfsstat=NFS4ERR_IO:op=READ", "drop-reply", "unstablest", ""}) {
    EXPECT_EQ(refusal_of(spec), "") << spec;
  }
}

TEST(ProxyControl, ListsWhatItTakesOnly) {
  const std::string help = help_text();
  EXPECT_NE(help.find("fault nfsstat="), std::string::npos);
  EXPECT_EQ(help.find("unstable"), std::string::npos);
  EXPECT_EQ(help.find("replay-cache"), std::string::npos);
}

TEST(ProxyControl, ThePagesHaveEachCommandAndFault) {
  const std::string commands = section(NFSRDMA_LAB_PAGE, "FAULT");
  const std::string faults = section(NFSRDMA_RESPONDER_PAGE, "FAULT SCRIPTS");
  ASSERT_FALSE(commands.empty());
  ASSERT_FALSE(faults.empty());
  std::istringstream lines(help_text());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::string kind;
    words >> word >> kind;
    EXPECT_TRUE(has_word(commands, word)) << word << " is not in nfsrdma-lab(1)";
    if (word != "fault") continue;
    EXPECT_TRUE(has_word(faults, kind.substr(0, kind.find('='))))
        << kind << " is not in nfsrdma-responder(8)";
  }
}

}  // namespace
}  // namespace nfsrdma::lab::proxy
