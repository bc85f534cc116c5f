#pragma once

#include <cstdint>
#include <cstdlib>
#include <type_traits>

// Warnings that a break may cause; the product is compiled without this file.
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace nfsrdma::mutation {

/// The number that a break's name stands for (FNV-1a).
constexpr std::uint64_t number(const char* name) {
  std::uint64_t sum = 14695981039346656037U;
  for (; *name != '\0'; ++name) {
    sum = (sum ^ static_cast<unsigned char>(*name)) * 1099511628211U;
  }
  return sum;
}

/// The break that NFSRDMA_BREAK names; it is read once.
inline std::uint64_t chosen() {
  static const char* const name = std::getenv("NFSRDMA_BREAK");
  static const std::uint64_t found = name == nullptr ? 0 : number(name);
  return found;
}

}  // namespace nfsrdma::mutation

/// Whether the break `name` is to be in force in this process.
#define NFSRDMA_BROKEN(name)        \
  (::nfsrdma::mutation::chosen() == \
   std::integral_constant<std::uint64_t, ::nfsrdma::mutation::number(name)>::value)
