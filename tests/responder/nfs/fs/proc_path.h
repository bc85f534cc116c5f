// The /proc name of a descriptor: reaches an O_PATH descriptor's inode with path system calls.
#pragma once

#include <array>
#include <cstdio>

namespace nfsrdma::responder {

class ProcPath {
 public:
  explicit ProcPath(int fd) { std::snprintf(text_.data(), text_.size(), "/proc/self/fd/%d", fd); }
  const char* c_str() const { return text_.data(); }

 private:
  std::array<char, 32> text_;
};

}  // namespace nfsrdma::responder
