// One call of a kernel's client as statements of a script.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/lab/import/trace.h"

namespace nfsrdma::lab::import {

/// Bytes of the longest READ, WRITE and segment that a script issues: more than servers take.
inline constexpr std::uint64_t kLongest = 4 << 20;

/// What is issued, whatever it was read from.
struct Request {
  std::string procedure;
  std::size_t file = 0;  ///< which of the script's files, from 1
  std::uint64_t offset = 0;
  std::uint64_t count = 0;  ///< of READ and WRITE
  std::string name;
  std::string new_name;
  const Marshalled* rdma = nullptr;  ///< null: chunks are the script's matter
};

/// A file's making, from which $fN and $oN are bound; it is `size` bytes long.
std::string make_file(std::size_t number, std::uint64_t size);
/// The statement without what is expected of its answer; empty: a script cannot issue it.
std::string to_statement(const Request& request);
/// The operation whose status tells how the call has ended: OPEN for OPEN_NOATTR; empty: none.
std::string main_operation(const std::string& procedure);

}  // namespace nfsrdma::lab::import
