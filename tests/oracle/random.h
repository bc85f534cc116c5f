// A visitor that fills any struct of client/proto with random values, and remembers which arms of
// which unions it has taken.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "client/proto/attributes.h"
#include "client/proto/security.h"

namespace nfsrdma::oracle {

/// Seeded: the same seed gives the same values. Owns what the views of its values point to.
class Random {
 public:
  /// The longest string, opaque or payload.
  static constexpr std::size_t kLongBytes = 200;

  explicit Random(std::uint32_t seed) : engine_(seed) {}

  template <class T>
  void fill(T& value) {
    (*this)("", value);
  }
  std::uint32_t below(std::uint32_t bound) {
    return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(engine_);
  }

  void operator()(const char*, bool& value) { value = below(2) == 1; }
  void operator()(const char*, std::uint32_t& value) { value = static_cast<std::uint32_t>(word()); }
  void operator()(const char*, std::uint64_t& value) { value = word(); }
  void operator()(const char*, std::int64_t& value) { value = static_cast<std::int64_t>(word()); }
  void operator()(const char*, nfs4::nfs_fh4& value) { value.assign(bytes(nfs4::NFS4_FHSIZE)); }
  void operator()(const char*, nfs4::bitmap4& value) {
    for (auto& w : value.words) w = below(2) ? static_cast<std::uint32_t>(word()) : 0;
  }
  void operator()(const char*, nfs4::OpaqueElement& value) {
    value.value = bytes(nfs4::NFS4_OPAQUE_LIMIT);
  }
  void operator()(const char*, nfs4::Owner& value) {
    value.numeric = below(2) == 1;
    value.id = value.numeric ? static_cast<std::uint32_t>(word()) : 0;
    value.name = value.numeric ? std::string_view() : std::string_view("someone@example.org");
  }
  void operator()(const char*, std::string_view& value, std::size_t bound) {
    const auto data = bytes(bound);
    value = {reinterpret_cast<const char*>(data.data()), data.size()};
  }
  void operator()(const char*, std::span<const std::byte>& value, std::size_t bound) {
    value = bytes(bound);
  }
  void operator()(const char*, nfs4::Payload& value, std::size_t bound) {
    value.data = bytes(bound);
  }
  template <std::size_t N>
  void operator()(const char*, std::array<std::byte, N>& value) {
    std::ranges::copy(bytes_exactly(N), value.begin());
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    value.reset();
    const bool there = below(2) == 1;
    took(name, there ? 1 : 0, 2);
    if (there) (*this)(name, value.emplace());
  }
  template <class T>
  void operator()(const char* name, std::vector<T>& value, std::size_t bound) {
    value.clear();
    const auto elements = below(static_cast<std::uint32_t>(std::min(bound, kMostElements)) + 1);
    for (std::uint32_t i = 0; i < elements; ++i) (*this)(name, value.emplace_back());
  }
  template <class T>
  void operator()(const char*, T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = any_defined<T>();
    } else {
      T::fields(value, *this);
    }
  }
  template <class T>
  void list(const char* name, std::vector<T>& value) {
    (*this)(name, value, kMostElements);
  }
  template <class D, class... Arms>
  void choose(const char* name, D& discriminant, Arms... arms) {
    const std::uint32_t wanted = below(sizeof...(Arms));
    took(name, wanted, sizeof...(Arms));
    std::uint32_t index = 0;
    ((index++ == wanted ? enter(discriminant, arms, arms...) : void()), ...);
  }

  /// "union/arm" of each arm or optional that no value has had; empty after enough values.
  std::vector<std::string> arms_not_taken() const;

 private:
  static constexpr std::size_t kMostElements = 3;
  static constexpr std::size_t kMostBytes = 9;

  std::uint64_t word() { return below(4) == 0 ? below(3) : engine_(); }
  std::span<const std::byte> bytes_exactly(std::size_t size);
  /// Mostly short, of every length modulo four; sometimes as long as allowed, up to kLongBytes.
  std::span<const std::byte> bytes(std::size_t bound);
  void took(const char* name, std::uint32_t arm, std::uint32_t arms);

  template <class D, class A, class... Arms>
  void enter(D& discriminant, const A& arm, const Arms&... all) {
    if constexpr (requires { arm.value; }) {
      discriminant = arm.value;
    } else {
      do {
        discriminant = any_defined<D>();
      } while (named_by_an_arm(discriminant, all...));
    }
    arm.visit(*this);
  }
  template <class D, class... Arms>
  static bool named_by_an_arm(D discriminant, const Arms&... arms) {
    return ((named_by(discriminant, arms)) || ...);
  }
  template <class D, class A>
  static bool named_by(D discriminant, const A& arm) {
    if constexpr (requires { arm.value; }) return arm.value == discriminant;
    return false;
  }
  template <class T>
  T any_defined() {
    if constexpr (std::is_same_v<T, nfs4::nfsstat4>) {
      const auto all = nfs4::all_statuses();
      return all[below(static_cast<std::uint32_t>(all.size()))];
    } else if constexpr (std::is_enum_v<T>) {
      constexpr std::uint32_t kBeyondEveryEnum = 16;
      T value;
      do {
        value = static_cast<T>(below(kBeyondEveryEnum));
      } while (!is_defined(value));
      return value;
    } else {
      return static_cast<T>(word());
    }
  }

  std::mt19937_64 engine_;
  std::deque<std::vector<std::byte>> storage_;
  struct Taken {
    std::set<std::uint32_t> arms;
    std::uint32_t of = 0;
  };
  std::map<std::string, Taken> taken_;
};

}  // namespace nfsrdma::oracle
