// A mount of a hostile server: kernel's requests above, real connections below, on one thread and
// in virtual time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/mount.h"
#include "fuse/ops/file_system.h"
#include "fuse/ops/operations.h"
#include "tests/client/fake_mount.h"
#include "tests/faults/fabric_fault.h"
#include "tests/fuse/channel/fake_kernel.h"
#include "tests/hostile/hostile_service.h"
#include "tests/hostile/killable_caller.h"
#include "tests/hostile/middleman.h"
#include "tests/hostile/over.h"
#include "tests/hostile/socket_reactor.h"
#include "tests/responder/fabric/listening_fabric.h"
#include "tests/responder/nfs/nfs_service.h"
#include "tests/responder/transport/responder.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::hostile {

using fuse::test::Answer;

const char* name_of(Over over);

struct HostileOptions {
  Over over = Over::tcp;
  responder::DelegationKind delegations = responder::DelegationKind::none;
  bool cached = false;         ///< attributes and names are believed as long as by default
  MakeMiddleman between = {};  ///< stands between client and server; empty: nothing does
  /// Over iwarp: what goes wrong at the client's side of the fabric; outlives the mount.
  faults::FabricScript* client_script = nullptr;
  bool wire_faults = false;  ///< rules of the responder's script may be of the wire
};

/// How a request ended.
struct Ended {
  Answer answer;
  bool answered = false;  ///< before its caller was killed
  bool released = false;  ///< after that
};

/// Everything, in the order that destruction asks for.
class HostileMount {
 public:
  explicit HostileMount(HostileOptions options = {});
  ~HostileMount();

  /// Mounts; the error when that fails.
  Result<void> start();
  /// Ends it as the daemon does at an unmount.
  void stop();

  HostileService& server() { return *hostile_; }
  /// Nothing goes wrong from now on.
  void lift();
  /// How often the rules of the responder's script had fired when lift() took them away.
  std::uint64_t faults_met() const { return faults_met_; }
  /// What the middleman has found; empty: nothing, or there is none.
  std::string harm();
  responder::NfsService& honest() { return *service_; }
  SocketReactor& reactor() { return reactor_; }
  client::Mount& mount() { return *mount_; }
  fuse::FileSystem& file_system() { return *fs_; }
  fuse::test::FakeKernel& kernel() { return *kernel_; }
  responder::Responder& responder() { return *responder_; }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  void write_file(const std::string& name, const std::string& text) const;
  std::string read_file(const std::string& name) const;
  bool exists(const std::string& name) const;

  /// Longer than any request takes that an honest server answers.
  static constexpr Duration kPatience = std::chrono::seconds(20);
  /// How long a killed caller may be kept.
  static constexpr Duration kRelease = std::chrono::seconds(2);
  /// A call whose reply was lost is sent again after 180 s, when that is noticed (OverdueCalls);
  /// whatever else was lost has been recovered by then.
  static constexpr Duration kRecovery = std::chrono::seconds(240);

  template <class... Parts>
  std::uint64_t begin(std::uint32_t opcode, std::uint64_t node, const Parts&... parts) {
    return kernel_->send_request(opcode, node, parts...);
  }
  /// Waits for the answer; a caller that waits for longer than `patience` is killed.
  Ended end(std::uint64_t unique, Duration patience = kPatience);
  /// The same for a request that an honest server has to answer.
  Answer honest_end(std::uint64_t unique);
  template <class... Parts>
  Answer ask(std::uint32_t opcode, std::uint64_t node, const Parts&... parts) {
    return honest_end(begin(opcode, node, parts...));
  }
  /// Until nothing runs any more. False when that does not come.
  bool become_idle();

  std::uint64_t delegations() const;
  /// NFS requests that have not ended: their operations, for messages.
  std::string in_flight();
  /// What must not grow: "counter value", joined.
  std::string footprint() const;

  template <class T>
  T run(Task<T> task) {
    client::test::Pending<T> pending(std::move(task));
    const bool ended = reactor_.run_until([&] { return pending.done(); }, std::chrono::hours(1));
    EXPECT_TRUE(ended) << "the task hangs";
    if (!ended) std::abort();
    return std::move(pending.value());
  }

 private:
  void make_server();
  void make_channels();

  const HostileOptions options_;
  SocketReactor reactor_;
  std::string directory_;
  std::unique_ptr<responder::ResponderPools> responder_pools_;
  std::unique_ptr<fabric::ListeningFabric> server_fabric_;
  std::unique_ptr<responder::NfsService> service_;
  std::unique_ptr<HostileService> hostile_;
  std::unique_ptr<responder::Responder> responder_;
  net::Address address_;
  std::unique_ptr<Middleman> middleman_;
  std::unique_ptr<BufferPool> messages_;
  std::unique_ptr<BufferPool> data_;
  std::unique_ptr<BufferPool> replies_;
  std::unique_ptr<rpc::ChannelFactory> channels_;
  std::function<std::size_t()> calls_in_use_;  ///< of the iwarp transport
  std::uint64_t faults_met_ = 0;
  std::vector<std::span<std::byte>> lent_;                 ///< memory that the transport uses
  std::unique_ptr<fabric::ListeningFabric> inner_fabric_;  ///< below what client_script does
  std::unique_ptr<fabric::Fabric> fabric_;
  std::unique_ptr<client::Mount> mount_;
  std::unique_ptr<fuse::FileSystem> fs_;
  std::unique_ptr<KillableCaller> caller_;
  std::unique_ptr<fuse::test::FakeKernel> kernel_;
};

}  // namespace nfsrdma::hostile
