// Scripts of nfsrdma-lab out of what a kernel's client has done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/lab/import/mountstats.h"
#include "tests/lab/import/trace.h"

namespace nfsrdma::lab::import {

struct MadeScript {
  std::string text;
  std::size_t calls = 0;     ///< of the trace that the script issues
  std::size_t left_out = 0;  ///< calls that a script cannot issue, or whose operation is not known
};

/// The calls of a trace in their order, with chunks cut as the kernel cut them. Files are stood in
/// for by files of the script's own, names are put behind "import.": nothing of the server's is
/// touched.
MadeScript make_script(const Trace& trace);
/// `calls` calls in the proportions of a mount, of its mean sizes, in an order that `seed` decides.
MadeScript make_script(const MountStatistics& mount, std::size_t calls, std::uint64_t seed);

}  // namespace nfsrdma::lab::import
