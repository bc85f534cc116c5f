// RPC messages of NFSv4.1 from one side to the other: byte for byte, but what may go by RDMA (RFC
// 8267 section 6.1) is told to the encoder as such, so that each side has chunks of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::lab::proxy {

/// What the reply to a COMPOUND may have.
struct ExpectedResults {
  /// Bytes of the first result that may go by RDMA, where that is a READ; else 0. A READLINK's is
  /// left in the message.
  std::size_t first_read = 0;
};

/// Copies a call, whose header `in` has behind it, with another XID. An operation that is not known
/// (of another minor version) and what is behind it is copied as it is. The data of WRITE is not
/// copied but viewed. Puts `out` into its failed state where there is no room. Nothing: data was
/// placed by RDMA, and its operation is not known.
std::optional<ExpectedResults> copy_call(xdr::Decoder& in, std::uint32_t xid, xdr::Encoder& out);

/// Memory for a result's data that stays until it has been sent; empty: there is none.
using ResultMemory = std::function<std::span<std::byte>(std::size_t size)>;

/// The nfsstat4 that an operation is to have failed with, instead of what the server says of it.
using ForcedStatus = std::function<std::optional<std::uint32_t>(std::uint32_t operation)>;

/// Copies the results of a COMPOUND, at which `in` stands; an operation that `forced` has a status
/// for is the last one. Data that was placed by RDMA is viewed;
/// other data of READ and READLINK is copied into memory of `memory`, or stays in the message when
/// there is none. False: data was placed, and its place cannot be told; `out` is not whole.
bool copy_results(xdr::Decoder& in, const ResultMemory& memory, const ForcedStatus& forced,
                  xdr::Encoder& out);

}  // namespace nfsrdma::lab::proxy
