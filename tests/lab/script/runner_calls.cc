// What a runner sends, and the replies it waits for.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "tests/lab/script/runner.h"

namespace nfsrdma::lab::script {
namespace {

constexpr std::uint32_t kUsualCredits = 32;
/// A Reply chunk that `compound` offers by itself.
constexpr std::size_t kUsualReply = 128 * 1024;
/// What the counts of READ and READDIR add to it at most.
constexpr std::uint64_t kMostReply = 16 * 1024 * 1024;

/// A Reply chunk that takes what the operations ask for.
std::size_t reply_size(const std::vector<OperationText>& operations) {
  std::uint64_t size = kUsualReply;
  for (const OperationText& each : operations) {
    const char* field = each.name == "READDIR" ? "maxcount" : "count";
    const bool reads = each.name == "READ" || each.name == "READDIR";
    const Node* count = reads ? each.arguments.find(field) : nullptr;
    if (count) size += std::min(to_number(count->text).value_or(0), kMostReply);
  }
  return std::min(size, kMostReply);
}

Result<std::uint32_t> to_proc(const Node& node, const Bindings& bindings) {
  constexpr std::array<const char*, rdma::kProcs> kNames = {"MSG",  "NOMSG", "MSGP",
                                                            "DONE", "ERROR", "OPTIONAL"};
  for (std::uint32_t proc = 0; proc < kNames.size(); ++proc) {
    if (node.text == kNames[proc]) return proc;
  }
  auto number = number_of(node, bindings, UINT32_MAX);
  if (!number) return fail_from(number);
  return static_cast<std::uint32_t>(*number);
}

OperationText operation(int line, std::string name, Node arguments) {
  arguments.line = line;
  return {std::move(name), std::move(arguments), line};
}

Node record(std::initializer_list<std::pair<const char*, Node>> fields) {
  Node node;
  for (const auto& [name, value] : fields) node.add(name, value);
  return node;
}

}  // namespace

Result<std::uint64_t> Runner::option(const Node& options, const char* name,
                                     std::uint64_t otherwise) {
  const Node* node = options.find(name);
  if (!node) return otherwise;
  return number_of(*node, bindings_, UINT32_MAX);
}

std::string Runner::session_of(const Node& options) const {
  const Node* name = options.find("session");
  return name ? name->text : session_;
}

Result<OperationText> Runner::make_sequence(int line, const Node& options, std::uint32_t slot) {
  const auto found = sessions_.find(session_of(options));
  if (found == sessions_.end()) {
    return wrong(line, "slot= needs a session: the statement session comes first");
  }
  Session& session = found->second;
  std::uint32_t& next = session.next_sequence[slot];
  if (next == 0) next = 1;
  std::uint64_t sequence = next;
  if (const Node* told = options.find("seq")) {
    const bool relative = told->kind == Node::Kind::word && told->text.starts_with('+');
    auto number = relative
                      ? number_of(Node::word(told->text.substr(1), line), bindings_, UINT32_MAX)
                      : number_of(*told, bindings_, UINT32_MAX);
    if (!number) return fail_from(number);
    sequence = relative ? next + *number : *number;
  }
  const Node* cache = options.find("cache");
  return operation(
      line, "SEQUENCE",
      record({{"sa_sessionid", session.id},
              {"sa_sequenceid", Node::number(static_cast<std::uint32_t>(sequence))},
              {"sa_slotid", Node::number(slot)},
              {"sa_highest_slotid", Node::number(std::max<std::uint64_t>(session.slots, 1) - 1)},
              {"sa_cachethis", Node::word(cache ? cache->text : "false")}}));
}

Result<std::vector<OperationText>> Runner::resolve_operations(int line, const Send& what,
                                                              std::optional<std::uint32_t>& slot) {
  std::vector<OperationText> operations;
  if (what.options.find("slot")) {
    auto number = option(what.options, "slot", 0);
    if (!number) return fail_from(number);
    slot = static_cast<std::uint32_t>(*number);
    auto sequence = make_sequence(line, what.options, *slot);
    if (!sequence) return fail_from(sequence);
    operations.push_back(std::move(*sequence));
  }
  for (const OperationText& each : what.operations) {
    auto arguments = resolve(each.arguments, bindings_);
    if (!arguments) return fail_from(arguments);
    operations.push_back({each.name, std::move(*arguments), each.line});
  }
  return operations;
}

Result<void> Runner::resolve_chunks(const Send& what, const Encoded& encoded, Recipe& recipe) {
  for (const ReadChunkText& text : what.reads) {
    if (text.payload) {
      auto cut = resolve_chunk(text.segments, bindings_, recipe.line);
      if (!cut) return fail_from(cut);
      for (const Item& item : encoded.items) {
        if (!cut->empty()) {
          recipe.reads.push_back({item.position, *cut});
          continue;
        }
        const std::size_t size = text.padded ? xdr::padded(item.length) : item.length;
        recipe.reads.push_back({item.position, {Segment{size, {}, {}}}});
      }
      continue;
    }
    auto position = number_of(text.position, bindings_, UINT32_MAX);
    if (!position) return fail_from(position);
    auto segments = resolve_chunk(text.segments, bindings_, recipe.line);
    if (!segments) return fail_from(segments);
    recipe.reads.push_back({static_cast<std::uint32_t>(*position), std::move(*segments)});
  }
  for (const ChunkText& text : what.writes) {
    auto segments = resolve_chunk(text, bindings_, recipe.line);
    if (!segments) return fail_from(segments);
    recipe.writes.push_back(std::move(*segments));
  }
  if (what.reply) {
    auto segments = resolve_chunk(*what.reply, bindings_, recipe.line);
    if (!segments) return fail_from(segments);
    recipe.reply = std::move(*segments);
  }
  return {};
}

void Runner::add_usual_chunks(const std::vector<OperationText>& operations, const Encoded& encoded,
                              Recipe& recipe) const {
  if (!has_rdma(now_->peer().carrier())) return;
  if (!recipe.reply) recipe.reply = Segments{Segment{reply_size(operations), {}, {}}};
  const auto server = rdma::decode_private_data(now_->peer().private_data());
  const auto own = rdma::decode_private_data(now_->options().private_data);
  constexpr std::size_t kMostHeader = 256;
  const std::size_t room = std::min(server.receive_size, own.send_size) - kMostHeader;
  std::size_t left = recipe.rpc.size();
  if (left <= room || !recipe.reads.empty()) return;
  for (const Item& item : encoded.items) {
    recipe.reads.push_back({item.position, {Segment{item.length, {}, {}}}});
    left -= xdr::padded(item.length);
  }
  if (left > room) recipe.reads.insert(recipe.reads.begin(), {0, {Segment{left, {}, {}}}});
}

Result<Recipe> Runner::make_recipe(int line, const Send& what) {
  for (const std::string& name : what.options.names) {
    constexpr std::array<std::string_view, 16> kKnown = {
        "session", "xid", "vers",  "credits", "proc", "slot", "seq",     "cache",
        "tag",     "uid", "minor", "gid",     "body", "auth", "program", "rpcvers-of-program"};
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) {
      return wrong(line, name + " is no option of send or compound");
    }
  }
  Recipe recipe;
  recipe.line = line;
  CompoundOptions options;
  options.credential.uid = ::getuid();
  options.credential.gid = ::getgid();
  const auto take = [&](const char* name, auto& into) -> Result<void> {
    auto number = option(what.options, name, into);
    if (!number) return fail_from(number);
    into = static_cast<std::remove_reference_t<decltype(into)>>(*number);
    return {};
  };
  recipe.xid = what.options.find("xid") ? 0 : next_xid_++;
  recipe.session = session_of(what.options);
  recipe.credit = kUsualCredits;
  TRY(take("xid", recipe.xid));
  TRY(take("vers", recipe.version));
  TRY(take("credits", recipe.credit));
  TRY(take("minor", options.minor_version));
  TRY(take("uid", options.credential.uid));
  TRY(take("gid", options.credential.gid));
  TRY(take("program", options.program));
  TRY(take("rpcvers-of-program", options.version));
  options.xid = recipe.xid;
  if (const Node* tag = what.options.find("tag")) options.tag = tag->text;
  if (const Node* auth = what.options.find("auth"); auth && auth->text == "none") {
    options.credential.flavor = rpc::AuthFlavor::none;
  }
  if (const Node* proc = what.options.find("proc")) {
    auto number = to_proc(*proc, bindings_);
    if (!number) return fail_from(number);
    recipe.proc = *number;
  }
  auto operations = resolve_operations(line, what, recipe.slot);
  if (!operations) return fail_from(operations);
  auto encoded = encode_compound(options, what.null_procedure ? nullptr : &*operations);
  if (!encoded) return fail_from(encoded);
  if (const Node* body = what.options.find("body")) {
    auto value = resolve(*body, bindings_);
    if (!value) return fail_from(value);
    TextMemory memory;
    std::span<const std::byte> bytes;
    TRY(parse(*value, bytes, memory));
    *encoded = {Bytes(bytes.begin(), bytes.end()), {}};
  }
  recipe.rpc = encoded->rpc;
  TRY(resolve_chunks(what, *encoded, recipe));
  if (what.wait) add_usual_chunks(*operations, *encoded, recipe);
  return recipe;
}

