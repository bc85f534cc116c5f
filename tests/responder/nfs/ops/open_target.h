// The file that OPEN opens: found, or made in one of the four ways (RFC 8881 section 18.16.3).
#pragma once

#include "tests/responder/nfs/compound_context.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::responder {

struct OpenTarget {
  FoundFile found;
  UniqueFd made;          ///< of a file that was created; opened for `access`
  nfs4::bitmap4 attrset;  ///< what creation set
  bool truncate = false;  ///< UNCHECKED4 with size 0 found an existing file
  bool retried = false;   ///< an exclusive create that had been executed before
};

/// An existing file by name.
Outcome<OpenTarget> find_target(CompoundContext& context, const Component& name);
/// As `how` says. `access` is OPEN4_SHARE_ACCESS_*.
Outcome<OpenTarget> create_target(CompoundContext& context, const Component& name,
                                  const nfs4::createhow4& how, std::uint32_t access);

}  // namespace nfsrdma::responder
