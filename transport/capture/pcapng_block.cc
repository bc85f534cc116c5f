#include "transport/capture/pcapng_block.h"

#include <sys/utsname.h>

#include <bit>

namespace nfsrdma::capture {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
constexpr std::uint32_t kVersion = 1;  // 1.0: major, then minor, 16 bits each
constexpr std::uint32_t kLengthUnknown = ~0u;
constexpr std::uint32_t kLinkTypeRaw = 101;  // the packet starts with its IP header
constexpr std::uint32_t kFirstInterface = 0;

// Options.
constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kHardware = 2;
constexpr std::uint16_t kSystem = 3;
constexpr std::uint16_t kProgram = 4;
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kInterfaceText = 3;
constexpr std::uint16_t kTimeResolution = 9;
constexpr std::uint16_t kInterfaceSystem = 12;
constexpr std::string_view kNanoseconds = "\x09";
constexpr std::size_t kLongestOption = 1024;

static_assert(std::endian::native == std::endian::little, "options have two fields in a word");

using Bytes = std::vector<std::byte>;

void append(Bytes& to, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  to.insert(to.end(), bytes, bytes + size);
}

void append_word(Bytes& to, std::uint32_t word) { append(to, &word, sizeof word); }

void append_option(Bytes& to, std::uint16_t code, std::string_view value) {
  value = value.substr(0, kLongestOption);
  append_word(to, static_cast<std::uint32_t>(value.size()) << 16 | code);
  append(to, value.data(), value.size());
  to.resize(to.size() + pad_of(value.size()));
}

void end_options(Bytes& to) { append_word(to, 0); }

/// Behind type and length stands the body, behind that the length again.
void append_block(Bytes& to, std::uint32_t type, const Bytes& body) {
  const auto length = static_cast<std::uint32_t>(body.size() + 3 * sizeof type);
  append_word(to, type);
  append_word(to, length);
  append(to, body.data(), body.size());
  append_word(to, length);
}

}  // namespace

std::vector<std::byte> make_file_header(const Form& form) {
  utsname system{};
  ::uname(&system);
  const std::string kernel = std::string(system.sysname) + " " + system.release;
  Bytes section;
  for (const std::uint32_t word : {kByteOrderMagic, kVersion, kLengthUnknown, kLengthUnknown}) {
    append_word(section, word);
  }
  append_option(section, kHardware, system.machine);
  append_option(section, kSystem, kernel);
  append_option(section, kProgram,
                std::string(program_invocation_short_name) + " " + NFSRDMA_CAPTURE_VERSION);
  end_options(section);

  Bytes interface;
  append_word(interface, kLinkTypeRaw);
  append_word(interface, static_cast<std::uint32_t>(form.snap));
  append_option(interface, kInterfaceName, "nfsrdma");
  if (!form.what.empty()) append_option(interface, kInterfaceText, form.what);
  append_option(interface, kTimeResolution, kNanoseconds);
  append_option(interface, kInterfaceSystem, kernel);
  end_options(interface);

  Bytes header;
  append_block(header, kSectionHeader, section);
  append_block(header, kInterfaceDescription, interface);
  return header;
}

PacketBlock make_packet_block(std::int64_t time, std::size_t kept, std::size_t length,
                              std::string_view comment) {
  PacketBlock block;
  if (!comment.empty()) {
    append_option(block.tail, kComment, comment);
    end_options(block.tail);
  }
  const auto total = static_cast<std::uint32_t>(sizeof block.head + kept + pad_of(kept) +
                                                block.tail.size() + sizeof(std::uint32_t));
  append_word(block.tail, total);
  block.head = {kEnhancedPacket,
                total,
                kFirstInterface,
                static_cast<std::uint32_t>(time >> 32),
                static_cast<std::uint32_t>(time),
                static_cast<std::uint32_t>(kept),
                static_cast<std::uint32_t>(length)};
  return block;
}

}  // namespace nfsrdma::capture
