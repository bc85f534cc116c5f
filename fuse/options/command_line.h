// The command line: as a command, or as mount(8) calls a helper.
#pragma once

#include <string>

#include "fuse/options/options.h"
#include "fuse/options/remount.h"

namespace nfsrdma::fuse {

enum class Action { mount, remount, show_help, show_version };

struct CommandLine {
  Action action = Action::mount;
  Options options;  ///< for Action::remount the source, the mount point and the program's own
  Remount remount;  ///< for Action::remount
};

/// Reads argv. As mount.nfsrdma or mount.fuse.nfsrdma (argv[0]) the letters mean what mount(8)
/// says: -f is "fake" there and "foreground" in the command. The error's detail is a sentence for
/// the user.
Result<CommandLine> parse_command_line(int argc, const char* const* argv);

/// The text of --help.
std::string help_text();

}  // namespace nfsrdma::fuse