Result<void> Runner::transmit(const Recipe& recipe) {
  if (now_->peer().down()) {
    return fail(Error::local(ENOTCONN, kConnectStep,
                             fmt::format("{}: the connection has ended: {}", recipe.line,
                                         now_->peer().down()->message())));
  }
  auto call = assemble(recipe, now_->peer());
  if (!call) {
    if (call.error().step == std::string_view(kScriptStep)) return fail_from(call);
    return fail(Error::local(EIO, kConnectStep,
                             fmt::format("{}: {}", recipe.line, call.error().message())));
  }
  last_xid_ = recipe.xid;
  sent_[recipe.xid] = recipe;
  note_sent(call->message);
  now_->forget_replies(recipe.xid);
  if (options_.verbose) {
    fmt::print(
        "{}: sent: xid={} bytes={}{}\n", recipe.line, recipe.xid, call->message.size(),
        now_->peer().sent_frame() ? fmt::format(" frame={}", now_->peer().sent_frame()) : "");
  }
  // That the connection has ended meanwhile is for the expectations to tell.
  (void)now_->send(std::move(*call));
  return {};
}

void Runner::note_sent(const Bytes& message) {
  proof_ = {message, {}, network_.capture() ? network_.packets() + 1 : 0, 0};
}

Result<const Reply*> Runner::await_reply(int line, std::uint32_t xid, Duration patience) {
  now_->until(patience, [&] { return now_->reply(xid) || now_->peer().down(); });
  if (const Reply* reply = now_->reply(xid)) return reply;
  const auto& down = now_->peer().down();
  return fail(Error::local(
      EPROTO, kExpectStep,
      fmt::format("{}: no reply to xid={}: {}", line, xid,
                  down ? "the connection has ended: " + down->message() : "time is over")));
}

