// The inputs of compound_fuzz.cc: one byte of this, then the message.
#pragma once

#include <cstdint>

namespace nfsrdma::fuzz {

enum class CompoundInput : std::uint8_t {
  arguments,           ///< COMPOUND4args
  results,             ///< COMPOUND4res
  callback_arguments,  ///< CB_COMPOUND4args
  callback_results,    ///< CB_COMPOUND4res
  attributes,          ///< fattr4
};

}  // namespace nfsrdma::fuzz
