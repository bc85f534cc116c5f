#include "client/requests/write.h"

#include <algorithm>

#include "client/proto/ops_attr.h"
#include "client/proto/ops_data.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

void add_data_attributes(Compound& compound) {
  compound.add(nfs4::GETATTR4args{steps::kDataAttributes});
}

Result<Written> read_written(CompoundReader& results, std::size_t asked) {
  TRY(steps::pass<nfs4::PUTFH4res>(results));
  auto change_before = steps::read_change_before(results);
  if (!change_before) return fail_from(change_before);
  nfs4::WRITE4res result;
  TRY(results.read(result));
  const nfs4::WRITE4resok& ok = result.resok4;
  if (ok.count > asked || (ok.count == 0 && asked > 0)) {
    return fail(Error{Layer::decode, static_cast<int>(xdr::Fault::unexpected), "WRITE",
                      "a count that no WRITE can have"});
  }
  Written written{ok.count, ok.committed, ok.writeverf, std::nullopt, *change_before};
  // WRITE has succeeded even if the GETATTR behind it fails.
  auto attributes = steps::read_facts(results);
  if (attributes && results.finish()) written.attributes = *attributes;
  return written;
}

/// One WRITE of all of `data`.
Task<Result<Written>> write_once(RequestContext& context, Credential caller, FileHandle file,
                                 StateRef state, std::uint64_t offset,
                                 std::span<const std::byte> data, nfs4::stable_how4 stable) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  steps::add_change_before(*compound);
  nfs4::WRITE4args args;
  args.offset = offset;
  args.stable = stable;
  args.data.data = data;
  compound->use_state(std::move(state));
  compound->add(args);
  compound->set_divisible();
  add_data_attributes(*compound);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  co_return read_written(compound->results(), data.size());
}

}  // namespace

Task<Result<Written>> write(RequestContext& context, Credential caller, FileHandle file,
                            StateRef state, std::uint64_t offset, std::span<const std::byte> data,
                            nfs4::stable_how4 stable) {
  for (int sizes = 1;; ++sizes) {
    const auto part =
        data.first(std::min<std::size_t>(data.size(), context.session.limits().wsize));
    auto written = co_await write_once(context, caller, file, state, offset, part, stable);
    if (written || !is_too_large(written.error()) || sizes == kMaxSizes) co_return written;
  }
}

}  // namespace nfsrdma::client
