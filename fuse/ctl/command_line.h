// What the subcommands have in common.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "fuse/ctl/ask.h"

namespace nfsrdma::ctl {

inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;

struct CommandLine {
  bool json = false;
  bool follow = false;
  std::chrono::milliseconds interval{0};  ///< 0: the subcommand's own
  unsigned count = 0;                     ///< 0: for ever
  // Of capture on; empty and 0: not said.
  std::string view;
  unsigned ring = 0;
  unsigned size = 0;  ///< MiB
  unsigned snap = 0;
  std::vector<std::string> words;  ///< what follows the subcommand
};

/// A word of the mount's identity as a terminal may have it.
std::string shown(const Mount& mount, std::string_view name);

/// "SOURCE on MOUNTPOINT"
std::string headline(const Mount& mount);

/// To standard error; the exit status.
int say(const Error& error);

/// The mounts that are named, or all that answer; of others standard error tells.
Result<std::vector<Mount>> chosen(const std::vector<std::string>& names);

// Subcommands that print lines of the daemon, or tell it something.

int waiting(const CommandLine& line);
int trace(const CommandLine& line);
int state(const CommandLine& line);
int set_log(const CommandLine& line);
int reconnect(const CommandLine& line);
int return_delegations(const CommandLine& line);
int drop(const CommandLine& line);
int capture(const CommandLine& line);

}  // namespace nfsrdma::ctl
