#include "transport/base/error.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace nfsrdma {
namespace {

constexpr std::size_t kLayers = 7;

std::array<CodeNamer, kLayers>& namers() {
  static std::array<CodeNamer, kLayers> table{};
  return table;
}

std::string code_text(const Error& error) {
  if (error.layer == Layer::system || error.layer == Layer::local) {
    return error.code == 0 ? std::string() : std::string(std::strerror(error.code));
  }
  if (auto namer = namers()[static_cast<std::size_t>(error.layer)]) {
    auto name = namer(error.code);
    if (!name.empty()) return std::string(name);
  }
  return std::string(layer_name(error.layer)) + " error " + std::to_string(error.code);
}

}  // namespace

std::string_view layer_name(Layer layer) {
  static constexpr std::array<std::string_view, kLayers> names = {
      "system", "fabric", "transport", "rpc", "nfs", "decode", "local"};
  return names[static_cast<std::size_t>(layer)];
}

Error Error::from_errno(int error_number, const char* step, std::string detail) {
  return Error{Layer::system, error_number, step, std::move(detail)};
}

Error Error::local(int error_number, const char* step, std::string detail) {
  return Error{Layer::local, error_number, step, std::move(detail)};
}

std::string Error::message() const {
  std::string text = step;
  auto meaning = code_text(*this);
  if (!meaning.empty()) text += (text.empty() ? "" : ": ") + meaning;
  if (!detail.empty()) text += " (" + detail + ")";
  return text;
}

std::string Error::request_text() const {
  if (xid == 0) return {};
  if (slot == kNoSlot) return fmt::format(" (XID {:#010x})", xid);
  return fmt::format(" (XID {:#010x}, slot {})", xid, slot);
}

void register_code_namer(Layer layer, CodeNamer namer) {
  namers()[static_cast<std::size_t>(layer)] = namer;
}

}  // namespace nfsrdma
