#include "fuse/options/letters.h"

namespace nfsrdma::fuse {
namespace {

void set_debug(ProgramOptions& program, const std::string&) {
  program.debug = true;
  program.foreground = true;
}

void set_verbose(ProgramOptions& program, const std::string&) { program.verbose = true; }

constexpr std::string_view kOptionsArgument = "OPTION[,OPTION...]";

constexpr Letter kCommand[] = {
    {.letter = 'o',
     .word = "",
     .argument = kOptionsArgument,
     .doc = "options, see below",
     .item = ""},
    {.letter = 'f',
     .word = "foreground",
     .argument = "",
     .doc = "stay in the foreground and log to standard error",
     .item = "",
     .apply = [](ProgramOptions& program, const std::string&) { program.foreground = true; }},
    {.letter = 'd',
     .word = "debug",
     .argument = "",
     .doc = "the same, and log in detail",
     .item = "",
     .apply = set_debug},
    {.letter = 'v',
     .word = "verbose",
     .argument = "",
     .doc = "say which options have no effect, and what was negotiated",
     .item = "",
     .apply = set_verbose},
    {.letter = 'r', .word = "", .argument = "", .doc = "the same as -o ro", .item = "ro"},
    {.letter = 'w', .word = "", .argument = "", .doc = "the same as -o rw", .item = "rw"},
    {.letter = 'V',
     .word = "version",
     .argument = "",
     .doc = "print the version",
     .item = "",
     .action = Action::show_version},
    {.letter = 'h',
     .word = "help",
     .argument = "",
     .doc = "print this text",
     .item = "",
     .action = Action::show_help},
};

constexpr Letter kHelper[] = {
    {.letter = 'o', .word = "", .argument = kOptionsArgument, .doc = "options", .item = ""},
    {.letter = 'f',
     .word = "fake",
     .argument = "",
     .doc = "check the command line and mount nothing",
     .item = "",
     .apply = [](ProgramOptions& program, const std::string&) { program.fake = true; }},
    {.letter = 's',
     .word = "",
     .argument = "",
     .doc = "pass over options that are not known",
     .item = "",
     .apply = [](ProgramOptions& program, const std::string&) { program.sloppy = true; }},
    {.letter = 'v',
     .word = "verbose",
     .argument = "",
     .doc = "say more",
     .item = "",
     .apply = set_verbose},
    {.letter = 'n',
     .word = "",
     .argument = "",
     .doc = "no effect: there is no /etc/mtab to write",
     .item = ""},
    {.letter = 'r', .word = "", .argument = "", .doc = "the same as -o ro", .item = "ro"},
    {.letter = 'w', .word = "", .argument = "", .doc = "the same as -o rw", .item = "rw"},
    {.letter = 'N',
     .word = "",
     .argument = "NAMESPACE",
     .doc = "mount in another mount namespace",
     .item = "",
     .apply = [](ProgramOptions& program,
                 const std::string& value) { program.mount_namespace = value; }},
    {.letter = 't', .word = "", .argument = "TYPE", .doc = "no effect", .item = ""},
    {.letter = 'V',
     .word = "version",
     .argument = "",
     .doc = "print the version",
     .item = "",
     .action = Action::show_version},
    {.letter = 'h',
     .word = "help",
     .argument = "",
     .doc = "print the help",
     .item = "",
     .action = Action::show_help},
};

}  // namespace

std::span<const Letter> command_letter_table() { return kCommand; }
std::span<const Letter> helper_letters() { return kHelper; }

const Letter* find_letter(std::span<const Letter> letters, std::string_view key) {
  for (const auto& letter : letters) {
    const char short_key[] = {'-', letter.letter};
    if (letter.word.empty() ? key == std::string_view(short_key, sizeof short_key)
                            : key == letter.word) {
      return &letter;
    }
  }
  return nullptr;
}

}  // namespace nfsrdma::fuse
