// The part of OpenTable that notes what the server does not give back.
#include <vector>

#include "client/mount.h"
#include "client/session/session.h"
#include "client/state/open_table.h"
#include "transport/base/log.h"

namespace nfsrdma::client {

void OpenTable::lose_locks(OpenFile& file, const std::string& why) {
  if (file.references() == 0) return file.locks_.clear();  // nobody is left whose they are
  const auto all = file.locks_.all();
  const std::vector<FileLocks::LockRef> locks(all.begin(), all.end());
  for (const FileLocks::LockRef& lock : locks) lose_locks(*lock, why);
}

void OpenTable::lose_locks(LockState& lock, const std::string& why) {
  const bool held = lock.take_away();
  if (!held) return;
  locks_lost_.add();
  log::error(
      "the {} locks of process {} on file {} are lost, its reads and writes of the file get EIO "
      "until it unlocks or closes it: {}",
      lock.owner.kind == LockKind::posix ? "fcntl" : "flock", lock.pid, lock.file.fileid(), why);
}

void OpenTable::give_up(OpenFile& file, const std::string& why) {
  log::error("the open file {} is lost, its users get EIO: {}", file.fileid_, why);
  file.lost_ = true;
  file.locks_.clear();
  file.claim_ = OpenFile::Claim::none;
  file.unlink();
  file.delegation_.reset();
  lost_.add();
  forget(file);  // the next open of the file starts afresh
  mount_.session().recovery_ended();
}

}  // namespace nfsrdma::client