void Runner::note_reply(const Reply& reply) {
  proof_.came = reply.bytes;
  proof_.came_frame = reply.frame;
  const auto sent = sent_.find(reply.xid);
  const Node* sequence = reply.content.at("SEQUENCE.resok4");
  if (!sequence) sequence = reply.content.at("SEQUENCE.sr_resok4");
  if (sent != sent_.end() && sent->second.slot && sequence) {
    const Node* id = sequence->find("sr_sequenceid");
    const auto done = id ? to_number(id->text) : std::nullopt;
    std::uint32_t& next = sessions_[sent->second.session].next_sequence[*sent->second.slot];
    if (done && static_cast<std::uint32_t>(*done) == next) ++next;
  }
  if (options_.verbose) {
    fmt::print("came: {}{}\n", to_text(reply.content),
               reply.frame ? fmt::format(" frame={}", reply.frame) : "");
  }
}

Result<void> Runner::execute(int line, const Send& what) {
  TRY(need_connection(line));
  auto recipe = make_recipe(line, what);
  if (!recipe) return fail_from(recipe);
  TRY(transmit(*recipe));
  if (!what.wait) {
    if (!what.name.empty()) bindings_[what.name] = Node::number(recipe->xid);
    return {};
  }
  auto reply = await_reply(line, recipe->xid, options_.patience);
  if (!reply) {
    if (!options_.keep_going) return fail_from(reply);
    events_.push_back({line, "no reply", {}});
    return {};
  }
  bindings_["reply"] = (*reply)->content;
  if (!what.name.empty()) bindings_[what.name] = (*reply)->content;
  events_.push_back({line, "reply", (*reply)->content});
  return {};
}

Result<void> Runner::execute(int line, const SendRaw& what) {
  TRY(need_connection(line));
  last_xid_ = what.bytes.size() < xdr::kUnit ? 0 : xdr::Decoder(what.bytes).u32("xid");
  now_->forget_replies(last_xid_);
  note_sent(what.bytes);
  (void)now_->send_raw(what.bytes);
  return {};
}

Result<void> Runner::execute(int line, const Resend& what) {
  TRY(need_connection(line));
  std::uint32_t xid = last_xid_;
  if (what.xid) {
    auto number = number_of(*what.xid, bindings_, UINT32_MAX);
    if (!number) return fail_from(number);
    xid = static_cast<std::uint32_t>(*number);
  }
  const auto sent = sent_.find(xid);
  if (sent == sent_.end()) return wrong(line, fmt::format("xid={} was not sent before", xid));
  Recipe again = sent->second;
  again.line = line;
  return transmit(again);
}

