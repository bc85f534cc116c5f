// The part of OpenTable that keeps OPEN apart from CLOSE and OPEN_DOWNGRADE.
#include <utility>

#include "client/mount.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {

Task<Result<void>> OpenTable::narrow(FileRef file, std::uint32_t needed) {
  file->narrowing_ = true;
  auto sent = needed == 0 ? send_close(file) : send_downgrade(file, needed);
  auto done = co_await sent;
  file->narrowing_ = false;
  file->crossing_.wake_all();
  co_return done;
}

Task<OpenTable::Opening> OpenTable::begin_open(Credential caller, FileHandle handle) {
  return begin_open(obtain(caller, handle));
}

// Who waits counts already: the file stays, and the next CLOSE comes behind.
Task<OpenTable::Opening> OpenTable::begin_open(OpenFileRef file) {
  ++file->opening_;
  Opening opening(*this, file);
  while (file->narrowing_) co_await file->crossing_.wait();
  co_return opening;
}

void OpenTable::Opening::end() {
  const FileRef file = std::exchange(file_, nullptr);
  if (!file) return;
  if (--file->opening_ == 0) file->crossing_.wake_all();
  table_->forget_if_unused(file);
}

}  // namespace nfsrdma::client
