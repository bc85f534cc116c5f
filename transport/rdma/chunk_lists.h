// The chunk lists of an RPC-over-RDMA header (RFC 8166 sections 3.4 and 4.3), the same in versions
// 1 and 2: Read list, Write list and Reply chunk, with their XDR.
//
// Everything has a fixed size: decoding untrusted lists allocates nothing, and a list longer than
// fits is a decode fault. The objects are large (some kilobytes): keep them in pooled or scratch
// objects and reset them instead of making new ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/fabric/fabric.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::rdma {

/// Segments of one chunk that every NFS server takes (RFC 8267 section 6.4.2), and so the most that
/// this side sends or accepts.
inline constexpr std::size_t kMaxSegments = 16;
/// Write chunks of one message; as many as one message can have DDP-eligible items.
inline constexpr std::size_t kMaxWriteChunks = xdr::Encoder::kMaxOmitted;
/// Entries of the Read list: one Position Zero chunk and one chunk for each eligible item.
inline constexpr std::size_t kMaxReadSegments = kMaxSegments * (xdr::Encoder::kMaxOmitted + 1);

/// Wire sizes in bytes, for estimates.
inline constexpr std::size_t kChunkListsMin = 12;    ///< three absent lists
inline constexpr std::size_t kReadSegmentSize = 24;  ///< list word, position and segment
inline constexpr std::size_t kWriteChunkHead = 8;    ///< list word and count
inline constexpr std::size_t kReplyChunkHead = 4;    ///< count; the presence word is always there
inline constexpr std::size_t kSegmentSize = 16;      ///< handle, length, offset

/// An entry of the Read list: a segment and its place in the unreduced Payload stream. Entries with
/// the same position form one Read chunk (section 3.4.5).
struct ReadSegment {
  std::uint32_t position = 0;
  fabric::Segment target;
};

/// A Write chunk or Reply chunk: counted segments (section 3.4.6). No segments: an empty chunk.
struct WriteChunk {
  std::uint32_t count = 0;
  std::array<fabric::Segment, kMaxSegments> target;

  std::span<const fabric::Segment> segments() const { return {target.data(), count}; }
  std::span<fabric::Segment> segments() { return {target.data(), count}; }
  /// False when the chunk is full.
  bool add(const fabric::Segment& segment);
  /// Sum of the segment lengths.
  std::uint64_t length() const;
};

/// The three lists. reset() makes them absent; the arrays keep old contents.
struct ChunkLists {
  std::uint32_t read_count = 0;
  std::array<ReadSegment, kMaxReadSegments> read_entries;
  std::uint32_t write_count = 0;
  std::array<WriteChunk, kMaxWriteChunks> write_entries;
  bool has_reply = false;
  WriteChunk rdma_reply;

  void reset();
  bool all_absent() const { return read_count == 0 && write_count == 0 && !has_reply; }
  std::span<const ReadSegment> rdma_reads() const { return {read_entries.data(), read_count}; }
  std::span<const WriteChunk> rdma_writes() const { return {write_entries.data(), write_count}; }
  /// False when the list is full.
  bool add_read(std::uint32_t position, const fabric::Segment& segment);
  /// A new, empty Write chunk at the end of the list, or null when the list is full.
  WriteChunk* add_write();
  /// Sum of the lengths of the Read chunk at `position`; nothing when there is no such chunk.
  std::optional<std::uint64_t> read_chunk_length(std::uint32_t position) const;
};

/// Bytes that encode_chunk_lists writes.
std::size_t encoded_size(const ChunkLists& lists);

void encode_chunk_lists(xdr::Encoder& out, const ChunkLists& lists);
/// A fault (truncated, more entries than fit, a presence word that is no boolean, a position that
/// is no multiple of four) stays in `in`; `lists` then holds the entries decoded before it.
void decode_chunk_lists(xdr::Decoder& in, ChunkLists& lists);

}  // namespace nfsrdma::rdma
