// Replies that are well formed, and say what cannot be, or what is not so.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "client/proto/attributes.h"
#include "tests/hostile/spoiled_reply.h"

namespace nfsrdma::hostile {

struct Lie {
  const char* name;
  nfs4::nfs_opnum4 opnum;  ///< of the result that has it
  void (*spoil)(SpoiledReply& reply);
  /// Whether no client can see that it is one.
  bool deceives = false;
};

std::span<const Lie> lies_of_attributes();
std::span<const Lie> lies_of_names();
std::span<const Lie> lies_of_data();
std::span<const Lie> lies_of_state();
std::span<const Lie> lies_of_sessions();
/// All of these.
std::vector<Lie> all_lies();

/// Changes the attributes in each result of GETATTR, or those of each entry of READDIR.
void change_attributes(SpoiledReply& reply, const std::function<void(nfs4::Attributes&)>& change);
void change_entries(SpoiledReply& reply, const std::function<void(nfs4::Attributes&)>& change);

}  // namespace nfsrdma::hostile
