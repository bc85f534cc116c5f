#include "tests/lab/script/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "client/proto/attributes.h"
#include "tests/lab/text/parse.h"
#include "tests/proto/print.h"

namespace nfsrdma::lab::script {
namespace {

/// Fields of a message that belong to the transport, to one run, or to how busy a server is.
constexpr std::array<std::string_view, 12> kLeftOut = {
    "xid",      "bytes",           "credits",           "vers",
    "proc",     "reply_chunk",     "invalidated",       "tag",
    "segments", "sr_status_flags", "sr_highest_slotid", "sr_target_highest_slotid"};

/// Fields whose values are the server's own; equal ones stay equal.
constexpr std::array<std::string_view, 22> kOwn = {"sr_sessionid",   "csr_sessionid",
                                                   "bctsr_sessid",   "eir_clientid",
                                                   "other",          "object",
                                                   "writeverf",      "cookieverf",
                                                   "cookie",         "before",
                                                   "after",          "so_major_id",
                                                   "so_minor_id",    "csr_sequence",
                                                   "verf",           "eir_server_scope",
                                                   "eir_sequenceid", "eir_server_impl_id",
                                                   "change",         "fileid",
                                                   "filehandle",     "fsid"};

/// Attributes that are never the same.
constexpr std::array<std::string_view, 15> kVolatile = {
    "time_access", "time_modify",       "time_metadata",   "time_create",        "space_avail",
    "space_free",  "space_total",       "space_used",      "files_avail",        "files_free",
    "files_total", "mounted_on_fileid", "supported_attrs", "suppattr_exclcreat", "lease_time"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<Difference> first_difference(const Node& a, const Node& b, const std::string& path) {
  if (to_text(a) == to_text(b)) return std::nullopt;
  const bool alike = a.kind == b.kind && a.kind >= Node::Kind::list && a.names == b.names &&
                     a.items.size() == b.items.size();
  for (std::size_t i = 0; alike && i < a.items.size(); ++i) {
    const std::string name = a.names.empty() ? std::to_string(i + 1) : a.names[i];
    auto found = first_difference(a.items[i], b.items[i], path.empty() ? name : path + "." + name);
    if (found) return found;
  }
  return Difference{0, path, to_text(a), to_text(b)};
}

std::string Normalise::known(const std::string& kind, const std::string& value) {
  if (!equalities_) return kind;
  auto& values = seen_[kind];
  const auto [place, is_new] = values.emplace(value, values.size() + 1);
  return fmt::format("{}#{}", kind, place->second);
}

Node Normalise::attributes(const Node& fattr) {
  nfs4::fattr4 values;
  TextMemory memory;
  if (!parse(fattr, values, memory)) return fattr;
  const auto decoded = nfs4::decode_attributes(values);
  if (!decoded) return fattr;
  Node all;
  nfs4::Attributes::attributes(*decoded, [&](std::uint32_t bit, const char* name,
                                             const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if (!decoded->has(bit) || is_one_of(kVolatile, name)) return;
    // What a directory takes is up to the file system that the server has.
    const bool directory = decoded->has(nfs4::FATTR4_TYPE) && decoded->type == nfs4::NF4DIR;
    if (directory && bit == nfs4::FATTR4_SIZE) return;
    if constexpr (std::is_same_v<Value, nfs4::Owner>) {
      all.add(name, value.numeric ? Node::number(value.id) : Node::quoted(std::string(value.name)));
    } else {
      auto node = read_node(nfs4::print(value));
      if (node) all.add(name, normalised(name, *node));
    }
  });
  return all;
}

Node Normalise::normalised(const std::string& name, const Node& node) {
  if (is_one_of(kOwn, name)) return Node::word(known(name, to_text(node)));
  if (node.kind == Node::Kind::record && node.find("attrmask") && node.find("attr_vals")) {
    return attributes(node);
  }
  Node copy{node.kind, node.text, {}, {}, node.line};
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const bool named = node.kind == Node::Kind::record;
    if (named && is_one_of(kLeftOut, node.names[i])) continue;
    copy.items.push_back(normalised(named ? node.names[i] : "", node.items[i]));
    if (named) copy.names.push_back(node.names[i]);
  }
  return copy;
}

Node Normalise::operator()(const Node& node) { return normalised("", node); }

std::vector<Difference> find_differences(const std::vector<Event>& first,
                                         const std::vector<Event>& second) {
  std::vector<Difference> all;
  Normalise normalise_first, normalise_second;
  const std::size_t common = std::min(first.size(), second.size());
  for (std::size_t i = 0; i < common; ++i) {
    const Event& a = first[i];
    const Event& b = second[i];
    const Node left = normalise_first(a.content);
    const Node right = normalise_second(b.content);
    if (a.line != b.line || a.what != b.what) {
      all.push_back({std::min(a.line, b.line), "what came",
                     fmt::format("{} (line {})", a.what, a.line),
                     fmt::format("{} (line {})", b.what, b.line)});
      return all;  // nothing behind it stands side by side
    }
    auto difference = first_difference(left, right, "");
    if (!difference) continue;
    difference->line = a.line;
    difference->where = difference->where.empty() ? a.what : a.what + ": " + difference->where;
    all.push_back(std::move(*difference));
  }
  if (first.size() != second.size()) {
    const auto& longer = first.size() > second.size() ? first : second;
    const Event& event = longer[common];
    const bool of_first = first.size() > second.size();
    all.push_back({event.line, "what came", of_first ? event.what : "nothing",
                   of_first ? "nothing" : event.what});
  }
  return all;
}

}  // namespace nfsrdma::lab::script
