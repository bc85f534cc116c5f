// oracle.h for C++.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "tests/oracle/oracle.h"

namespace nfsrdma::oracle {

struct Recoded {
  bool decoded = false;
  std::size_t consumed = 0;
  std::string text;
  std::vector<std::byte> encoded;
};

/// What libtirpc makes of bytes that should be a value of the named type.
inline Recoded recode(const std::string& type, std::span<const std::byte> bytes) {
  constexpr std::size_t kRoomForChangedLengths = 1024;
  Recoded result;
  result.encoded.resize(bytes.size() + kRoomForChangedLengths);
  oracle_answer answer = oracle_recode(type.c_str(), bytes.data(), bytes.size(),
                                       result.encoded.data(), result.encoded.size());
  result.decoded = answer.decoded != 0;
  result.consumed = answer.consumed;
  if (answer.text) result.text = answer.text;
  result.encoded.resize(answer.encoded);
  std::free(answer.text);
  return result;
}

}  // namespace nfsrdma::oracle
