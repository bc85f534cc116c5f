// An NFSv4.1 mount behind FUSE: memory, transport, client and file system.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "client/mount.h"
#include "client/names/system_names.h"
#include "fuse/daemon/backend.h"
#include "fuse/daemon/client_owner.h"
#include "fuse/daemon/memory_shape.h"
#include "fuse/daemon/seams.h"
#include "fuse/daemon/shutdown_flush.h"
#include "fuse/ops/file_system.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"
#include "fuse/options/options.h"
#include "transport/capture/switch.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/channel_factory.h"
#include "transport/tcp/channel_factory.h"

namespace nfsrdma::fuse {

class NfsBackend final : public Backend {
 public:
  /// The reactor outlives the backend, and so does `seams`; null: nothing is recorded, and this is
  /// no rerun.
  NfsBackend(Reactor& reactor, Options options, Seams* seams = nullptr);
  ~NfsBackend() override;

  /// Resolves the server's name, asks its rpcbind with port=0 (both block), and tries its addresses
  /// one after another.
  Task<Result<void>> start() override;
  Task<Result<void>> stop(Duration patience) override;

  const HandlerTable& handlers() const override { return operations(); }
  void* served() override { return file_system_.get(); }
  BufferPool& slots() override { return *data_slots_; }
  TransferLimits limits() const override;
  TimePoint waiting_since() override { return mount_->waiting_since(); }
  void note_overdue(const PendingRequest& overdue, int error_number) override {
    fuse::note_overdue(*file_system_, overdue, error_number);
  }
  void on_mounted(KernelChannel& channel) override { file_system_->attach(channel); }
  std::string connection() const override { return std::string(channels_->description()); }
  void visit_counters(CounterVisitor& visitor) const override;
  void report_requests(const LineSink& line) override;
  std::uint64_t report_ended(std::uint64_t after, const LineSink& line) override;
  void report_state(const LineSink& line) override;
  void reconnect() override;
  std::size_t return_delegations() override;
  std::size_t drop_caches() override;
  Result<void> start_capture(std::vector<UniqueFd> files, const CaptureTerms& terms) override;
  void stop_capture() override;
  bool capturing() const override;
  void watch_callers(std::function<bool(Origin)> gone) override { caller_gone_ = std::move(gone); }

 private:
  Result<void> reserve_memory();
  void take_owner();
  Task<Result<void>> start_from_recording();
  Task<Result<void>> start_at(fabric::Address address);
  Task<Result<void>> start_with(fabric::Address address, Provider provider);
  Task<Result<void>> start_mount(fabric::Address address, Provider provider);
  MemoryShape wanted_shape() const;
  void note_memory_limit() const;
  client::MountConfig mount_config() const;
  Result<void> make_memory_and_channels(const fabric::Address& server, Provider provider);
  Result<void> make_channels(const fabric::Address& server, Provider provider);
  void enter_now(std::string_view word, const std::function<void()>& go);
  std::unique_ptr<rpc::ChannelFactory> recorded(std::unique_ptr<rpc::ChannelFactory> channels,
                                                const fabric::Address& server);
  Result<void> start_own_capture();
  capture::Switch& capture_of(CaptureView view) {
    return captures_[static_cast<std::size_t>(view)];
  }
  rdma::Options rdma_options();
  tcp::Options tcp_options();

  Reactor& outside_;  ///< of connections and of what else no rerun repeats
  Seams* const seams_;
  Reactor& reactor_;  ///< of everything else
  const Options options_;
  MemoryShape shape_;
  MemoryShape reserved_;  // what the pools were made for
  const std::unique_ptr<client::SystemNames> system_names_;
  client::NameService& names_;
  // Destroyed from the last to the first: what uses memory goes before the memory.
  std::unique_ptr<BufferPool> data_slots_;
  std::unique_ptr<BufferPool> message_slots_;
  std::unique_ptr<BufferPool> reply_slots_;
  std::array<capture::Switch, kCaptureViews> captures_;  // by view; one is on at most
  std::function<bool(Origin)> caller_gone_;
  std::unique_ptr<rpc::ChannelFactory> channels_;
  std::unique_ptr<fabric::Fabric> fabric_;  // null with proto=tcp
  std::unique_ptr<ClientOwner> owner_;      // null: a new one is made for each mount_
  std::unique_ptr<client::Mount> mount_;
  std::unique_ptr<FileSystem> file_system_;
  std::unique_ptr<ShutdownFlush> shutdown_flush_;
};

}  // namespace nfsrdma::fuse
