// Encoding and decoding of NFSv4.1 types from one field list per struct.
//
// A struct lists its fields once, in XDR order:
//
//   struct change_info4 {
//     bool atomic = false;
//     changeid4 before = 0, after = 0;
//     static void fields(auto& self, auto& visit) {
//       visit("atomic", self.atomic);
//       ...
//     }
//   };
//
// and every visitor (Encode, Decode here; others in tests) walks that list.
// What a visitor is asked to do:
//   visit(name, field)                   a scalar, enum, struct, optional<> or verifier-like array
//   visit(name, field, bound)            a string, opaque<>, array<> or Payload of at most `bound`
//   visit.list(name, vector)             an XDR linked list (READDIR's entries)
//   visit.choose(name, discriminant, arm(value, name, field)..., no_arm(value)..., otherwise())
//                                        a union: the discriminant and the arm it selects
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "client/proto/union.h"
#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::nfs4 {

/// Writes a value to an Encoder. Payload fields are not copied (Encoder::payload).
class Encode {
 public:
  explicit Encode(xdr::Encoder& out) : out_(out) {}

  void operator()(const char*, bool value) { out_.boolean(value); }
  void operator()(const char*, std::uint32_t value) { out_.u32(value); }
  void operator()(const char*, std::int32_t value) { out_.i32(value); }
  void operator()(const char*, std::uint64_t value) { out_.u64(value); }
  void operator()(const char*, std::int64_t value) { out_.i64(value); }
  template <std::size_t N>
  void operator()(const char*, const std::array<std::byte, N>& value) {
    out_.fixed(value);
  }
  void operator()(const char*, std::string_view value, std::size_t bound) {
    if (within(value.size(), bound)) out_.string(value);
  }
  void operator()(const char*, std::span<const std::byte> value, std::size_t bound) {
    if (within(value.size(), bound)) out_.opaque(value);
  }
  void operator()(const char*, const xdr::Payload& value, std::size_t bound) {
    if (within(value.data.size(), bound)) out_.payload(value.data);
  }
  template <class T>
  void operator()(const char* name, const std::vector<T>& value, std::size_t bound) {
    if (!within(value.size(), bound)) return;
    out_.u32(static_cast<std::uint32_t>(value.size()));
    for (const auto& element : value) (*this)(name, element);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    out_.boolean(value.has_value());
    if (value) (*this)(name, *value);
  }
  template <class T>
  void operator()(const char*, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      out_.u32(static_cast<std::uint32_t>(value));
    } else if constexpr (requires { value.encode_to(out_); }) {
      value.encode_to(out_);
    } else {
      T::fields(value, *this);
    }
  }
  template <class T>
  void list(const char* name, const std::vector<T>& value) {
    for (const auto& element : value) {
      out_.boolean(true);
      (*this)(name, element);
    }
    out_.boolean(false);
  }
  template <class D, class... Arms>
  void choose(const char* name, const D& discriminant, Arms... arms) {
    (*this)(name, discriminant);
    if (!visit_arm(*this, discriminant, arms...)) fail_encoder();
  }

 private:
  bool within(std::size_t size, std::size_t bound) {
    if (size > bound) fail_encoder();
    return size <= bound;
  }
  // A value that XDR cannot express is reported like one that does not fit.
  void fail_encoder() { out_.reserve(SIZE_MAX); }

  xdr::Encoder& out_;
};

/// Reads a value from a Decoder. Strings, opaques and payloads become views of the message.
class Decode {
 public:
  explicit Decode(xdr::Decoder& in) : in_(in) {}

  void operator()(const char* name, bool& value) { value = in_.boolean(name); }
  void operator()(const char* name, std::uint32_t& value) { value = in_.u32(name); }
  void operator()(const char* name, std::int32_t& value) { value = in_.i32(name); }
  void operator()(const char* name, std::uint64_t& value) { value = in_.u64(name); }
  void operator()(const char* name, std::int64_t& value) { value = in_.i64(name); }
  template <std::size_t N>
  void operator()(const char* name, std::array<std::byte, N>& value) {
    const auto data = in_.fixed(N, name);
    if (data.size() == N) std::memcpy(value.data(), data.data(), N);
  }
  void operator()(const char* name, std::string_view& value, std::size_t bound) {
    value = in_.string(bound, name);
  }
  void operator()(const char* name, std::span<const std::byte>& value, std::size_t bound) {
    value = in_.opaque(bound, name);
  }
  void operator()(const char* name, xdr::Payload& value, std::size_t bound) {
    value = in_.payload(bound, name);
  }
  template <class T>
  void operator()(const char* name, std::vector<T>& value, std::size_t bound) {
    value.clear();
    const std::uint32_t elements = in_.count(bound, xdr::kUnit, name);
    for (std::uint32_t i = 0; i < elements && in_.ok(); ++i) (*this)(name, value.emplace_back());
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    value.reset();
    if (in_.boolean(name)) (*this)(name, value.emplace());
  }
  template <class T>
  void operator()(const char* name, T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(in_.u32(name));
      if (!is_defined(value)) in_.set_fault(xdr::Fault::bad_enum, name);
    } else if constexpr (requires { value.decode_from(in_, name); }) {
      value.decode_from(in_, name);
    } else {
      T::fields(value, *this);
    }
  }
  template <class T>
  void list(const char* name, std::vector<T>& value) {
    value.clear();
    while (in_.boolean(name) && in_.ok()) (*this)(name, value.emplace_back());
  }
  template <class D, class... Arms>
  void choose(const char* name, D& discriminant, Arms... arms) {
    (*this)(name, discriminant);
    if (!in_.ok()) return;
    if (!visit_arm(*this, discriminant, arms...)) in_.set_fault(xdr::Fault::bad_enum, name);
  }

 private:
  xdr::Decoder& in_;
};

/// Encodes a struct of this folder. A value that does not fit, or that the protocol cannot express,
/// leaves `out` failed.
template <class T>
void encode(xdr::Encoder& out, const T& value) {
  Encode visit(out);
  visit("", value);
}

/// Decodes a struct of this folder. A fault stays in `in`; the value is then partly filled in and
/// must not be used.
template <class T>
void decode(xdr::Decoder& in, T& value) {
  Decode visit(in);
  visit("", value);
}

}  // namespace nfsrdma::nfs4
