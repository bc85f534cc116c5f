// Finds the open Call that a reply belongs to. Chained buckets through the contexts themselves:
// adding and removing allocate nothing.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/rpc/call_context.h"

namespace nfsrdma::rpc {

class XidTable {
 public:
  /// For about `calls` open at once.
  explicit XidTable(std::size_t calls) : buckets_(std::bit_ceil(calls + 1)) {}

  void add(CallContext& context) {
    assert(!find(context.call->xid) && "two open calls with one XID");
    CallContext*& head = bucket(context.call->xid);
    context.next_in_bucket = head;
    head = &context;
  }
  CallContext* find(std::uint32_t xid) {
    CallContext* context = bucket(xid);
    while (context && context->call->xid != xid) context = context->next_in_bucket;
    return context;
  }
  void remove(CallContext& context) {
    CallContext** link = &bucket(context.call->xid);
    while (*link != &context) link = &(*link)->next_in_bucket;
    *link = context.next_in_bucket;
    context.next_in_bucket = nullptr;
  }

 private:
  CallContext*& bucket(std::uint32_t xid) { return buckets_[xid & (buckets_.size() - 1)]; }

  std::vector<CallContext*> buckets_;
};

}  // namespace nfsrdma::rpc
