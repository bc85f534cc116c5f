// How a program reads a file: from front to end, in steps of equal length, or neither.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nfsrdma::cache {

/// One for each open(2). Reads that follow each other make a run; runs of one length that begin at
/// equal distances make a stride. Pure state.
class ReadPattern {
 public:
  enum class Next : std::uint8_t {
    unknown,
    sequential,  ///< what follows the run
    strided,     ///< `length()` bytes, `stride()` behind the begin of the run, and so on
  };

  /// A read of these bytes has come. `expected`: they are being read ahead, so the run goes on even
  /// if the reader has jumped to them.
  void note(std::uint64_t offset, std::size_t size, bool expected);
  Next next() const;

  std::uint64_t begin() const { return begin_; }  ///< of the run
  std::uint64_t end() const { return end_; }
  std::size_t request() const { return request_; }  ///< bytes of the last read
  std::uint64_t stride() const { return stride_; }
  std::uint64_t length() const { return length_; }

 private:
  bool goes_on(std::uint64_t offset, bool expected) const;
  void begin_run(std::uint64_t offset);

  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t stride_ = 0;
  std::uint64_t length_ = 0;
  std::size_t request_ = 0;
  std::uint32_t requests_ = 0;  ///< of the run
  std::uint32_t repeats_ = 0;   ///< of the stride
  bool sequential_ = false;
};

}  // namespace nfsrdma::cache
