// A message as a script describes it, before it has memory, and its making.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/lab/script/statements.h"
#include "tests/lab/wire/exchange.h"
#include "transport/rpc/message.h"

namespace nfsrdma::lab::script {

/// Memory that the chunks of one message may have, and segments of one chunk.
inline constexpr std::size_t kMaxExposed = 256 * 1024 * 1024;
inline constexpr std::size_t kMaxSegments = 4096;

struct Segment {
  std::size_t size = 0;                    ///< bytes of memory
  std::optional<std::uint32_t> claims;     ///< what the header says instead
  std::optional<fabric::Segment> foreign;  ///< no memory of this side: exactly this is said
};
using Segments = std::vector<Segment>;

struct ReadChunk {
  std::uint32_t position = 0;
  Segments segments;
};

/// Everything but memory, so that it can be sent again on another connection.
struct Recipe {
  int line = 0;
  std::uint32_t xid = 0;
  std::uint32_t version = rdma::kVersionOne;
  std::uint32_t credit = 0;
  std::optional<std::uint32_t> proc;  ///< or RDMA_NOMSG with a chunk at position 0, else RDMA_MSG
  Bytes rpc;                          ///< the whole RPC message, nothing left out
  std::vector<ReadChunk> reads;
  std::vector<Segments> writes;
  std::optional<Segments> reply;
  std::optional<std::uint32_t> slot;  ///< the session slot it uses
  std::string session;                ///< and the name of the session
};

/// A DDP-eligible item of a message.
struct Item {
  std::uint32_t position = 0;
  std::size_t length = 0;
};

/// The RPC message of a COMPOUND, or of NULL where `operations` is null.
struct Encoded {
  Bytes rpc;
  std::vector<Item> items;
};
struct CompoundOptions {
  std::uint32_t xid = 0;
  std::uint32_t minor_version = 1;
  std::string tag;
  rpc::Credential credential;
  std::uint32_t program = rpc::kNfsProgram;
  std::uint32_t version = rpc::kNfsVersion4;
};
Result<Encoded> encode_compound(const CompoundOptions& options,
                                const std::vector<OperationText>* operations);

/// Exposes memory and makes the message: what a Read chunk has is left out of it, with its pad.
Result<SentCall> assemble(const Recipe& recipe, Peer& peer);

/// The segments of a text, its names replaced.
Result<Segments> resolve_chunk(const ChunkText& chunk, const Bindings& bindings, int line);

/// A number that an option or a chunk says.
Result<std::uint64_t> number_of(const Node& node, const Bindings& bindings, std::uint64_t most);

}  // namespace nfsrdma::lab::script
