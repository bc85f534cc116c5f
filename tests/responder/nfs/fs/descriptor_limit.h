// The limit of descriptors of this process: raises it as far as possible, and watches the
// remainder.
#pragma once

#include <cstddef>

namespace nfsrdma::responder {

/// Every file that a client has open takes two descriptors. Belongs to the reactor's thread.
class DescriptorLimit {
 public:
  /// Raises RLIMIT_NOFILE to its hard limit.
  DescriptorLimit();

  /// How many of `wanted` may be kept for files that are not open: half at most, for the rest is
  /// for opens, directories and connections.
  std::size_t affordable(std::size_t wanted) const;
  /// Whether only the last ones are left when files and opens have so many: those are not for
  /// opens, so that names are still looked up, data written and connections accepted.
  bool is_reached(std::size_t used) const;
  /// The same for an OPEN. Logs the remedy, once for each time that descriptors run
  /// out.
  bool refuses(std::size_t used);
  /// The system has refused one.
  void report();

 private:
  std::size_t limit_;
  bool reported_ = false;
};

}  // namespace nfsrdma::responder
