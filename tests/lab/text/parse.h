// The inverse of nfs4::Print: fills any struct of client/proto from its text form.
//
// Fields may stand in any order and may be left out: a field that is not named keeps its default. A
// number may be a name of the protocol (NF4LNK, NFS4ERR_STALE) or several with | between them, a
// string may be hexadecimal, bytes may be a string, and where one value stands for a record, it is
// the record's first field: LOOKUP "f" is LOOKUP {objname="f"}.
#pragma once

#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "client/proto/types.h"
#include "tests/lab/text/node.h"

namespace nfsrdma::lab {

/// What strings and opaques of parsed values view; must outlive them.
using TextMemory = std::deque<std::vector<std::byte>>;

/// The number behind a word: a number, a name of the protocol, or several with |.
std::optional<std::uint64_t> to_constant(std::string_view word);
/// The number of an attribute by its name ("size"), or nothing.
std::optional<std::uint32_t> to_attribute(std::string_view word);
/// Has each bitmap of attributes in it as names, as it would be read again.
void name_attributes(Node& node);

class Parse {
 public:
  /// `memory` takes what the values view.
  explicit Parse(TextMemory& memory) : memory_(memory) {}

  /// The whole value. The first fault ends it, and tells the line.
  template <class T>
  Result<void> value(const Node& node, T& value) {
    item(node, value);
    return failed_ ? Result<void>(fail(*failed_)) : Result<void>();
  }

  // What a field list calls.
  template <class T>
  void operator()(const char* name, T& value) {
    if (const Node* node = take(name)) item(*node, value);
  }
  template <class T>
  void operator()(const char* name, T& value, std::size_t bound) {
    bound_ = bound;
    (*this)(name, value);
    bound_ = std::numeric_limits<std::size_t>::max();
  }
  template <class T>
  void list(const char* name, std::vector<T>& value) {
    (*this)(name, value);
  }
  template <class D, class... Arms>
  void choose(const char* name, D& discriminant, Arms... arms) {
    (*this)(name, discriminant);
    if (failed_) return;
    if (!visit_arm(*this, discriminant, arms...))
      fault(record_->node->line, name, "has no such arm");
  }

 private:
  /// A record that is being gone through.
  struct Record {
    const Node* node;
    std::vector<bool> used;
    bool positional;  ///< `node` is the value of the first field
  };

  const Node* take(const char* name);
  void fault(int line, const std::string& what, const std::string& why);
  void enter(Record& record);
  void leave(Record& record, Record* outer);

  std::span<const std::byte> bytes(const Node& node);
  std::uint64_t number(const Node& node, std::uint64_t most);
  void item(const Node& node, bool& value);
  void item(const Node& node, std::int32_t& value);
  void item(const Node& node, std::int64_t& value);
  void item(const Node& node, std::string_view& value);
  void item(const Node& node, std::span<const std::byte>& value) { value = bytes(node); }
  void item(const Node& node, nfs4::Payload& value) { value.data = bytes(node); }
  void item(const Node& node, nfs4::bitmap4& value);
  void item(const Node& node, std::uint32_t& value) {
    value = static_cast<std::uint32_t>(number(node, std::numeric_limits<std::uint32_t>::max()));
  }
  void item(const Node& node, std::uint64_t& value) {
    value = number(node, std::numeric_limits<std::uint64_t>::max());
  }
  template <std::size_t N>
  void item(const Node& node, std::array<std::byte, N>& value) {
    const auto data = bytes(node);
    if (data.size() > N) return fault(node.line, to_text(node), "is too long");
    value.fill(std::byte{0});
    std::copy(data.begin(), data.end(), value.begin());
  }
  template <class T>
  void item(const Node& node, std::optional<T>& value) {
    value.reset();
    if (node.kind != Node::Kind::list || node.items.size() > 1) {
      return fault(node.line, to_text(node), "must be [] or [VALUE]");
    }
    if (!node.items.empty()) item(node.items.front(), value.emplace());
  }
  template <class T>
  void item(const Node& node, std::vector<T>& value) {
    value.clear();
    const std::size_t bound = std::exchange(bound_, std::numeric_limits<std::size_t>::max());
    if (node.kind != Node::Kind::list) return fault(node.line, to_text(node), "must be [VALUE...]");
    if (node.items.size() > bound) return fault(node.line, to_text(node), "is too long");
    for (const Node& each : node.items) item(each, value.emplace_back());
  }
  template <class T>
  void item(const Node& node, T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(number(node, std::numeric_limits<std::uint32_t>::max()));
    } else if constexpr (requires { value.assign(std::span<const std::byte>()); }) {
      if (!value.assign(bytes(node))) fault(node.line, to_text(node), "is too long");
    } else if constexpr (requires { value.bytes(); }) {
      value.value = bytes(node);
    } else {
      Record record{&node, {}, false};
      Record* const outer = record_;
      enter(record);
      if (!failed_) T::fields(value, *this);
      leave(record, outer);
    }
  }

  TextMemory& memory_;
  std::optional<Error> failed_;
  Record* record_ = nullptr;
  std::size_t bound_ = std::numeric_limits<std::size_t>::max();
};

/// Fills `value` from its text form.
template <class T>
Result<void> parse(const Node& node, T& value, TextMemory& memory) {
  Parse visit(memory);
  return visit.value(node, value);
}

}  // namespace nfsrdma::lab
