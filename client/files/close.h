// Giving an open back.
#pragma once

#include <utility>

#include "client/files/files.h"

namespace nfsrdma::client {

/// See OpenFiles::close().
inline Task<Result<void>> close(Files& files, OpenRef open) {
  return files.opens.close(std::move(open));
}

}  // namespace nfsrdma::client
