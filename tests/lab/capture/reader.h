// Reads a whole capture: finds the connections in it, and tells of each what happened.
#pragma once

#include <cstdint>
#include <string>

#include "tests/lab/capture/packet_file.h"
#include "tests/lab/capture/wire.h"

namespace nfsrdma::lab {

struct CaptureSummary {
  std::uint64_t frames = 0;
  std::uint64_t cut = 0;        ///< frames that the capture has only the beginning of
  std::size_t connections = 0;  ///< of RPC, that were looked at
  std::size_t dropped = 0;      ///< connections given up because there were too many at a time
  std::string damaged;          ///< why the file could not be read to its end; empty: it was
};

/// Reads to the end of the file. `factory` gets each connection.
CaptureSummary read_capture(PacketFile& file, WireObserverFactory& factory);

}  // namespace nfsrdma::lab
