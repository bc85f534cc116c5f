#include "client/files/open_ref.h"

#include <utility>

#include "client/files/open_files.h"

namespace nfsrdma::client {

OpenRef::OpenRef(OpenRef&& other) noexcept
    : files_(std::exchange(other.files_, nullptr)),
      file_(std::move(other.file_)),
      caller_(other.caller_),
      share_access_(std::exchange(other.share_access_, 0)) {}

OpenRef& OpenRef::operator=(OpenRef&& other) noexcept {
  if (this == &other) return *this;
  reset();
  files_ = std::exchange(other.files_, nullptr);
  file_ = std::move(other.file_);
  caller_ = other.caller_;
  share_access_ = std::exchange(other.share_access_, 0);
  return *this;
}

void OpenRef::reset() {
  if (!file_) return;
  OpenFiles* files = files_;
  files->close_in_background(std::move(*this));
}

}  // namespace nfsrdma::client
