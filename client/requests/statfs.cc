#include "client/requests/statfs.h"

#include "client/mount.h"
#include "client/proto/ops_attr.h"
#include "client/proto/ops_namespace.h"
#include "client/requests/steps.h"
#include "client/session/session.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

const bitmap4 kStatusAttributes{FATTR4_FILES_AVAIL, FATTR4_FILES_FREE,  FATTR4_FILES_TOTAL,
                                FATTR4_MAXNAME,     FATTR4_SPACE_AVAIL, FATTR4_SPACE_FREE,
                                FATTR4_SPACE_TOTAL};

Result<FileSystemStatus> read_status(CompoundReader& results) {
  TRY(steps::pass<PUTFH4res>(results));
  auto attributes = steps::read_facts(results);
  if (!attributes) return fail_from(attributes);
  TRY(results.finish());
  FileSystemStatus status;
  status.space_total = attributes->space_total;
  status.space_free = attributes->space_free;
  status.space_avail = attributes->space_avail;
  status.files_total = attributes->files_total;
  status.files_free = attributes->files_free;
  status.files_avail = attributes->files_avail;
  if (attributes->has(FATTR4_MAXNAME)) status.max_name = attributes->maxname;
  return status;
}

}  // namespace

Task<Result<FileSystemStatus>> statfs(Mount& mount, Credential caller, FileHandle file) {
  CompoundRef compound = co_await mount.session().compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(GETATTR4args{kStatusAttributes}, max_attributes_size(kStatusAttributes));
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  co_return read_status(compound->results());
}

}  // namespace nfsrdma::client
