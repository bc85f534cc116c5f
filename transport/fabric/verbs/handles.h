// Owners of what librdmacm and libibverbs hand out.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <memory>

namespace nfsrdma::fabric::verbs {

struct Releaser {
  // Each of these fails only while something made of the object still exists, which the order of
  // destruction in this folder rules out.
  void operator()(ibv_pd* domain) const { (void)::ibv_dealloc_pd(domain); }
  void operator()(ibv_comp_channel* channel) const { (void)::ibv_destroy_comp_channel(channel); }
  void operator()(ibv_cq* queue) const { (void)::ibv_destroy_cq(queue); }
  void operator()(ibv_mr* region) const { (void)::ibv_dereg_mr(region); }
  void operator()(ibv_mw* window) const { (void)::ibv_dealloc_mw(window); }
  void operator()(rdma_event_channel* channel) const { ::rdma_destroy_event_channel(channel); }
  void operator()(rdma_cm_id* id) const { (void)::rdma_destroy_id(id); }
};

using ProtectionDomain = std::unique_ptr<ibv_pd, Releaser>;
using CompletionChannel = std::unique_ptr<ibv_comp_channel, Releaser>;
using CompletionQueueHandle = std::unique_ptr<ibv_cq, Releaser>;
using RegionHandle = std::unique_ptr<ibv_mr, Releaser>;
using WindowHandle = std::unique_ptr<ibv_mw, Releaser>;
using EventChannelHandle = std::unique_ptr<rdma_event_channel, Releaser>;
using ConnectionId = std::unique_ptr<rdma_cm_id, Releaser>;

}  // namespace nfsrdma::fabric::verbs
