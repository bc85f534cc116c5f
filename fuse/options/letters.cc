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
    {.letter = 'o', .argument = kOptionsArgument, .doc = "options, see below"},
    {.letter = 'f',
     .word = "foreground",
     .doc = "stay in the foreground and log to standard error",
     .apply = [](ProgramOptions& program, const std::string&) { program.foreground = true; }},
    {.letter = 'd', .word = "debug", .doc = "the same, and log in detail", .apply = set_debug},
    {.letter = 'v',
     .word = "verbose",
     .doc = "say which options have no effect, and what was negotiated",
     .apply = set_verbose},
    {.letter = 'r', .doc = "the same as -o ro", .item = "ro"},
    {.letter = 'w', .doc = "the same as -o rw", .item = "rw"},
    {.letter = 'V', .word = "version", .doc = "print the version", .action = Action::show_version},
    {.letter = 'h', .word = "help", .doc = "print this text", .action = Action::show_help},
};

constexpr Letter kHelper[] = {
    {.letter = 'o', .argument = kOptionsArgument, .doc = "options"},
    {.letter = 'f',
     .word = "fake",
     .doc = "check the command line and mount nothing",
     .apply = [](ProgramOptions& program, const std::string&) { program.fake = true; }},
    {.letter = 's',
     .doc = "pass over options that are not known",
     .apply = [](ProgramOptions& program, const std::string&) { program.sloppy = true; }},
    {.letter = 'v', .word = "verbose", .doc = "say more", .apply = set_verbose},
    {.letter = 'n', .doc = "no effect: there is no /etc/mtab to write"},
    {.letter = 'r', .doc = "the same as -o ro", .item = "ro"},
    {.letter = 'w', .doc = "the same as -o rw", .item = "rw"},
    {.letter = 'N',
     .argument = "NAMESPACE",
     .doc = "mount in another mount namespace",
     .apply = [](ProgramOptions& program,
                 const std::string& value) { program.mount_namespace = value; }},
    {.letter = 't', .argument = "TYPE", .doc = "no effect"},
    {.letter = 'V', .word = "version", .doc = "print the version", .action = Action::show_version},
    {.letter = 'h', .word = "help", .doc = "print the help", .action = Action::show_help},
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
