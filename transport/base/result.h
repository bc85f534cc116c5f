// Result<T>: a value or an Error. The only two control-flow macros of the project live here.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "transport/base/error.h"

namespace nfsrdma {

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

/// Forwards the error of a result to the caller: `return fail_from(r);`
template <class T>
tl::unexpected<Error> fail_from(Result<T>& result) {
  return tl::unexpected<Error>(std::move(result.error()));
}

}  // namespace nfsrdma

/// `TRY(expr);` leaves the function with expr's error. For functions that return a Result.
#define TRY(expr)                                               \
  do {                                                          \
    auto try_result_ = (expr);                                  \
    if (!try_result_) return ::nfsrdma::fail_from(try_result_); \
  } while (false)

/// `CO_TRY(result);` leaves the coroutine with the error of an already awaited result. It takes a
/// variable, never a co_await expression: g++ 12 miscompiles co_await inside a condition.
#define CO_TRY(result)                                     \
  do {                                                     \
    if (!(result)) co_return ::nfsrdma::fail_from(result); \
  } while (false)
