// What a COMPOUND or CB_COMPOUND of a capture says of itself and of its session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/proto/operations.h"

namespace nfsrdma::lab {

/// The arguments. Holds no views: it may be kept.
struct CompoundArguments {
  bool callback = false;
  std::uint32_t minor_version = 0;
  std::uint32_t announced = 0;                  ///< operations, as the header says
  std::vector<std::uint32_t> operations;        ///< those that were understood
  std::optional<nfs4::SEQUENCE4args> sequence;  ///< of CB_SEQUENCE, too: the fields are the same
  std::optional<nfs4::channel_attrs4> fore_channel;  ///< CREATE_SESSION
  std::optional<nfs4::channel_attrs4> back_channel;
  nfs4::clientid4 client_id = 0;
  nfs4::sequenceid4 create_sequence = 0;
  std::uint32_t create_flags = 0;
  std::optional<nfs4::sessionid4> bound;      ///< BIND_CONN_TO_SESSION
  std::optional<nfs4::sessionid4> destroyed;  ///< DESTROY_SESSION
  /// What may go by RDMA (RFC 8267 section 6.1): its place in the message, and its length.
  struct Eligible {
    std::size_t offset = 0;
    std::size_t length = 0;
    std::size_t operation = 0;  ///< whose it is, in `operations`
  };
  std::vector<Eligible> eligible;
  std::size_t eligible_results = 0;  ///< READ and READLINK
  bool understood = true;  ///< false: an operation of another minor version; the rest is not known
  std::string fault;       ///< not empty: it does not decode
};

struct CompoundResults {
  struct Operation {
    std::uint32_t opnum = 0;
    nfs4::nfsstat4 status = nfs4::NFS4_OK;
  };
  nfs4::nfsstat4 status = nfs4::NFS4_OK;
  std::uint32_t announced = 0;
  std::vector<Operation> operations;
  std::size_t inline_items = 0;                ///< data of READ and READLINK that is in the stream
  std::optional<nfs4::SEQUENCE4res> sequence;  ///< of CB_SEQUENCE, too
  std::optional<nfs4::sessionid4> created;     ///< CREATE_SESSION
  nfs4::sequenceid4 create_sequence = 0;
  std::uint32_t create_flags = 0;
  std::optional<nfs4::channel_attrs4> fore_channel;
  std::optional<nfs4::channel_attrs4> back_channel;
  std::optional<nfs4::clientid4> client_id;  ///< EXCHANGE_ID
  nfs4::sequenceid4 client_sequence = 0;
  std::uint32_t client_flags = 0;
  bool understood = true;
  std::string fault;
};

/// `in` stands behind the RPC header.
CompoundArguments decode_arguments(xdr::Decoder& in, bool callback);

/// `in` stands behind the RPC header; what was placed by RDMA may be told to it, and `on_placed` is
/// then called behind each item: the place in the stream where its bytes belong.
struct PlacedAt {
  std::size_t offset = 0;  ///< of the reduced stream
  std::size_t item = 0;    ///< of Decoder::placed()
};
CompoundResults decode_results(xdr::Decoder& in, bool callback, std::vector<PlacedAt>& placed);

}  // namespace nfsrdma::lab
