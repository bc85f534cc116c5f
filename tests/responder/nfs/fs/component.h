// One name within a directory, checked and terminated for system calls.
#pragma once

#include <array>
#include <string_view>

#include "client/proto/status.h"

namespace nfsrdma::responder {

inline constexpr std::size_t kMaxName = 255;

/// Checks a component4 (RFC 8881 section 14.4) and holds a copy that ends with NUL. Anything that
/// could leave its directory ("", ".", "..", "/") or be cut short (NUL) is refused.
class Component {
 public:
  explicit Component(std::string_view name);
  nfs4::nfsstat4 status() const { return status_; }
  /// Valid when status() is NFS4_OK.
  const char* c_str() const { return text_.data(); }
  std::string_view view() const { return {text_.data(), length_}; }

 private:
  nfs4::nfsstat4 status_;
  std::size_t length_ = 0;
  std::array<char, kMaxName + 1> text_;
};

}  // namespace nfsrdma::responder
