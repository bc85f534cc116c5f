// Where a run tells what it gives out.
#pragma once

#include "transport/journal/entry.h"

namespace nfsrdma::journal {

/// Of a run that is recorded it is the recorder; of one that is made again, what compares it with
/// the recording. Belongs to the shard's thread.
class Journal {
 public:
  /// Something goes out now.
  virtual void give(Kind kind, const Body& body) = 0;

 protected:
  ~Journal() = default;
};

}  // namespace nfsrdma::journal
