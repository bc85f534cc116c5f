// One attack: something is asked for while the server misbehaves, and then it is seen whether the
// mount is what it was.
#pragma once

#include <functional>
#include <string>

#include "tests/hostile/kernel_operations.h"

namespace nfsrdma::hostile {

/// Attacks one mount after another way. What has to hold, whatever the server does:
///
///  1. the request is answered, or its caller can be killed
///  2. an answer without an error is true: the effect is there, the data is the file's
///  3. an error is one that a program may get from this call
///  4. when the server is honest again, a file can be opened and read, with the right data
///  5. nothing has grown: buffers, slots, opens, inodes are what they were
///  6. the client does not work without end: turns of the loop and COMPOUNDs are bounded
///  7. nothing was placed, and nothing read, outside of the memory that a call lends
class Attacker {
 public:
  explicit Attacker(HostileOptions options = {});
  ~Attacker();

  HostileMount& mount() { return *mount_; }

  /// `arm` makes the server misbehave when all is prepared. `name` is for messages.
  void attack(const KernelOperation& operation, const std::string& name,
              const std::function<void(HostileService&)>& arm);
  /// The same for one of a table. False: it was left out, as all of this program are but one of so
  /// many (the environment's NFSRDMA_HOSTILE_STRIDE).
  bool attack_in_turn(const KernelOperation& operation, const std::string& name,
                      const std::function<void(HostileService&)>& arm);
  /// The server tells what no client can see to be wrong, another size or other data: 2 is not
  /// asked of attacks from now on.
  void expect_deception(bool deceives) { deceives_ = deceives; }
  /// From now on a file beside the request's is open during each attack (Stage::hold()).
  void hold_a_file() { holds_ = true; }
  const nfs4::nfs_fh4& held() const { return held_; }
  /// Requests as they are: which NFS operations they need.
  std::set<std::uint32_t> needs(const KernelOperation& operation);

  int attacks() const { return attacks_; }
  /// Of 1 to 6. More than a few, and a test may stop.
  int failures() const { return failures_; }
  static constexpr int kMostFailures = 10;
  /// Requests that ended without an error, with one, and by the death of their caller.
  int succeeded = 0;
  int failed = 0;
  int killed = 0;

 private:
  void judge(const KernelOperation& operation, Stage& stage, const Ended& ended);
  void probe();
  void check_growth();
  void return_delegations();
  void check_work(std::uint64_t turns, std::uint64_t calls);
  void blame(const std::string& what);

  std::unique_ptr<HostileMount> mount_;
  std::string name_;
  std::string footprint_;
  int attacks_ = 0;
  int failures_ = 0;
  bool deceives_ = false;
  bool holds_ = false;
  nfs4::nfs_fh4 held_;
};

}  // namespace nfsrdma::hostile
