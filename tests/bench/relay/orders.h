// What the server does with what it is asked: reading and writing files of one folder.
#pragma once

#include "tests/bench/relay/output.h"

namespace nfsrdma::bench::relay {

/// One order after the other. Answers go to the output.
class Orders {
 public:
  /// `as_nfs`: makes the system calls, too, without which no server of NFS has its answers (RFC
  /// 8881): change attributes of a folder before and after a change, file handles, attributes of
  /// what was written and closed.
  Orders(int folder, Output& out, bool as_nfs) : folder_(folder), out_(out), as_nfs_(as_nfs) {}

  /// `payload`: a path, or all data of a WRITE.
  void obey(const Ask& ask, std::span<const std::byte> payload);
  /// A WRITE of `size` bytes, which take_data() is given piece by piece.
  void begin_write(const Ask& ask, std::size_t size);
  bool wants_data() const { return data_left_ > 0; }
  /// Returns how many bytes were of that WRITE.
  std::size_t take_data(std::span<const std::byte> input);
  /// False: a body is not what its answer says.
  bool ok() const { return ok_; }

 private:
  void obey_path(const char* path);
  int change(const char* path, Answer& answer) const;
  int do_change(const char* path, Answer& answer) const;
  void note(int file) const;
  void note_handle(int file) const;
  void close(int file);
  void open(const char* path);
  void list(const char* path);
  void read();

  const int folder_;
  Output& out_;
  const bool as_nfs_;
  Ask ask_{};
  std::size_t data_size_ = 0;
  std::size_t data_left_ = 0;
  int write_error_ = 0;
  bool ok_ = true;
};

}  // namespace nfsrdma::bench::relay
