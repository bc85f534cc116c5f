// How large a value of a struct can be on the wire at most: to size replies before they come.
#pragma once

#include "client/proto/types.h"

namespace nfsrdma::nfs4 {

/// Sums up the largest encoding of each field; of a union, of its largest arm. Payload fields count
/// with their length word only: their bytes are the transport's to place.
class MaxSize {
 public:
  /// `open_ended`: bytes of the one part that only the caller can bound: the values of a fattr4,
  /// or the entries of READDIR.
  explicit constexpr MaxSize(std::size_t open_ended) : open_ended_(open_ended) {}
  constexpr std::size_t total() const { return total_; }

  template <class T>
  constexpr void operator()(const char*, const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
      total_ += std::max(sizeof value, xdr::kUnit);
    } else if constexpr (requires { T::kMaxEncoded; }) {
      total_ += T::kMaxEncoded;
    } else {
      T::fields(value, *this);
    }
  }
  template <std::size_t N>
  constexpr void operator()(const char*, const std::array<std::byte, N>&) {
    total_ += xdr::padded(N);
  }
  template <class T>
  constexpr void operator()(const char* name, const std::optional<T>&) {
    total_ += xdr::kUnit;
    (*this)(name, T{});
  }
  constexpr void operator()(const char*, const fattr4&) {
    total_ += bitmap4::kMaxEncoded + xdr::kUnit + open_ended_;
  }
  constexpr void operator()(const char*, const Payload&, std::size_t) { total_ += xdr::kUnit; }
  template <class T>
  constexpr void operator()(const char* name, const std::vector<T>&, std::size_t bound) {
    MaxSize element(open_ended_);
    element(name, T{});
    total_ += xdr::kUnit + bound * element.total();
  }
  /// A string or an opaque<>.
  template <class T>
  constexpr void operator()(const char*, const T&, std::size_t bound) {
    total_ += xdr::kUnit + xdr::padded(bound);
  }
  template <class T>
  constexpr void list(const char*, const std::vector<T>&) {
    total_ += xdr::kUnit + open_ended_;
  }
  template <class D, class... Arms>
  constexpr void choose(const char* name, const D& discriminant, Arms... arms) {
    (*this)(name, discriminant);
    std::size_t largest = 0;
    ((largest = std::max(largest, size_of_arm(arms))), ...);
    total_ += largest;
  }

 private:
  template <class A>
  constexpr std::size_t size_of_arm(const A& arm) const {
    MaxSize size(open_ended_);
    arm.visit(size);
    return size.total();
  }

  std::size_t open_ended_;
  std::size_t total_ = 0;
};

/// Bytes of the largest encoding of T; MaxSize says how fields count.
template <class T>
std::size_t max_encoded_size(std::size_t open_ended = 0) {
  MaxSize visit(open_ended);
  visit("", T{});
  return visit.total();
}

}  // namespace nfsrdma::nfs4
