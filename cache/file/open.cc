#include "cache/file/open.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "client/files/delegations.h"
#include "client/files/open.h"

namespace nfsrdma::cache {

std::uint32_t share_access(int flags) {
  switch (flags & O_ACCMODE) {
    case O_WRONLY: return nfs4::OPEN4_SHARE_ACCESS_WRITE;
    case O_RDWR: return nfs4::OPEN4_SHARE_ACCESS_BOTH;
    default: return nfs4::OPEN4_SHARE_ACCESS_READ;
  }
}

namespace {

client::OpenFor use_of(int flags) { return {share_access(flags), (flags & kOpenToExecute) != 0}; }

/// Takes the bytes of the READ into the piece, if it has brought any.
void take_in(ReadPiece& piece, const std::optional<client::ReadData>& read) {
  if (!read) return piece.drop();
  const std::span<std::byte> sink = piece.slot.first(piece.length);
  piece.valid = std::min(read->data.size(), sink.size());
  piece.ended = read->eof;
  if (!read->placed) std::memcpy(sink.data(), read->data.data(), piece.valid);
  piece.state = ReadPiece::State::ready;
}

/// The last name of a file that is not open here is gone, and the server keeps the file because
/// another client has it open. The kernel opens inodes: it has come by a name that it remembers.
bool nameless(const Inode& inode) {
  const auto open = inode.open();
  return inode.attributes().value().links == 0 && !(open && open->in_use());
}

}  // namespace

Task<Result<Opened>> open(AttributeCache& attributes, client::Credential caller, InodeRef inode,
                          int flags, ReadPieceRef first, std::optional<NameIn> by) {
  const Issue issue = attributes.issue();
  const auto delegating =
      (flags & O_DIRECT) ? client::Delegating::unwanted : client::Delegating::wanted;
  client::ReadSink sink;
  if (first) {
    sink = {first->slot.first(first->length), first->slot.size() - first->length};
    first->issued = issue.at;
  }
  std::optional<client::NameOfFile> name;
  if (by) name = {by->directory->handle(), by->name, inode->attributes().value().fileid};
  auto opened = co_await client::open(attributes.mount(), caller, inode->handle(), use_of(flags),
                                      delegating, sink, name);
  CO_TRY(opened);
  attributes.learn(*inode, opened->attributes, issue, ChangedBy::anyone);
  if (!by && opened->attributes.has(nfs4::FATTR4_NUMLINKS) && nameless(*inode)) {
    // With ESTALE the kernel looks the name up again, which may be another file's by now.
    co_await attributes.mount().delegations().give_back(inode->handle());
    co_return fail(Error::local(ESTALE, "OPEN", "the file has no name any more"));
  }
  if (first) take_in(*first, opened->first_bytes);
  co_return Opened{std::move(inode), std::move(opened->open), opened->preserve_unlinked,
                   std::move(first), opened->attributes.change};
}

std::optional<Opened> open_locally(AttributeCache& attributes, const client::Credential& caller,
                                   const InodeRef& inode, int flags) {
  if (!inode->attributes().stands()) return std::nullopt;
  auto opened = client::open_locally(attributes.mount(), caller, inode->handle(), use_of(flags));
  if (!opened) return std::nullopt;
  return Opened{inode, std::move(opened->open), opened->preserve_unlinked};
}

}  // namespace nfsrdma::cache
