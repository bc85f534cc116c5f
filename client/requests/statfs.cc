#include "client/requests/statfs.h"

#include "client/requests/getattr.h"

namespace nfsrdma::client {

Task<Result<FileSystemStatus>> statfs(RequestContext& context, Credential caller, FileHandle file) {
  using namespace nfs4;
  static const bitmap4 kWanted{FATTR4_FILES_AVAIL, FATTR4_FILES_FREE,  FATTR4_FILES_TOTAL,
                               FATTR4_MAXNAME,     FATTR4_SPACE_AVAIL, FATTR4_SPACE_FREE,
                               FATTR4_SPACE_TOTAL};
  auto attributes = co_await get_facts(context, caller, file, kWanted);
  CO_TRY(attributes);
  FileSystemStatus status;
  status.space_total = attributes->space_total;
  status.space_free = attributes->space_free;
  status.space_avail = attributes->space_avail;
  status.files_total = attributes->files_total;
  status.files_free = attributes->files_free;
  status.files_avail = attributes->files_avail;
  if (attributes->has(FATTR4_MAXNAME)) status.max_name = attributes->maxname;
  co_return status;
}

}  // namespace nfsrdma::client
