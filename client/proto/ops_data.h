// File contents: operations of RFC 8881 sections 18.3, 18.22, 18.24 and 18.32. The Payload members
// (and createtype4.linkdata) are all that RFC 8267 section 6.1 lets travel by RDMA.
#pragma once

#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

// READ, WRITE, COMMIT

struct READ4args {
  static constexpr nfs_opnum4 opnum = OP_READ;
  stateid4 stateid;
  offset4 offset = 0;
  count4 count = 0;

  static void fields(auto& self, auto& visit) {
    visit("stateid", self.stateid);
    visit("offset", self.offset);
    visit("count", self.count);
  }
};

struct READ4resok {
  bool eof = false;
  Payload data;  ///< DDP-eligible

  static void fields(auto& self, auto& visit) {
    visit("eof", self.eof);
    visit("data", self.data, kMaxData);
  }
};

using READ4res = StatusOr<OP_READ, READ4resok>;

enum stable_how4 : std::uint32_t { UNSTABLE4 = 0, DATA_SYNC4 = 1, FILE_SYNC4 = 2 };
constexpr bool is_defined(stable_how4 stable) { return stable <= FILE_SYNC4; }

struct WRITE4args {
  static constexpr nfs_opnum4 opnum = OP_WRITE;
  stateid4 stateid;
  offset4 offset = 0;
  stable_how4 stable = UNSTABLE4;
  Payload data;  ///< DDP-eligible

  static void fields(auto& self, auto& visit) {
    visit("stateid", self.stateid);
    visit("offset", self.offset);
    visit("stable", self.stable);
    visit("data", self.data, kMaxData);
  }
};

struct WRITE4resok {
  count4 count = 0;
  stable_how4 committed = UNSTABLE4;
  verifier4 writeverf{};

  static void fields(auto& self, auto& visit) {
    visit("count", self.count);
    visit("committed", self.committed);
    visit("writeverf", self.writeverf);
  }
};

using WRITE4res = StatusOr<OP_WRITE, WRITE4resok>;

struct COMMIT4args {
  static constexpr nfs_opnum4 opnum = OP_COMMIT;
  offset4 offset = 0;
  count4 count = 0;

  static void fields(auto& self, auto& visit) {
    visit("offset", self.offset);
    visit("count", self.count);
  }
};

struct COMMIT4resok {
  verifier4 writeverf{};

  static void fields(auto& self, auto& visit) { visit("writeverf", self.writeverf); }
};

using COMMIT4res = StatusOr<OP_COMMIT, COMMIT4resok>;

// READLINK

using READLINK4args = EmptyArgs<OP_READLINK>;

struct READLINK4resok {
  Payload link;  ///< DDP-eligible

  static void fields(auto& self, auto& visit) { visit("link", self.link, kMaxLinkText); }
};

using READLINK4res = StatusOr<OP_READLINK, READLINK4resok>;

}  // namespace nfsrdma::nfs4
