// A violation of protocol by the peer: the Terminate code to send, and the Fault with a sentence
// for the consumer.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "transport/fabric/fabric.h"
#include "transport/fabric/iwarp/terminate.h"

namespace nfsrdma::fabric::iwarp {

struct Violation {
  TerminateCode code;
  Fault fault = Fault::protocol;
  std::string detail;
};

/// The outcome of a check of something the peer sent.
template <class T = void>
using Checked = tl::expected<T, Violation>;

inline tl::unexpected<Violation> violation(const TerminateCode& code, Fault fault,
                                           std::string detail) {
  return tl::unexpected<Violation>(Violation{code, fault, std::move(detail)});
}

/// An error of this layer on an established connection.
inline Error connection_error(Fault fault, std::string detail) {
  return Error{Layer::fabric, static_cast<int>(fault), "iwarp", std::move(detail)};
}

}  // namespace nfsrdma::fabric::iwarp
