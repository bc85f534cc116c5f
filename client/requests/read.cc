#include "client/requests/read.h"

#include <algorithm>
#include <cerrno>

#include "client/compound/read_locator.h"
#include "client/compound/result_sizes.h"
#include "client/proto/ops_data.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

Result<ReadData> read_data(Compound& compound, std::size_t asked) {
  auto result = steps::read_only<nfs4::READ4res>(compound.results());
  if (!result) return fail_from(result);
  const xdr::Payload& payload = result->resok4.data;
  if (payload.data.size() > asked) {
    return fail(Error{Layer::decode, static_cast<int>(xdr::Fault::too_long), "READ",
                      "more data than was asked for"});
  }
  if (payload.data.empty() && !result->resok4.eof) {
    // Taken for the end of the file it would cut the file short without a word; asked again it may
    // come for ever.
    return fail(Error::local(EIO, "READ", "the server sent neither data nor the end of the file"));
  }
  return ReadData{compound.take_reply(), payload.data, result->resok4.eof, payload.placed};
}

/// One READ of as much as fits `sink`.
Task<Result<ReadData>> read_once(RequestContext& context, Credential caller, FileHandle file,
                                 StateRef state, std::uint64_t offset, std::span<std::byte> sink,
                                 std::size_t room) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  const auto count = static_cast<nfs4::count4>(sink.size());
  steps::add_handle(*compound, file);
  compound->use_state(std::move(state));
  compound->add(nfs4::READ4args{nfs4::kAnonymousStateid, offset, count}, result_size::kRead);
  compound->set_divisible();
  compound->call().result_sink = sink;
  if (xdr::pad_of(sink.size()) <= room) compound->call().sink_pad = xdr::pad_of(sink.size());
  compound->call().locator = &kReadLocator;
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  co_return read_data(*compound, sink.size());
}

}  // namespace

Task<Result<ReadData>> read(RequestContext& context, Credential caller, FileHandle file,
                            StateRef state, std::uint64_t offset, std::span<std::byte> sink,
                            std::size_t room) {
  for (int sizes = 1;; ++sizes) {
    const auto part =
        sink.first(std::min<std::size_t>(sink.size(), context.session.limits().rsize));
    auto data = co_await read_once(context, caller, file, state, offset, part,
                                   sink.size() - part.size() + room);
    if (data || !is_too_large(data.error()) || sizes == kMaxSizes) co_return data;
  }
}

}  // namespace nfsrdma::client
