#include "tests/lab/shrink/output.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>

namespace nfsrdma::lab::shrink {
namespace {

/// As one word of the shell.
std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

Result<std::vector<std::string>> lines_of(const std::string& command,
                                          const std::vector<std::string>& words) {
  std::string line = command;
  for (const std::string& word : words) line += ' ' + quoted(word);
  std::FILE* const output = ::popen(line.c_str(), "re");
  if (output == nullptr) return fail(Error::from_errno(errno, "run", command));
  std::string text;
  std::array<char, 65536> piece;
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), output)) {
    text.append(piece.data(), got);
  }
  if (::pclose(output) != 0) return fail(Error::local(EIO, "run", command + " fails"));
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string each; std::getline(in, each);) lines.push_back(std::move(each));
  return lines;
}

}  // namespace nfsrdma::lab::shrink
