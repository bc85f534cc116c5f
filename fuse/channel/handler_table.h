// The functions that serve FUSE operations, with their arguments as values.
#pragma once

#include <array>
#include <initializer_list>
#include <utility>

#include "fuse/channel/arguments.h"
#include "fuse/channel/opcode.h"
#include "fuse/channel/request.h"

namespace nfsrdma::fuse {

/// Decodes the arguments and takes the request over; false: they are malformed, and the request
/// still the dispatcher's.
using Handler = bool (*)(void* served, Request& request, const Message& message);

namespace detail {

template <auto Function>
struct Decoded;

template <class Served, class Arguments, void (*Function)(Served&, Request, Arguments)>
struct Decoded<Function> {
  static bool call(void* served, Request& request, const Message& message) {
    Arguments arguments{};
    Decoder decoder(message);
    decoder.read(arguments);
    if (!decoder.ok()) return false;
    Function(*static_cast<Served*>(served), std::move(request), std::move(arguments));
    return true;
  }
};

}  // namespace detail

/// For `void function(Served&, Request, Arguments)`; decodes the Arguments it declares.
template <auto Function>
inline constexpr Handler handler = &detail::Decoded<Function>::call;

/// By opcode; a request without a handler is answered ENOSYS, which the kernel remembers.
class HandlerTable {
 public:
  struct Row {
    std::uint32_t opcode;
    Handler handler;
  };
  constexpr HandlerTable(std::initializer_list<Row> rows) {
    for (const Row& row : rows) set(row);
  }
  constexpr void set(const Row& row) { handlers_[row.opcode] = row.handler; }

  Handler operator[](std::uint32_t opcode) const {
    return opcode < handlers_.size() ? handlers_[opcode] : nullptr;
  }

 private:
  std::array<Handler, kOpcodes> handlers_{};
};

}  // namespace nfsrdma::fuse
