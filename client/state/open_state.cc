#include "client/state/open_state.h"

#include <utility>

#include "client/proto/ops_open.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {

std::uint32_t OpenFile::share_access() const {
  std::uint32_t needed = 0;
  for (std::uint32_t access = 1; access < counts_.size(); ++access) {
    if (counts_[access] > 0) needed |= access;
  }
  return needed;
}

OpenRef::OpenRef(OpenRef&& other) noexcept
    : table_(std::exchange(other.table_, nullptr)),
      file_(std::move(other.file_)),
      share_access_(std::exchange(other.share_access_, 0)) {}

OpenRef& OpenRef::operator=(OpenRef&& other) noexcept {
  if (this == &other) return *this;
  reset();
  table_ = std::exchange(other.table_, nullptr);
  file_ = std::move(other.file_);
  share_access_ = std::exchange(other.share_access_, 0);
  return *this;
}

void OpenRef::reset() {
  if (!file_) return;
  OpenTable* table = table_;
  table->release_in_background(std::move(*this));
}

}  // namespace nfsrdma::client
