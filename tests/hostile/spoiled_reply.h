// The reply to a COMPOUND, taken apart so that any part of it can be changed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/proto/operations.h"
#include "tests/responder/service.h"
#include "tests/support/unreduced.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::hostile {

using Bytes = std::vector<std::byte>;

/// One result: its number and what follows, as on the wire.
struct ResultItem {
  std::uint32_t opnum = 0;
  Bytes body;
};

/// What a server says. Nothing in it has to fit anything else.
struct SpoiledReply {
  nfs4::nfsstat4 status = nfs4::NFS4_OK;
  std::string tag;
  std::uint32_t count = 0;  ///< of results, as the reply says
  std::vector<ResultItem> results;
  Bytes trailing;              ///< behind the last result
  std::size_t cut = SIZE_MAX;  ///< of all these bytes no more than so many are sent
  std::vector<std::pair<std::size_t, std::byte>> flips;  ///< xor of single bytes

  /// Null when there is no such result.
  ResultItem* find(nfs4::nfs_opnum4 opnum) {
    for (ResultItem& item : results) {
      if (item.opnum == opnum) return &item;
    }
    return nullptr;
  }
  /// Changes a result by its fields; nothing when there is none.
  template <class Res, class Change>
  void edit(Change&& change) {
    ResultItem* item = find(Res::opnum);
    if (!item) return;
    const Bytes before = std::move(item->body);
    xdr::Decoder in(before);
    Res result;
    nfs4::decode(in, result);
    change(result);
    replace(*item, result);
  }
  /// The operation has failed, and those behind it were not tried.
  void fail_at(nfs4::nfs_opnum4 opnum, nfs4::nfsstat4 failure);

  template <class Res>
  static void replace(ResultItem& item, const Res& result) {
    xdr::Encoder out(workspace());
    nfs4::encode(out, result);
    item.body = testing_support::unreduced(out);
  }
  static constexpr std::size_t kMostBytes = 1 << 18;
  /// Memory to encode in, the same each time.
  static std::span<std::byte> workspace();
};

/// `message` stands at COMPOUND4res.
SpoiledReply take_apart(std::span<const std::byte> message);
Bytes put_together(const SpoiledReply& reply);
/// Appends it to the results of `call`, byte by byte where it is cut or flipped. Else the data of
/// READ and READLINK travels by RDMA, where the client has asked for that.
void answer_with(responder::ServerCall& call, const SpoiledReply& reply);

}  // namespace nfsrdma::hostile
