#include "tests/responder/transport/malformed_reply.h"

#include <algorithm>
#include <array>

#include "transport/rdma/private_data.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kNobodysXidBits = 0x55aa0000;
constexpr std::uint32_t kUndefined = 9;  // as a version, a proc, a presence word, a reply_stat
constexpr std::uint32_t kTooMuch = 4096;
constexpr std::uint32_t kTooLittle = 4;
constexpr std::size_t kTruncatedHeader = 20;
constexpr std::size_t kFirstPresenceWord = rdma::kFixedWords;
constexpr std::size_t kReplyStatWord = 2 * xdr::kUnit;
/// More than any receive buffer the responder's peers post (RFC 8797 stops at 256 KiB).
constexpr std::array<std::byte, rdma::kMaxThreshold> kFiller{};

/// The first chunk that results went into, or the first there is.
rdma::WriteChunk* a_chunk(rdma::Header& header) {
  if (header.proc == rdma::RDMA_NOMSG) return &header.chunks.rdma_reply;
  if (header.chunks.write_count > 0) return &header.chunks.write_entries[0];
  return header.chunks.has_reply ? &header.chunks.rdma_reply : nullptr;
}

void spoil_chunk(Malformed kind, rdma::WriteChunk& chunk) {
  if (chunk.count == 0) return;
  auto& first = chunk.target[0];
  if (kind == Malformed::missing_segment) --chunk.count;
  if (kind == Malformed::changed_handle) ++first.handle;
  if (kind == Malformed::long_length) first.length += kTooMuch;
  if (kind == Malformed::short_length) first.length -= std::min(first.length, kTooLittle);
}

void overwrite(std::span<std::byte> memory, std::size_t offset, std::uint32_t value) {
  xdr::Encoder word(memory.subspan(offset, xdr::kUnit));
  word.u32(value);
}

/// Replaces the message's word at `offset` by `value`, placed in `memory`.
void replace_word(PieceList& message, std::size_t offset, std::uint32_t value,
                  std::span<std::byte> memory) {
  if (message.size() < offset + xdr::kUnit) return;
  overwrite(memory, 0, value);
  PieceList changed = message.slice(0, offset);
  changed.add(memory.first(xdr::kUnit));
  const auto rest = offset + xdr::kUnit;
  const PieceList tail = message.slice(rest, message.size() - rest);
  for (const auto& piece : tail.pieces()) changed.add(piece);
  message = changed;
}

}  // namespace

void spoil_header(Malformed kind, rdma::Header& header) {
  if (auto* chunk = a_chunk(header)) spoil_chunk(kind, *chunk);
  switch (kind) {
    case Malformed::wrong_xid: header.rdma_xid ^= kNobodysXidBits; break;
    case Malformed::wrong_version: header.rdma_vers = kUndefined; break;
    case Malformed::read_list: header.chunks.add_read(0, {1, xdr::kUnit, 0}); break;
    case Malformed::missing_chunk:
      if (header.chunks.write_count > 0) --header.chunks.write_count;
      break;
    case Malformed::short_reply_chunk:
      if (header.proc == rdma::RDMA_NOMSG)
        spoil_chunk(Malformed::short_length, header.chunks.rdma_reply);
      break;
    default: break;
  }
}

void spoil_message(Malformed kind, std::span<std::byte> memory, std::span<const std::byte>& header,
                   PieceList& message) {
  const auto spare = memory.subspan(header.size());
  switch (kind) {
    case Malformed::truncated:
      header = header.first(kTruncatedHeader);
      message.clear();
      break;
    case Malformed::bad_chunks: overwrite(memory, kFirstPresenceWord, kUndefined); break;
    case Malformed::wrong_proc:
      overwrite(memory, kFirstPresenceWord - xdr::kUnit, kUndefined);
      break;
    case Malformed::wrong_xid:
    case Malformed::wrong_rpc_xid: replace_word(message, 0, kNobodysXidBits, spare); break;
    case Malformed::rpc: replace_word(message, kReplyStatWord, kUndefined, spare); break;
    case Malformed::results:
      message = message.slice(0, message.size() / 2 / xdr::kUnit * xdr::kUnit);
      break;
    case Malformed::oversize: message.add(kFiller); break;
    default: break;
  }
}

}  // namespace nfsrdma::responder
