#include "tests/lab/replay/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "client/proto/ops_session.h"
#include "tests/lab/capture/conversation.h"
#include "tests/lab/capture/reader.h"
#include "tests/proto/operations.h"
#include "transport/rpc/message.h"

namespace nfsrdma::lab::replay {
namespace {

using SessionId = decltype(nfs4::SEQUENCE4args::sa_sessionid);
constexpr std::size_t kKeptData = std::size_t{512} << 20;
constexpr std::uint32_t kProcCompound = 1;

/// What the first operation of a COMPOUND says of whose it is.
struct Found {
  Exchange exchange;
  std::optional<SessionId> session;
  std::uint32_t slot = 0;
  std::uint32_t sequence = 0;
  std::optional<nfs4::clientid4> creates;  ///< a session for this client
};

/// All COMPOUNDs of a capture, of whatever client.
class Collector final : public WireObserverFactory {
 public:
  std::unique_ptr<WireObserver> on_connection(const ConnectionInfo& info) override;
  Result<Recording> take(std::size_t client);

 private:
  class Listener;
  /// Calls of a client: by its id, or by a session whose making the capture does not have.
  struct Client {
    std::uint64_t id = 0;
    bool back_channel = false;
    std::vector<std::size_t> calls;
  };

  void call(std::size_t connection, const RpcSeen& seen);
  void reply(std::size_t connection, const RpcSeen& seen);
  void note_session(Found& found);
  std::vector<Client> clients() const;
  void select(const Client& client, Recording& recording);

  Budget budget_{kKeptData};
  std::size_t kept_ = 0;
  bool full_ = false;
  std::size_t incomplete_ = 0;
  std::vector<Found> all_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> open_;
  std::map<SessionId, std::pair<std::uint64_t, bool>> sessions_;
};

class Collector::Listener final : public ConversationObserver {
 public:
  Listener(Collector& collector, std::size_t connection)
      : collector_(collector), connection_(connection) {}

  void on_rpc(const RpcSeen& seen) override {
    if (seen.direction == Direction::call && seen.source.from == Side::client) {
      collector_.call(connection_, seen);
    } else if (seen.direction == Direction::reply && seen.source.from == Side::server) {
      collector_.reply(connection_, seen);
    }
  }

 private:
  Collector& collector_;
  std::size_t connection_;
};

std::unique_ptr<WireObserver> Collector::on_connection(const ConnectionInfo& info) {
  auto conversation = std::make_unique<Conversation>(info, budget_);
  conversation->observe(std::make_unique<Listener>(*this, info.number));
  return conversation;
}

/// Whose a COMPOUND is, as far as its first operation tells.
void read_first(Found& found) {
  xdr::Decoder in(found.exchange.arguments);
  nfs4::COMPOUND4args_header header;
  nfs4::decode(in, header);
  const std::uint32_t operation = header.operations == 0 ? 0 : in.u32("opnum");
  if (operation == nfs4::OP_SEQUENCE) {
    nfs4::SEQUENCE4args sequence;
    nfs4::decode(in, sequence);
    if (!in.ok()) return;
    found.session = sequence.sa_sessionid;
    found.slot = sequence.sa_slotid;
    found.sequence = sequence.sa_sequenceid;
  } else if (operation == nfs4::OP_CREATE_SESSION) {
    nfs4::CREATE_SESSION4args creates;
    nfs4::decode(in, creates);
    if (in.ok()) found.creates = creates.csa_clientid;
  }
}

void Collector::call(std::size_t connection, const RpcSeen& seen) {
  if (!seen.message->complete) {
    ++incomplete_;
    return;
  }
  const auto& bytes = seen.message->bytes;
  xdr::Decoder in(bytes);
  const auto header = rpc::decode_call_header(in);
  if (!header || header->program != rpc::kNfsProgram || header->procedure != kProcCompound) return;
  if (kept_ + in.remaining() > kMostKept) {
    full_ = true;
    return;
  }
  kept_ += in.remaining();
  Found found;
  found.exchange.call_frame = seen.source.at.frame;
  found.exchange.uid = header->credential.uid;
  found.exchange.gid = header->credential.gid;
  found.exchange.auth_none = header->credential.flavor == rpc::AuthFlavor::none;
  found.exchange.arguments.assign(bytes.end() - static_cast<std::ptrdiff_t>(in.remaining()),
                                  bytes.end());
  read_first(found);
  open_[{connection, seen.xid}] = all_.size();
  all_.push_back(std::move(found));
}

void Collector::reply(std::size_t connection, const RpcSeen& seen) {
  const auto place = open_.find({connection, seen.xid});
  if (place == open_.end()) return;
  Found& found = all_[place->second];
  open_.erase(place);
  const auto& bytes = seen.message->bytes;
  xdr::Decoder in(bytes);
  if (!seen.message->complete || !rpc::decode_reply_header(in, seen.xid)) return;
  if (kept_ + in.remaining() > kMostKept) {
    full_ = true;
    return;
  }
  kept_ += in.remaining();
  found.exchange.reply_frame = seen.source.at.frame;
  found.exchange.results.assign(bytes.end() - static_cast<std::ptrdiff_t>(in.remaining()),
                                bytes.end());
  if (found.creates) note_session(found);
}

void Collector::note_session(Found& found) {
  xdr::Decoder in(found.exchange.results);
  nfs4::COMPOUND4res_header header;
  nfs4::decode(in, header);
  nfs4::CREATE_SESSION4res result;
  if (in.u32("opnum") != nfs4::OP_CREATE_SESSION) return;
  nfs4::decode(in, result);
  if (!in.ok() || result.csr_status != nfs4::NFS4_OK) return;
  sessions_[result.csr_resok4.csr_sessionid] = {
      *found.creates,
      (result.csr_resok4.csr_flags & nfs4::CREATE_SESSION4_FLAG_CONN_BACK_CHAN) != 0};
}

std::vector<Collector::Client> Collector::clients() const {
  std::vector<Client> all;
  std::map<std::pair<std::uint64_t, SessionId>, std::size_t> places;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!all_[i].session) continue;
    const auto made = sessions_.find(*all_[i].session);
    const bool known = made != sessions_.end();
    const auto key = known ? std::pair(made->second.first, SessionId{})
                           : std::pair(std::uint64_t{0}, *all_[i].session);
    const auto [place, is_new] = places.emplace(key, all.size());
    if (is_new) all.push_back({key.first, false, {}});
    Client& client = all[place->second];
    client.back_channel |= known && made->second.second;
    client.calls.push_back(i);
  }
  return all;
}

