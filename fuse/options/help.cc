// Makes the text of --help from the tables.
#include <fmt/format.h>

#include "fuse/options/command_line.h"
#include "fuse/options/letters.h"
#include "fuse/options/option_table.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::size_t kColumn = 26;

void add_line(std::string& text, const std::string& usage, std::string_view doc) {
  text += fmt::format("  {:<{}} {}\n", usage, kColumn, doc);
}

void add_letters(std::string& text) {
  for (const auto& letter : command_letter_table()) {
    std::string usage = fmt::format("-{}", letter.letter);
    if (!letter.word.empty()) usage += fmt::format(", --{}", letter.word);
    if (!letter.argument.empty()) usage += fmt::format(" {}", letter.argument);
    add_line(text, usage, letter.doc);
  }
}

void add_options(std::string& text, OptionKind kind, std::string_view title) {
  text += fmt::format("\n{}\n", title);
  for (const auto& spec : option_table()) {
    if (spec.kind != kind) continue;
    std::string doc(spec.doc);
    if (!spec.default_value.empty()) doc += fmt::format(" [{}]", spec.default_value);
    add_line(text, option_usage(spec), doc);
  }
}

}  // namespace

std::string help_text() {
  std::string text =
      "nfsrdma [-fdvrwVh] [-o OPTION[,OPTION...]] SERVER:/EXPORT MOUNTPOINT\n"
      "mounts an NFSv4.1 export over RPC-over-RDMA, without privileges.\n"
      "fusermount3 -u MOUNTPOINT unmounts it.\n\n";
  add_letters(text);
  add_options(text, OptionKind::nfs, "Options of nfs(5) [default]:");
  add_options(text, OptionKind::ours, "Options of this program:");
  add_options(text, OptionKind::mount, "Options of mount(8) and FUSE:");
  add_options(text, OptionKind::ignored, "Accepted without effect:");
  add_options(text, OptionKind::refused, "Refused:");
  return text;
}

}  // namespace nfsrdma::fuse
