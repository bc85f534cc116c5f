// File handles as keys.
#pragma once

#include <functional>
#include <string_view>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct FileHandleHash {
  std::size_t operator()(const FileHandle& handle) const {
    const auto bytes = handle.bytes();
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::hash<std::string_view>{}(text);
  }
};

}  // namespace nfsrdma::client
