#include "client/requests/readlink.h"

#include <cerrno>
#include <string_view>

#include "client/proto/ops_data.h"
#include "client/proto/result_sizes.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

/// Refuses text with a zero byte: programs take it for the end, and would follow another path than
/// the server's.
Result<std::string> checked(std::string_view text) {
  if (text.size() >= nfs4::result_size::kLinkText) {
    return fail(Error::local(ENAMETOOLONG, "READLINK", "the text is too long for a path"));
  }
  if (text.empty() || text.find('\0') != std::string_view::npos) {
    return fail(Error::local(EIO, "READLINK", "the text cannot be a path"));
  }
  return std::string(text);
}

}  // namespace

// No Write chunk, though the text may go in one (RFC 8267 section 6.1): knfsd of Linux 6.1 puts the
// length there, too, and so loses bytes of the text.
Task<Result<std::string>> readlink(RequestContext& context, Credential caller, FileHandle file) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  compound->add(nfs4::READLINK4args{});
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  auto result = steps::read_only<nfs4::READLINK4res>(compound->results());
  CO_TRY(result);
  const auto text = result->resok4.link.data;
  co_return checked({reinterpret_cast<const char*>(text.data()), text.size()});
}

}  // namespace nfsrdma::client
