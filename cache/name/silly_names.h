// Removing a name of a file that is open here: the server would drop the file, so it gets another
// name (.nfs...) until the last close. The Linux client does the same ("silly rename").
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache/file/attribute_cache.h"
#include "cache/file/inode_index.h"
#include "cache/file/open_inode.h"
#include "client/files/delegations.h"
#include "client/mount.h"
#include "transport/base/sync/in_flight_set.h"

namespace nfsrdma::cache {

/// What the operation does to the name.
enum class NameIs : std::uint8_t { removed, replaced };

/// A file that was given a silly name.
struct KeptFile {
  InodeRef inode;                   ///< null: no file had to be kept
  std::shared_ptr<OpenInode> open;  ///< has the silly name, also when the file was closed meanwhile

  explicit operator bool() const { return inode != nullptr; }
};

/// One for each mount; belongs to its shard.
class SillyNames {
 public:
  /// All outlive this.
  SillyNames(client::Mount& mount, AttributeCache& attributes, const InodeIndex& index)
      : mount_(mount), attributes_(attributes), index_(index), removals_(mount.reactor()) {}
  SillyNames(const SillyNames&) = delete;
  SillyNames& operator=(const SillyNames&) = delete;

  client::Mount& mount() { return mount_; }
  AttributeCache& attributes() { return attributes_; }

  /// Count the open files of the mount, with a silly name or without.
  void opened() { ++open_files_; }
  void released() { --open_files_; }
  std::size_t open_files() const { return open_files_; }
  /// Some file that loses its name may be open or delegated: it has to be found first.
  bool may_matter() const { return open_files_ > 0 || mount_.delegations().any(); }

  /// If `name` is the last name of a file that is open here and that the server would not keep
  /// without a name, gives it another one. A name to be removed is gone then. A name to be replaced
  /// stays until the replacement, if the server can link files, so that no program finds it missing
  /// in between. Returns that file, or none; where the name is to be replaced, replaced() or
  /// restore() follows. The delegation of a file that is not kept is returned (RFC 8881 section
  /// 10.4.4).
  Task<Result<KeptFile>> keep_if_open(client::Credential caller, InodeRef directory,
                                      std::string name, NameIs next);
  /// The same when the server has just told which file the name leads to.
  Task<Result<KeptFile>> keep(client::Credential caller, InodeRef directory, std::string name,
                              client::Found found, NameIs next);
  /// The file that is in use here and has this silly name; null: none has. `leads_to`: see Place;
  /// where it is empty the server is asked.
  Task<InodeRef> in_use_as(client::Credential caller, InodeRef directory, std::string name,
                           std::optional<InodeRef> leads_to);
  /// A program has given that file another name instead: it stays after the last close.
  void renamed_by_program(Inode& inode, const Inode& directory, std::string_view name);
  /// Whether that is a file that would be kept.
  bool to_be_kept(const client::Found& found) const { return open_file_of(found) != nullptr; }
  /// The name of the kept file is another one's now. Removes the silly name if the file was closed
  /// meanwhile.
  Task<void> replaced(KeptFile kept);
  /// Leaves the kept file with its old name alone, for a rename(2) whose second half failed. Best
  /// effort: a file that does not get its name back keeps the silly one, which is logged.
  Task<void> restore(KeptFile kept, std::string name);
  /// Call when an open of the file has been closed. After the last one removes the silly name, if
  /// it has one. Best effort: a leftover is logged.
  Task<void> after_close(InodeRef inode, std::shared_ptr<OpenInode> open);

  /// Call when the file has a silly name and its last RELEASE has come, whichever was later: a
  /// removal of the directory then waits until the name is gone.
  void announce_removal(OpenInode& open);
  /// How many silly names have gone.
  std::uint64_t removed() const { return removals_.ended(); }
  /// A change of names was refused with `error`. True when a directory was not empty, but may be
  /// empty by now: silly names have gone since removed() was `removed`, before the request. Waits
  /// for closes in flight.
  Task<bool> may_be_empty_now(Error error, std::uint64_t removed);

 private:
  Task<Result<std::string>> free_name(client::Credential caller, InodeRef directory,
                                      InodeRef inode);
  Task<Result<SillyName>> give(client::Credential caller, InodeRef inode, InodeRef directory,
                               std::string name, NameIs next);
  static bool has_name(const Inode& inode, const Inode& directory, std::string_view name);
  InodeRef open_file_of(const client::Found& found) const;
  Task<void> remove(SillyName silly);

  client::Mount& mount_;
  AttributeCache& attributes_;
  const InodeIndex& index_;
  /// The last closes of files with a silly name, from the arrival of RELEASE, or of the removal if
  /// that comes later, until the name is gone. The kernel does not wait for RELEASE: a caller
  /// that closes a removed file and then removes its directory may be ahead.
  InFlightSet removals_;
  std::size_t open_files_ = 0;
  std::uint32_t given_ = 0;
};

}  // namespace nfsrdma::cache