/// Whether SEQUENCE itself was refused.
bool refused(const Exchange& exchange) {
  xdr::Decoder in(exchange.results);
  nfs4::COMPOUND4res_header header;
  nfs4::decode(in, header);
  return in.ok() && header.operations == 1 && header.status != nfs4::NFS4_OK;
}

void Collector::select(const Client& client, Recording& recording) {
  std::map<std::tuple<SessionId, std::uint32_t, std::uint32_t>, std::size_t> places;
  for (const std::size_t i : client.calls) {
    Found& found = all_[i];
    if (found.exchange.reply_frame != 0 && refused(found.exchange)) {
      ++recording.refused;
      continue;
    }
    const auto key = std::tuple(*found.session, found.slot, found.sequence);
    const auto [place, is_new] = places.emplace(key, recording.exchanges.size());
    if (is_new) {
      recording.exchanges.push_back(std::move(found.exchange));
      continue;
    }
    ++recording.repeated;
    Exchange& first = recording.exchanges[place->second];
    if (first.reply_frame != 0) continue;
    first.reply_frame = found.exchange.reply_frame;
    first.results = std::move(found.exchange.results);
  }
}

tl::unexpected<Error> cannot(const std::string& what) {
  return fail(Error::local(EINVAL, "replay", what));
}

Result<Recording> Collector::take(std::size_t client) {
  if (full_) {
    return cannot(fmt::format("more than {} MiB of calls and answers: cut the capture with editcap",
                              kMostKept >> 20));
  }
  const auto all = clients();
  if (all.empty()) return cannot("the capture has no session of NFSv4.1");
  if (client > all.size()) return cannot(fmt::format("the capture has {} clients", all.size()));
  const auto busiest = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.calls.size() < b.calls.size();
  });
  const Client& chosen = client == 0 ? *busiest : all[client - 1];
  Recording recording;
  recording.client = chosen.id;
  recording.back_channel = chosen.back_channel;
  recording.clients = all.size();
  recording.incomplete = incomplete_;
  select(chosen, recording);
  return recording;
}

Result<Recording> read(Result<std::unique_ptr<PacketFile>> file, std::size_t client) {
  if (!file) return fail_from(file);
  Collector collector;
  const CaptureSummary summary = read_capture(**file, collector);
  auto recording = collector.take(client);
  if (!recording) return recording;
  recording->frames = summary.frames;
  recording->damaged = summary.damaged;
  return recording;
}

}  // namespace

Result<Recording> read_recording(const std::string& path, std::size_t client) {
  return read(PacketFile::open(path), client);
}

Result<Recording> read_recording(std::FILE* stream, std::size_t client) {
  return read(PacketFile::open(stream, "capture"), client);
}

}  // namespace nfsrdma::lab::replay
