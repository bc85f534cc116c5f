// Errors are values. An Error names the layer that failed, a code of that layer, the step that
// failed and, where it helps an administrator, what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nfsrdma {

/// The layer that produced an error. It decides how to read Error::code.
enum class Layer : std::uint8_t {
  system,     ///< code is an errno value
  fabric,     ///< code is a net::Fault
  transport,  ///< code is a rdma::Fault (RPC-over-RDMA header level)
  rpc,        ///< code is a rpc::Fault (RPC reply level)
  nfs,        ///< code is an nfsstat4
  decode,     ///< code is a xdr::Fault; detail has offset and field
  local,      ///< code is an errno value chosen by this program
};

std::string_view layer_name(Layer layer);

/// A failure with its context. Cheap to move; copies only its detail text.
struct [[nodiscard]] Error {
  Layer layer = Layer::local;
  int code = 0;
  /// The step that failed, a string literal in the field's terms ("EXCHANGE_ID", "connect").
  const char* step = "";
  /// Free text: names, offsets, the remedy. May be empty.
  std::string detail;
  /// The request that failed; 0: none was sent, or it is not known which.
  std::uint32_t xid = 0;
  /// The session slot of that request.
  std::uint32_t slot = kNoSlot;

  static constexpr std::uint32_t kNoSlot = UINT32_MAX;

  /// An error from the current value of errno or a given one.
  static Error from_errno(int error_number, const char* step, std::string detail = {});
  /// An error this program decided on, expressed as an errno value.
  static Error local(int error_number, const char* step, std::string detail = {});

  /// "step: what went wrong (detail)", one line, for logs and the mount command.
  std::string message() const;
  /// " (XID 0x1f, slot 3)", which finds the request in a capture and in the server's log; empty
  /// where none is known.
  std::string request_text() const;

  bool is(Layer l, int c) const { return layer == l && code == c; }
};

/// Registers how a layer's codes are spelled; called once at start by the layer that owns them.
/// Not thread safe: call before threads start.
using CodeNamer = std::string_view (*)(int code);
void register_code_namer(Layer layer, CodeNamer namer);

}  // namespace nfsrdma
