#include "tests/proto/print.h"

namespace nfsrdma::nfs4 {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

void append_hex(std::string& out, unsigned char byte) {
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 0xf];
}

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

}  // namespace

void Print::label(const char* name) {
  if (*name == '\0') return;
  if (!out_.empty() && out_.back() != '{') out_ += ' ';
  out_ += name;
  out_ += '=';
}

void Print::undefined_arm() { out_ += " undefined"; }

void Print::text(std::string_view value) {
  out_ += '"';
  for (char c : value.substr(0, longest_)) {
    if (is_plain(c)) {
      out_ += c;
    } else {
      out_ += "\\x";
      append_hex(out_, static_cast<unsigned char>(c));
    }
  }
  out_ += value.size() > longest_ ? "\"..." : "\"";
}

void Print::hex(std::span<const std::byte> value) {
  out_ += "0x";
  for (std::byte byte : value.first(std::min(value.size(), longest_))) {
    append_hex(out_, static_cast<unsigned char>(byte));
  }
  if (value.size() > longest_) out_ += "...";
}

void Print::number(std::int64_t value) { out_ += std::to_string(value); }

void Print::unsigned_number(std::uint64_t value) { out_ += std::to_string(value); }

void Print::words(std::span<const std::uint32_t> value) {
  while (!value.empty() && value.back() == 0) value = value.first(value.size() - 1);
  out_ += '[';
  const char* separator = "";
  for (std::uint32_t word : value) out_ += std::exchange(separator, " ") + std::to_string(word);
  out_ += ']';
}

}  // namespace nfsrdma::nfs4
