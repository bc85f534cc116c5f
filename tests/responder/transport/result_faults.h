// Results that are not so, as a rule of the fault script names them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/hostile/spoiled_reply.h"

namespace nfsrdma::responder {

struct ResultFault {
  std::vector<nfs4::nfs_opnum4> of;  ///< results that it can change: one of them must be there
  std::function<void(hostile::SpoiledReply&)> spoil;
};

/// The fault with this name and value; one without `spoil`: there is none.
///
///   result=short:N         READ has N bytes and no end; WRITE has taken N
///   flags=NAME[,NAME...]   SEQUENCE has these flags, too: a number, or names less SEQ4_STATUS_
///   slots=[highest:N][,][target:N]   SEQUENCE answers these; the real slots stay
///   clock=SECONDS          times of files are later by so much
///   lie=NAME               see tests/hostile/lies.h; blanks are hyphens
ResultFault result_fault(std::string_view name, std::string_view value);
/// The names that lie= can have.
std::vector<std::string> lie_names();

}  // namespace nfsrdma::responder
