// What one attack works on: files of its own, and how what was taken is given back.
#pragma once

#include <fcntl.h>
#include <linux/fuse.h>

#include <map>
#include <string>
#include <vector>

#include "tests/hostile/hostile_mount.h"

namespace nfsrdma::hostile {

/// The text of every file that a stage makes, long enough for more than one READ.
const std::string& content();

/// Made anew for each attack; names differ from those of the attacks before.
class Stage {
 public:
  explicit Stage(HostileMount& mount);

  HostileMount& m;
  /// Names of the root. There is nothing of them before it is made.
  const std::string file;       ///< with content()
  const std::string missing;    ///< never made by the stage
  const std::string directory;  ///< an empty one
  const std::string link;       ///< a symbolic link to target()
  const std::string held;       ///< made by hold()
  static std::string target() { return "some/where/else"; }
  void make_file() { m.write_file(file, content()); }
  void make_directory();
  void make_link();
  /// A file of its own, open, so that the server delegates it if it delegates any. Returns its
  /// handle.
  nfs4::nfs_fh4 hold();

  /// What operations leave for their checks.
  std::uint64_t node = 0;
  std::uint64_t fh = 0;

  /// By an honest server. Counted, and forgotten by clean_up().
  std::uint64_t lookup(const std::string& name);
  std::uint64_t open(std::uint64_t of, int flags = O_RDWR);
  std::uint64_t open_directory(std::uint64_t of = FUSE_ROOT_ID);
  Answer read(std::uint64_t of, std::uint64_t handle, std::uint64_t offset, std::uint32_t size);
  Answer write(std::uint64_t offset, std::string_view text);
  fuse_lk_in lock_in(std::uint64_t owner, int type) const;
  int lock(std::uint64_t owner, int type);

  /// An answer made an inode known, or a file open.
  void note_entry(const Answer& answer);
  void note_open(std::uint64_t of, std::uint64_t handle) { opened_.emplace_back(of, handle); }
  /// RELEASE was sent for it.
  void note_release(std::uint64_t handle);

  /// Gives everything back, and waits until nothing runs. False: something runs on.
  bool clean_up();

 private:
  std::map<std::uint64_t, std::uint64_t> lookups_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> opened_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> directories_;
};

}  // namespace nfsrdma::hostile
