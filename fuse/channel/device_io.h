// Reading and writing the FUSE device for libfuse.
#pragma once

#include <fuse_lowlevel.h>

#include "transport/base/result.h"

namespace nfsrdma::fuse {

/// libfuse 3.14 leaves FUSE_HANDLE_KILLPRIV out of what it answers to FUSE_INIT, whatever is
/// wanted. From now on its system calls on the device are made here, and that answer is completed.
/// After mounting, before the first request; once for each session.
Result<void> complete_init_answer(fuse_session& session);

}  // namespace nfsrdma::fuse
