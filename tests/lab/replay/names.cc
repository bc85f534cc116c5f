#include "tests/lab/replay/names.h"

namespace nfsrdma::lab::replay {
namespace {

constexpr const char* kNoCookie = "0";

bool is_stateid(const Node& node) {
  return node.kind == Node::Kind::record && node.items.size() == 2 && node.find("seqid") &&
         node.find("other");
}

/// Those that mean no state of a server: all bits of `other` are 0, or 1 (RFC 8881 section 8.2.3).
bool is_special(const Node& stateid) {
  const std::string other = to_text(*stateid.find("other"));
  return other.find_first_not_of("0", 2) == std::string::npos ||
         other.find_first_not_of("f", 2) == std::string::npos;
}

/// What `values` has for the text, or null.
const std::string* look_up(const std::map<std::string, std::string>& values, const Node& node) {
  const auto found = values.find(to_text(node));
  return found == values.end() ? nullptr : &found->second;
}

}  // namespace

Node Names::name(const std::string& place) {
  used_.insert(place.substr(0, place.find('.')));
  return Node::word("$" + place);
}

void Names::walk(const Node& node, const std::string& place) {
  if (is_stateid(node)) {
    if (is_special(node)) return;
    stateids_[to_text(node)] = place;
    others_[to_text(*node.find("other"))] = place + ".other";
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const std::string step = node.names.empty() ? std::to_string(i + 1) : node.names[i];
    walk(node.items[i], place + "." + step);
  }
}

void Names::learn(std::string_view operation, const Node& result, const std::string& place) {
  walk(result, place);
  if (const Node* handle = operation == "GETFH" ? result.at("resok4.object") : nullptr) {
    // The first answer: a script may do without those between.
    handles_.emplace(to_text(*handle), place + ".resok4.object");
  }
  if (operation != "READDIR") return;
  if (const Node* verifier = result.at("resok4.cookieverf")) {
    verifiers_[to_text(*verifier)] = place + ".resok4.cookieverf";
  }
  const Node* entries = result.at("resok4.reply.entries");
  for (std::size_t i = 0; entries && i < entries->items.size(); ++i) {
    const Node* cookie = entries->items[i].find("cookie");
    if (!cookie) continue;
    cookies_[to_text(*cookie)] =
        place + ".resok4.reply.entries." + std::to_string(i + 1) + ".cookie";
  }
}

Node Names::stateid(const Node& node) {
  if (const std::string* place = look_up(stateids_, node)) return name(*place);
  const std::string* other = look_up(others_, *node.find("other"));
  if (!other) return node;
  Node mixed;
  mixed.add("seqid", *node.find("seqid"));
  mixed.add("other", name(*other));
  return mixed;
}

Node Names::replaced(std::string_view operation, const std::string& field, const Node& node) {
  if (is_stateid(node)) return stateid(node);
  if (node.kind == Node::Kind::word) {
    const bool handle = operation == "PUTFH" && field == "object";
    const bool reads_names = operation == "READDIR";
    const std::string* place = nullptr;
    if (handle) place = look_up(handles_, node);
    if (reads_names && field == "cookieverf") place = look_up(verifiers_, node);
    if (reads_names && field == "cookie" && node.text != kNoCookie) {
      place = look_up(cookies_, node);
    }
    if (place) return name(*place);
    if (field == "clientid" && node.text == client_) return Node::word("$client.eir_clientid");
    return node;
  }
  Node copy = node;
  for (std::size_t i = 0; i < copy.items.size(); ++i) {
    copy.items[i] = replaced(operation, copy.names.empty() ? "" : copy.names[i], copy.items[i]);
  }
  return copy;
}

Node Names::replace(std::string_view operation, const Node& arguments) {
  return replaced(operation, "", arguments);
}

}  // namespace nfsrdma::lab::replay
