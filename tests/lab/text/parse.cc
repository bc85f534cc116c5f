#include "tests/lab/text/parse.h"

#include <fmt/format.h>

#include "client/proto/attributes.h"
#include "tests/support/similar_status.h"

namespace nfsrdma::lab {

void Parse::fault(int line, const std::string& what, const std::string& why) {
  constexpr std::size_t kShown = 80;
  if (failed_) return;
  const bool whole = what.size() <= kShown;
  auto error = wrong(line, fmt::format("{}{} {}", what.substr(0, kShown), whole ? "" : "...", why));
  failed_ = std::move(error.value());
}

const Node* Parse::take(const char* name) {
  if (failed_ || !record_) return nullptr;
  if (record_->positional) {
    if (record_->used[0]) return nullptr;
    record_->used[0] = true;
    return record_->node;
  }
  const auto& names = record_->node->names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (record_->used[i] || names[i] != name) continue;
    record_->used[i] = true;
    return &record_->node->items[i];
  }
  return nullptr;
}

void Parse::enter(Record& record) {
  record.positional = record.node->kind != Node::Kind::record;
  record.used.resize(record.positional ? 1 : record.node->items.size());
  record_ = &record;
}

void Parse::leave(Record& record, Record* outer) {
  record_ = outer;
  for (std::size_t i = 0; i < record.used.size(); ++i) {
    if (record.used[i]) continue;
    fault(record.node->line, record.positional ? to_text(*record.node) : record.node->names[i],
          record.positional ? "is no record {FIELD=VALUE ...}" : "is no field here");
  }
}

std::span<const std::byte> Parse::bytes(const Node& node) {
  if (node.kind == Node::Kind::text) {
    const auto data = std::as_bytes(std::span(node.text));
    return memory_.emplace_back(data.begin(), data.end());
  }
  if (node.kind == Node::Kind::word) {
    if (auto data = to_bytes(node.text)) return memory_.emplace_back(std::move(*data));
  }
  if (const Node* length = node.find("length"); length && node.kind == Node::Kind::record) {
    const Node* fill = node.find("fill");
    const auto size = number(*length, nfs4::kMaxLinkText * nfs4::kMaxLinkText / 64);
    const auto value = fill ? number(*fill, UINT8_MAX) : 0;
    return memory_.emplace_back(size, static_cast<std::byte>(value));
  }
  fault(node.line, to_text(node), "must be 0xHEX, \"TEXT\" or {length=N fill=BYTE}");
  return {};
}

std::uint64_t Parse::number(const Node& node, std::uint64_t most) {
  const auto value = node.kind == Node::Kind::word ? to_constant(node.text) : std::nullopt;
  if (!value) {
    const auto meant = testing_support::similar_status(node.text);
    const std::string why = "is no number, and no name of one";
    fault(node.line, to_text(node),
          meant.empty() ? why : why + ": did you mean " + std::string(meant) + "?");
    return 0;
  }
  if (*value > most) fault(node.line, to_text(node), "is too large");
  return *value;
}

void Parse::item(const Node& node, bool& value) {
  const bool yes = node.kind == Node::Kind::word && node.text == "true";
  const bool no = node.kind == Node::Kind::word && node.text == "false";
  if (!yes && !no) fault(node.line, to_text(node), "must be true or false");
  value = yes;
}

void Parse::item(const Node& node, std::int32_t& value) {
  std::int64_t wide = 0;
  item(node, wide);
  if (wide != static_cast<std::int32_t>(wide)) fault(node.line, to_text(node), "is too large");
  value = static_cast<std::int32_t>(wide);
}

void Parse::item(const Node& node, std::int64_t& value) {
  const bool negative = node.kind == Node::Kind::word && node.text.starts_with('-');
  if (!negative) {
    value = static_cast<std::int64_t>(number(node, INT64_MAX));
    return;
  }
  constexpr std::uint64_t kMost = std::uint64_t{INT64_MAX} + 1;
  const std::uint64_t size = number(Node::word(node.text.substr(1), node.line), kMost);
  value = static_cast<std::int64_t>(0 - size);
}

void Parse::item(const Node& node, std::string_view& value) {
  const auto data = bytes(node);
  value = {reinterpret_cast<const char*>(data.data()), data.size()};
}

void Parse::item(const Node& node, nfs4::bitmap4& value) {
  value = {};
  if (node.kind != Node::Kind::list) return fault(node.line, to_text(node), "must be [WORD...]");
  std::size_t words = 0;
  for (const Node& each : node.items) {
    const auto bit = each.kind == Node::Kind::word ? to_attribute(each.text) : std::nullopt;
    if (bit) {
      value.set(*bit);
    } else if (words == value.words.size()) {
      return fault(node.line, to_text(node), "has more words than NFSv4.1 has attributes");
    } else {
      value.words[words++] |= static_cast<std::uint32_t>(number(each, UINT32_MAX));
    }
  }
}

std::optional<std::uint32_t> to_attribute(std::string_view word) {
  for (std::uint32_t bit = 0; bit < nfs4::bitmap4::kBits; ++bit) {
    if (word == nfs4::attribute_name(bit) && nfs4::known_attributes().test(bit)) return bit;
  }
  return std::nullopt;
}

namespace {

/// The words of a bitmap, as print() has them; nothing for what is none.
std::optional<nfs4::bitmap4> bitmap_of(const Node& list) {
  nfs4::bitmap4 bits;
  if (list.kind != Node::Kind::list || list.items.size() > bits.words.size()) return std::nullopt;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const auto word = to_number(list.items[i].text);
    if (!word || *word > UINT32_MAX) return std::nullopt;
    bits.words[i] = static_cast<std::uint32_t>(*word);
  }
  return bits;
}

/// Names, and behind them words for bits that are no attributes.
Node list_of(nfs4::bitmap4 bits) {
  Node list;
  list.kind = Node::Kind::list;
  for (std::uint32_t bit = 0; bit < nfs4::bitmap4::kBits; ++bit) {
    if (!bits.test(bit) || !nfs4::known_attributes().test(bit)) continue;
    list.items.push_back(Node::word(nfs4::attribute_name(bit)));
    bits.clear(bit);
  }
  std::size_t words = bits.words.size();
  while (words > 0 && bits.words[words - 1] == 0) --words;
  for (std::size_t i = 0; i < words; ++i) list.items.push_back(Node::number(bits.words[i]));
  return list;
}

}  // namespace

void name_attributes(Node& node) {
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    Node& item = node.items[i];
    const bool named = node.kind == Node::Kind::record &&
                       (node.names[i] == "attr_request" || node.names[i] == "attrmask");
    if (const auto bits = named ? bitmap_of(item) : std::nullopt) {
      item = list_of(*bits);
    } else {
      name_attributes(item);
    }
  }
}

}  // namespace nfsrdma::lab
