#include "cache/file/open.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

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

/// Takes the bytes of the READ into the piece, if it has brought any.
void take_in(ReadPiece& piece, const std::optional<client::ReadData>& read) {
  if (!read) return piece.drop();
  const std::span<std::byte> sink = piece.slot.first(piece.length);
  piece.valid = std::min(read->data.size(), sink.size());
  piece.ended = read->eof;
  if (!read->placed) std::memcpy(sink.data(), read->data.data(), piece.valid);
  piece.state = ReadPiece::State::ready;
}

}  // namespace

Task<Result<Opened>> open(AttributeCache& attributes, client::Credential caller, InodeRef inode,
                          int flags, ReadPieceRef first) {
  const Issue issue = attributes.issue();
  const auto delegating =
      (flags & O_DIRECT) ? client::Delegating::unwanted : client::Delegating::wanted;
  client::ReadSink sink;
  if (first) {
    sink = {first->slot.first(first->length), first->slot.size() - first->length};
    first->issued = issue.at;
  }
  auto opened = co_await client::open(attributes.mount(), caller, inode->handle(),
                                      share_access(flags), delegating, sink);
  CO_TRY(opened);
  attributes.learn(*inode, opened->attributes, issue, ChangedBy::anyone);
  if (first) take_in(*first, opened->first_bytes);
  co_return Opened{std::move(inode), std::move(opened->open), opened->preserve_unlinked,
                   std::move(first), opened->attributes.change};
}

std::optional<Opened> open_locally(AttributeCache& attributes, const client::Credential& caller,
                                   const InodeRef& inode, int flags) {
  if (!inode->attributes().stands()) return std::nullopt;
  auto opened =
      client::open_locally(attributes.mount(), caller, inode->handle(), share_access(flags));
  if (!opened) return std::nullopt;
  return Opened{inode, std::move(opened->open), opened->preserve_unlinked};
}

}  // namespace nfsrdma::cache
