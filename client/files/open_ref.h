// A user's reference to an open.
#pragma once

#include <cstdint>
#include <memory>

#include "client/state/open_file.h"

namespace nfsrdma::client {

class OpenFiles;

/// Move-only reference to an OpenFile with the share access it was opened with. Give it to
/// close() (client/files/open.h); one that is dropped instead is closed in the background.
class OpenRef {
 public:
  OpenRef() = default;
  OpenRef(OpenRef&& other) noexcept;
  OpenRef& operator=(OpenRef&& other) noexcept;
  ~OpenRef() { reset(); }

  explicit operator bool() const { return file_ != nullptr; }
  /// For the operations that use the open; keeps it alive.
  StateRef state() const { return file_; }
  const OpenFile* operator->() const { return file_.get(); }
  const OpenFile& operator*() const { return *file_; }
  const OpenFileRef& file() const { return file_; }
  /// The access of this reference: OPEN4_SHARE_ACCESS_* bits.
  std::uint32_t share_access() const { return share_access_; }
  /// Who has opened it: others of the same uid share the OpenFile.
  const Credential& caller() const { return caller_; }
  /// Closes in the background.
  void reset();

 private:
  friend class OpenFiles;
  OpenRef(OpenFiles& files, OpenFileRef file, const Credential& caller, std::uint32_t share_access)
      : files_(&files), file_(std::move(file)), caller_(caller), share_access_(share_access) {}

  OpenFiles* files_ = nullptr;
  OpenFileRef file_;
  Credential caller_;
  std::uint32_t share_access_ = 0;
};

}  // namespace nfsrdma::client
