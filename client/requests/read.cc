#include "client/requests/read.h"

#include <algorithm>
#include <cerrno>

#include "client/compound/read_locator.h"
#include "client/proto/ops_data.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

Result<ReadData> read_data(Compound& compound, const nfs4::READ4res& result, std::size_t asked) {
  const xdr::Payload& payload = result.resok4.data;
  if (payload.data.size() > asked) {
    return fail(Error{Layer::decode, static_cast<int>(xdr::Fault::too_long), "READ",
                      "more data than was asked for"});
  }
  if (payload.data.empty() && !result.resok4.eof) {
    // Taken for the end of the file it would cut the file short without a word; asked again it may
    // come for ever.
    return fail(Error::local(EIO, "READ", "the server sent neither data nor the end of the file"));
  }
  return ReadData{compound.take_reply(), payload.data, result.resok4.eof, payload.placed};
}

void offer(Compound& compound, ReadSink sink) {
  compound.call().result_sink = sink.bytes;
  const std::size_t pad = xdr::pad_of(sink.bytes.size());
  if (pad <= sink.room) compound.call().sink_pad = pad;
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
  compound->add(nfs4::READ4args{nfs4::kAnonymousStateid, offset, count});
  compound->set_divisible();
  offer(*compound, {sink, room});
  compound->call().locator = &kReadLocator;
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto result = steps::read_only<nfs4::READ4res>(compound->results());
  CO_TRY(result);
  co_return read_data(*compound, *result, sink.size());
}

}  // namespace

void add_read(Compound& compound, ReadSink sink) {
  const auto count = static_cast<nfs4::count4>(sink.bytes.size());
  compound.add(nfs4::READ4args{nfs4::kCurrentStateid, 0, count});
  offer(compound, sink);
}

Result<ReadData> take_read(Compound& compound, std::size_t asked) {
  nfs4::READ4res result;
  TRY(compound.results().read(result));
  TRY(compound.results().finish());
  return read_data(compound, result, asked);
}

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
