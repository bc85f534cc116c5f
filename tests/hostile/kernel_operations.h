// What a kernel asks for, and what has to be true when the answer says that it was done.
#pragma once

#include <ostream>
#include <span>

#include "tests/hostile/stage.h"

namespace nfsrdma::hostile {

struct KernelOperation {
  const char* name;
  /// Before anything goes wrong.
  void (*prepare)(Stage& stage);
  std::uint64_t (*begin)(Stage& stage);
  /// Nothing goes wrong any more, and the answer was no error. Empty: it is true; else what is not.
  std::string (*lie)(Stage& stage, const Answer& answer);
};

void PrintTo(const KernelOperation& operation, std::ostream* out);

std::span<const KernelOperation> kernel_operations();

}  // namespace nfsrdma::hostile
