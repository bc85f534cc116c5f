// Names of the protocol that may stand where a number does.
#include <array>

#include "tests/lab/text/parse.h"
#include "tests/proto/operations.h"

namespace nfsrdma::lab {
namespace {

struct Constant {
  std::string_view name;
  std::uint64_t value;
};

#define NAMED(name) \
  Constant { #name, nfs4::name }

constexpr std::array kConstants = {
    NAMED(ACCESS4_READ),
    NAMED(ACCESS4_LOOKUP),
    NAMED(ACCESS4_MODIFY),
    NAMED(ACCESS4_EXTEND),
    NAMED(ACCESS4_DELETE),
    NAMED(ACCESS4_EXECUTE),
    NAMED(OPEN4_SHARE_ACCESS_READ),
    NAMED(OPEN4_SHARE_ACCESS_WRITE),
    NAMED(OPEN4_SHARE_ACCESS_BOTH),
    NAMED(OPEN4_SHARE_DENY_NONE),
    NAMED(OPEN4_SHARE_DENY_READ),
    NAMED(OPEN4_SHARE_DENY_WRITE),
    NAMED(OPEN4_SHARE_DENY_BOTH),
    NAMED(OPEN4_SHARE_ACCESS_WANT_READ_DELEG),
    NAMED(OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG),
    NAMED(OPEN4_SHARE_ACCESS_WANT_ANY_DELEG),
    NAMED(OPEN4_SHARE_ACCESS_WANT_NO_DELEG),
    NAMED(OPEN4_NOCREATE),
    NAMED(OPEN4_CREATE),
    NAMED(UNCHECKED4),
    NAMED(GUARDED4),
    NAMED(EXCLUSIVE4),
    NAMED(EXCLUSIVE4_1),
    NAMED(CLAIM_NULL),
    NAMED(CLAIM_PREVIOUS),
    NAMED(CLAIM_DELEGATE_CUR),
    NAMED(CLAIM_DELEGATE_PREV),
    NAMED(CLAIM_FH),
    NAMED(CLAIM_DELEG_CUR_FH),
    NAMED(CLAIM_DELEG_PREV_FH),
    NAMED(OPEN_DELEGATE_NONE),
    NAMED(OPEN_DELEGATE_READ),
    NAMED(OPEN_DELEGATE_WRITE),
    NAMED(OPEN_DELEGATE_NONE_EXT),
    NAMED(EXCHGID4_FLAG_SUPP_MOVED_REFER),
    NAMED(EXCHGID4_FLAG_SUPP_MOVED_MIGR),
    NAMED(EXCHGID4_FLAG_BIND_PRINC_STATEID),
    NAMED(EXCHGID4_FLAG_USE_NON_PNFS),
    NAMED(EXCHGID4_FLAG_USE_PNFS_MDS),
    NAMED(EXCHGID4_FLAG_USE_PNFS_DS),
    NAMED(EXCHGID4_FLAG_UPD_CONFIRMED_REC_A),
    NAMED(EXCHGID4_FLAG_CONFIRMED_R),
    NAMED(CREATE_SESSION4_FLAG_PERSIST),
    NAMED(CREATE_SESSION4_FLAG_CONN_BACK_CHAN),
    NAMED(CREATE_SESSION4_FLAG_CONN_RDMA),
    NAMED(SEQ4_STATUS_CB_PATH_DOWN),
    NAMED(SEQ4_STATUS_CB_PATH_DOWN_SESSION),
    NAMED(SEQ4_STATUS_BACKCHANNEL_FAULT),
    NAMED(SEQ4_STATUS_RESTART_RECLAIM_NEEDED),
    NAMED(SEQ4_STATUS_ADMIN_STATE_REVOKED),
    NAMED(SEQ4_STATUS_RECALLABLE_STATE_REVOKED),
    NAMED(CDFC4_FORE),
    NAMED(CDFC4_BACK),
    NAMED(CDFC4_FORE_OR_BOTH),
    NAMED(CDFC4_BACK_OR_BOTH),
    NAMED(UNSTABLE4),
    NAMED(DATA_SYNC4),
    NAMED(FILE_SYNC4),
    NAMED(NF4REG),
    NAMED(NF4DIR),
    NAMED(NF4BLK),
    NAMED(NF4CHR),
    NAMED(NF4LNK),
    NAMED(NF4SOCK),
    NAMED(NF4FIFO),
    NAMED(READ_LT),
    NAMED(WRITE_LT),
    NAMED(READW_LT),
    NAMED(WRITEW_LT),
    NAMED(SECINFO_STYLE4_CURRENT_FH),
    NAMED(SECINFO_STYLE4_PARENT),
    NAMED(SP4_NONE),
    NAMED(SP4_MACH_CRED),
    NAMED(SP4_SSV),
    NAMED(NFS4_UINT64_MAX),
};

#undef NAMED

std::optional<std::uint64_t> one_constant(std::string_view word) {
  if (const auto number = to_number(word)) return number;
  for (const Constant& each : kConstants) {
    if (each.name == word) return each.value;
  }
  for (const nfs4::nfsstat4 status : nfs4::all_statuses()) {
    if (nfs4::status_name(status) == word) return status;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> to_constant(std::string_view word) {
  std::uint64_t sum = 0;
  for (;;) {
    const std::size_t bar = std::min(word.find('|'), word.size());
    const auto part = one_constant(word.substr(0, bar));
    if (!part) return std::nullopt;
    sum |= *part;
    if (bar == word.size()) return sum;
    word.remove_prefix(bar + 1);
  }
}

}  // namespace nfsrdma::lab
