// The table of faults and operations: what its cells are made of.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <tuple>

#include "client/files/lock.h"
#include "client/requests/create.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {

inline constexpr const char* kContent = "content of the file";

inline const ByteRange kLocked{10, 19};
inline const WantedLock kWantedLock{
    .owner = {LockKind::posix, 7}, .pid = 1, .range = kLocked, .exclusive = true};

class FaultTable;

enum class Kind {
  query,     ///< changes nothing: its reply need not be kept, it may be executed twice
  harmless,  ///< a change that may be made again when the server has forgotten its reply
  once,      ///< a change that must be made exactly once
  lock_use,  ///< of a lock held before: fails, as the lock is lost, when the server has forgotten
             ///< the lock
};

/// A class of operations.
struct Operation {
  const char* name;
  nfs4::nfs_opnum4 opnum;  ///< which operation of the COMPOUND the fault is aimed at
  Kind kind;
  Task<Result<void>> (*run)(FaultTable* table);
  bool (*done)(FaultTable& table);  ///< whether its effect is there, once
};

inline void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

/// What goes wrong while the operation is in flight.
struct Fault {
  const char* name;
  bool forgets_replies;  ///< the server cannot tell a repetition from a new request
  bool forgets_locks;    ///< and no client may reclaim them
  void (*arm)(FaultTable& table);
};

inline void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class FaultTable : public ServedMount,
                   public ::testing::WithParamInterface<std::tuple<Operation, Fault>> {
 public:
  explicit FaultTable(responder::DelegationKind delegations = {}) : ServedMount(delegations) {}
  const Operation& operation() const { return std::get<0>(GetParam()); }
  ServedDirectory& server() { return server_; }
  VirtualReactor& reactor() { return reactor_; }
  Mount& here() { return mount(); }
  Credential who() const { return caller(); }
  FileHandle file() const { return handle_; }
  StateRef state() const { return kept_->open.state(); }
  OpenFileRef locked_file() const { return locked_->open.file(); }
  /// Another owner on this mount asks the server.
  bool locked_at_server() {
    const WantedLock other{.owner = {LockKind::posix, 99}, .range = kLocked, .exclusive = true};
    auto conflict = run(test_lock(mount(), locked_file(), other));
    return conflict && conflict->has_value();
  }
  OpenRef take_closing() { return std::move(closing_->open); }
  Buffer& buffer() { return buffer_; }
  std::string& text() { return text_; }
  /// The fault strikes once, when the operation's call arrives.
  bool strikes(const Arrival& arrival) {
    return !struck_ && arrival.has(operation().opnum) && (struck_ = true);
  }
  void note_end_of_outage() { outage_ended_ = reactor_.now(); }

 protected:
  void SetUp() override {
    ServedMount::SetUp();
    server_.write_file("file", kContent);
    server_.write_file("other", "other");
    server_.write_file("closing", "closing");
    server_.write_file("short", "four");
    server_.write_file("locked", "locked");
    kept_ = open_file("file", nfs4::OPEN4_SHARE_ACCESS_BOTH);
    locked_ = open_file("locked", nfs4::OPEN4_SHARE_ACCESS_BOTH);
    handle_ = kept_->handle;
    closing_ = open_file("closing", nfs4::OPEN4_SHARE_ACCESS_READ);
    buffer_ = data_->acquire();
    ASSERT_TRUE(run(make_symlink(mount(), caller(), root(), "pointer", "target")));
    if (operation().kind == Kind::lock_use) {
      ASSERT_TRUE(run(client::lock(mount(), locked_file(), kWantedLock)));
    }
    before_ = server_.successes_of(operation().opnum);
  }
  void TearDown() override {
    buffer_ = {};
    kept_.reset();
    locked_.reset();
    closing_.reset();
    reactor_.settle();
    ServedMount::TearDown();
  }

  void check_cell();
  void check_the_rest(TimePoint begun);

  std::optional<Opened> kept_;
  std::optional<Opened> locked_;
  std::optional<Opened> closing_;
  FileHandle handle_;
  Buffer buffer_;
  std::string text_;
  int before_ = 0;
  bool struck_ = false;
  TimePoint outage_ended_{0};
};

/// The rows and the columns.
std::span<const Operation> operations_of_table();
/// Further rows, for files that are delegated.
std::span<const Operation> operations_of_delegations();
std::span<const Fault> faults_of_table();

}  // namespace nfsrdma::client::test
