// Where a run reports what it gives out.
#pragma once

#include "transport/journal/entry.h"

namespace nfsrdma::journal {

/// In a recorded run this is the recorder; in a rerun, the comparison with the recording. Belongs
/// to the shard's thread.
class Journal {
 public:
  /// Something goes out now.
  virtual void give(Kind kind, const Body& body) = 0;

 protected:
  ~Journal() = default;
};

}  // namespace nfsrdma::journal
