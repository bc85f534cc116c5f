// Replies that are not what COMPOUND4res allows, or not what was asked: ways to spoil any of them.
#pragma once

#include <span>

#include "tests/hostile/spoiled_reply.h"

namespace nfsrdma::hostile {

struct Shape {
  const char* name;
  /// `opnum`: of the result that it is aimed at.
  void (*spoil)(SpoiledReply& reply, nfs4::nfs_opnum4 opnum);
  /// Whether no client can see that it is wrong.
  bool deceives = false;
};

std::span<const Shape> shapes();

}  // namespace nfsrdma::hostile