Result<Node> Runner::call(int line, std::vector<OperationText> operations) {
  Send what;
  what.wait = true;
  what.operations = std::move(operations);
  auto recipe = make_recipe(line, what);
  if (!recipe) return fail_from(recipe);
  TRY(transmit(*recipe));
  auto reply = await_reply(line, recipe->xid, options_.patience);
  if (!reply) return fail_from(reply);
  bindings_["reply"] = (*reply)->content;
  const Node* status = (*reply)->content.find("status");
  if (status && status->text == "NFS4_OK") return (*reply)->content;
  return fail(Error::local(EPROTO, kExpectStep,
                           fmt::format("{}: {} has failed: {}", line, what.operations.back().name,
                                       to_text((*reply)->content))));
}

Result<void> Runner::execute(int line, const OpenSession& what) {
  TRY(need_connection(line));
  const Node* owner = what.options.find("owner");
  auto slots = option(what.options, "slots", 16);
  if (!slots) return fail_from(slots);
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  auto client = call(
      line,
      {operation(line, "EXCHANGE_ID",
                 record({{"eia_clientowner",
                          record({{"co_verifier", Node::word(fmt::format("0x{:016x}", now))},
                                  {"co_ownerid", Node::quoted(owner ? owner->text
                                                                    : fmt::format("nfsrdma-lab {}",
                                                                                  ::getpid()))}})},
                         {"eia_flags", Node::word("EXCHGID4_FLAG_USE_NON_PNFS")}}))});
  if (!client) return fail_from(client);
  const Node* found = client->at("EXCHANGE_ID.eir_resok4");
  bindings_["client"] = *found;
  const Node* back = what.options.find("back");
  const Node fore = record({{"ca_maxrequestsize", Node::number(1053 * 1024)},
                            {"ca_maxresponsesize", Node::number(1053 * 1024)},
                            {"ca_maxresponsesize_cached", Node::number(64 * 1024)},
                            {"ca_maxoperations", Node::number(64)},
                            {"ca_maxrequests", Node::number(*slots)}});
  const Node backward = record({{"ca_maxrequestsize", Node::number(4096)},
                                {"ca_maxresponsesize", Node::number(4096)},
                                {"ca_maxoperations", Node::number(8)},
                                {"ca_maxrequests", Node::number(8)}});
  Node security{Node::Kind::list, "", {record({{"cb_secflavor", Node::number(0)}})}, {}, line};
  auto session = call(line, {operation(line, "CREATE_SESSION",
                                       record({{"csa_clientid", *found->find("eir_clientid")},
                                               {"csa_sequence", *found->find("eir_sequenceid")},
                                               {"csa_flags", Node::number(back ? 2 : 0)},
                                               {"csa_fore_chan_attrs", fore},
                                               {"csa_back_chan_attrs", backward},
                                               {"csa_cb_program", Node::number(0x40000000)},
                                               {"csa_sec_parms", security}}))});
  if (!session) return fail_from(session);
  const Node* made = session->at("CREATE_SESSION.csr_resok4");
  session_ = what.name;
  Session& kept = sessions_[session_] = {*made->find("csr_sessionid"), 1, {}};
  if (const Node* granted = made->at("csr_fore_chan_attrs.ca_maxrequests")) {
    kept.slots = to_number(granted->text).value_or(1);
  }
  bindings_["session"] = *made;
  if (!what.name.empty()) {
    bindings_[what.name] = record({{"client", bindings_["client"]}, {"session", *made}});
  }
  if (what.options.find("reclaim")) return {};
  Send complete;
  complete.wait = true;
  complete.options.add("slot", Node::number(0));
  complete.operations.push_back(operation(line, "RECLAIM_COMPLETE", Node()));
  // What a session is made of is no event: limits and flags are each server's own.
  const std::size_t events = events_.size();
  TRY(execute(line, complete));
  TRY(find_root(line));
  events_.resize(events);
  return {};
}

Result<void> Runner::find_root(int line) {
  Send find;
  find.wait = true;
  find.options.add("slot", Node::number(0));
  find.operations.push_back(operation(line, "PUTROOTFH", Node()));
  for (const std::string& component : options_.path) {
    find.operations.push_back(operation(line, "LOOKUP", Node::quoted(component, line)));
  }
  find.operations.push_back(operation(line, "GETFH", Node()));
  TRY(execute(line, find));
  const Node* handle = bindings_["reply"].at("GETFH.resok4.object");
  if (handle) {
    bindings_["root"] = *handle;
    return {};
  }
  // Without a directory that was named, a script may do without it.
  if (options_.path.empty()) return {};
  return fail(Error::local(
      ENOENT, kExpectStep,
      fmt::format("{}: the directory is not found: {}", line, to_text(bindings_["reply"]))));
}

}  // namespace nfsrdma::lab::script
