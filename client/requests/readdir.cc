#include "client/requests/readdir.h"

#include <algorithm>

#include "client/names/id_map.h"
#include "client/requests/steps.h"
#include "client/session/limits.h"
#include "client/session/request_context.h"
#include "transport/base/log_limit.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

/// Bytes that an entry's name and cookie take of the reply, as a share of the whole, when its
/// attributes come with it: dircount is a hint in names, maxcount the bound of everything.
constexpr std::uint32_t kNamesShare = 8;

bitmap4 wanted_attributes(bool with_attributes) {
  bitmap4 wanted{FATTR4_RDATTR_ERROR, FATTR4_FILEID, FATTR4_MOUNTED_ON_FILEID, FATTR4_TYPE};
  if (with_attributes) wanted = wanted | steps::kObjectAttributes | bitmap4{FATTR4_FILEHANDLE};
  return wanted;
}

/// Longer names are no file system's, and one of them would make the kernel refuse the whole
/// listing (FUSE_NAME_MAX).
constexpr std::size_t kLongestName = 1024;

/// A name that no directory can have: the server must not lead its callers elsewhere.
bool impossible(std::string_view name) {
  return name.empty() || name == "." || name == ".." || name.size() > kLongestName ||
         name.find_first_of(std::string_view("/\0", 2)) != std::string_view::npos;
}

Result<Entry> make_entry(RequestContext& context, const entry4& from, bool with_attributes,
                         OwnerNames& names) {
  Entry entry;
  entry.cookie = from.cookie;
  entry.name = from.name;
  auto attributes = decode_attributes(from.attrs);
  if (!attributes) return fail_from(attributes);
  context.ids.resolve(*attributes, names);
  entry.attributes = *attributes;
  if (attributes->has(FATTR4_FILEHANDLE)) entry.handle = attributes->filehandle;
  const bool failed = attributes->has(FATTR4_RDATTR_ERROR) && attributes->rdattr_error != NFS4_OK;
  entry.has_attributes = with_attributes && !failed && entry.handle.length > 0 &&
                         attributes->has(FATTR4_TYPE) && attributes->has(FATTR4_FILEID);
  return entry;
}

Result<DirectoryPage> read_page(RequestContext& context, CompoundReader& results,
                                std::uint64_t cookie, bool with_attributes, OwnerNames& names) {
  TRY(steps::pass<PUTFH4res>(results));
  auto change = steps::read_change_before(results);
  if (!change) return fail_from(change);
  READDIR4res result;
  TRY(results.read(result));
  TRY(results.finish());
  DirectoryPage page;
  page.change = *change;
  page.verifier = result.resok4.cookieverf;
  page.eof = result.resok4.reply.eof;
  page.last_cookie = cookie;
  page.entries.reserve(result.resok4.reply.entries.size());
  for (const entry4& entry : result.resok4.reply.entries) {
    page.last_cookie = entry.cookie;
    if (impossible(entry.name)) {
      ++page.left_out;
      continue;
    }
    auto made = make_entry(context, entry, with_attributes, names);
    if (!made) return fail_from(made);
    page.entries.push_back(std::move(*made));
  }
  if (page.left_out > 0) {
    context.impossible_name_lines.warning(
        context.reactor.now(), "READDIR: the server sent {} impossible names; they are left out",
        page.left_out);
  }
  return page;
}

struct Question {
  std::uint64_t cookie;
  verifier4 verifier;
  std::uint32_t maxcount;
  bool with_attributes;
};

Task<Result<DirectoryPage>> ask(RequestContext& context, Credential caller, FileHandle dir,
                                Question question) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, dir);
  steps::add_change_before(*compound);
  READDIR4args args;
  args.cookie = question.cookie;
  args.cookieverf = question.verifier;
  args.maxcount = question.maxcount;
  args.dircount = question.with_attributes ? question.maxcount / kNamesShare : question.maxcount;
  args.attr_request = wanted_attributes(question.with_attributes);
  compound->add(args);
  compound->set_divisible();
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  OwnerNames names;
  auto page =
      read_page(context, compound->results(), question.cookie, question.with_attributes, names);
  compound.reset();
  if (!page || !names.pending()) co_return page;
  co_await names.wait();
  for (Entry& entry : page->entries) names.fill(entry.attributes);
  co_return page;
}

/// Least inline reply that is worth a page: about fifty entries with attributes.
constexpr std::size_t kLeastInlinePage = 12 * 1024;

std::uint32_t largest_page(const Session& session) {
  return session.limits().max_response - kMessageOverhead;
}

/// The first page is as large as a reply without memory for a long one: most directories fit, and
/// the others cost one request more.
std::uint32_t first_page(const Session& session, std::uint32_t max_bytes) {
  const std::size_t room = session.max_inline_reply();
  if (room < kLeastInlinePage) return max_bytes;
  return static_cast<std::uint32_t>(std::min<std::size_t>(max_bytes, room - kMessageOverhead));
}

/// Pages in succession in which all names are impossible.
constexpr int kMostFutilePages = 64;

Task<Result<DirectoryPage>> one_page(RequestContext& context, Credential caller, FileHandle dir,
                                     std::uint64_t cookie, verifier4 verifier,
                                     std::uint32_t max_bytes, bool with_attributes) {
  if (cookie == 0) max_bytes = first_page(context.session, max_bytes);
  for (int sizes = 1;; ++sizes) {
    const std::uint32_t most = largest_page(context.session);
    const Question question{cookie, verifier, std::min(max_bytes, most), with_attributes};
    auto page = co_await ask(context, caller, dir, question);
    if (!page && is_too_large(page.error()) && sizes < kMaxSizes) continue;
    const bool too_small = !page && page.error().is(Layer::nfs, NFS4ERR_TOOSMALL);
    if (!too_small || question.maxcount == most) co_return page;
    max_bytes = most;  // one entry alone is larger than was asked for
  }
}

}  // namespace

Task<Result<DirectoryPage>> readdir(RequestContext& context, Credential caller, FileHandle dir,
                                    std::uint64_t cookie, verifier4 verifier,
                                    std::uint32_t max_bytes, bool with_attributes) {
  std::optional<std::uint64_t> change;
  for (int pages = 1;; ++pages) {
    auto page =
        co_await one_page(context, caller, dir, cookie, verifier, max_bytes, with_attributes);
    if (page && pages > 1 && page->change != change) page->change.reset();
    if (page) change = page->change;
    const bool futile = page && page->entries.empty() && page->left_out > 0 && !page->eof;
    if (!futile || pages == kMostFutilePages) co_return page;
    cookie = page->last_cookie;
    verifier = page->verifier;
  }
}

}  // namespace nfsrdma::client
