// Blocks of pcapng with their options (draft-ietf-opsawg-pcapng), in this machine's byte order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/capture/form.h"

namespace nfsrdma::capture {

inline constexpr std::size_t kBlockAlignment = 4;

/// Pad bytes behind `length` bytes, up to whole words.
constexpr std::size_t pad_of(std::size_t length) {
  return (kBlockAlignment - length % kBlockAlignment) % kBlockAlignment;
}

/// What a file begins with: a section header that names hardware, system and program, and the
/// description of its one interface, with nanoseconds.
std::vector<std::byte> make_file_header(const Form& form);

/// The words before the bytes of an enhanced packet, and what stands behind their pad: a comment,
/// if it is not empty, and the length.
struct PacketBlock {
  std::array<std::uint32_t, 7> head;
  std::vector<std::byte> tail;
};
PacketBlock make_packet_block(std::int64_t time, std::size_t kept, std::size_t length,
                              std::string_view comment);

}  // namespace nfsrdma::capture
