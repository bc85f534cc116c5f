// Any struct of this folder as text, for logs and tests:
//   {stateid={seqid=1 other=0x000000000000000000000000} offset=4096 count=131072}
// Enums are numbers but for nfsstat4; strings are quoted, opaques are hexadecimal.
#pragma once

#include <string>

#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

class Print {
 public:
  /// Appends to `out`; shows at most `longest` bytes of each string and opaque.
  Print(std::string& out, std::size_t longest) : out_(out), longest_(longest) {}

  template <class T>
  void operator()(const char* name, const T& value) {
    label(name);
    item(value);
  }
  template <class T>
  void operator()(const char* name, const T& value, std::size_t) {
    (*this)(name, value);
  }
  template <class T>
  void list(const char* name, const std::vector<T>& value) {
    (*this)(name, value);
  }
  template <class D, class... Arms>
  void choose(const char* name, const D& discriminant, Arms... arms) {
    (*this)(name, discriminant);
    if (!visit_arm(*this, discriminant, arms...)) undefined_arm();
  }

 private:
  void label(const char* name);
  void undefined_arm();
  void text(std::string_view value);
  void hex(std::span<const std::byte> value);
  void number(std::int64_t value);
  void unsigned_number(std::uint64_t value);
  void words(std::span<const std::uint32_t> value);

  void item(bool value) { out_ += value ? "true" : "false"; }
  void item(std::uint32_t value) { unsigned_number(value); }
  void item(std::uint64_t value) { unsigned_number(value); }
  void item(std::int32_t value) { number(value); }
  void item(std::int64_t value) { number(value); }
  void item(std::string_view value) { text(value); }
  void item(std::span<const std::byte> value) { hex(value); }
  void item(const Payload& value) { hex(value.data); }
  void item(const bitmap4& value) { words(value.words); }
  void item(nfsstat4 value) { out_ += status_name(value); }
  template <std::size_t N>
  void item(const std::array<std::byte, N>& value) {
    hex(value);
  }
  template <class T>
  void item(const std::optional<T>& value) {
    out_ += '[';
    if (value) item(*value);
    out_ += ']';
  }
  template <class T>
  void item(const std::vector<T>& values) {
    out_ += '[';
    const char* separator = "";
    for (const auto& value : values) {
      out_ += std::exchange(separator, " ");
      item(value);
    }
    out_ += ']';
  }
  template <class T>
  void item(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      unsigned_number(value);
    } else if constexpr (requires { value.bytes(); }) {
      hex(value.bytes());
    } else {
      out_ += '{';
      T::fields(value, *this);
      out_ += '}';
    }
  }

  std::string& out_;
  std::size_t longest_;
};

/// Bytes of each string or opaque that print() shows unless told otherwise.
inline constexpr std::size_t kPrintLongest = 64;

template <class T>
std::string print(const T& value, std::size_t longest = kPrintLongest) {
  std::string out;
  Print visit(out, longest);
  visit("", value);
  return out;
}

}  // namespace nfsrdma::nfs4
