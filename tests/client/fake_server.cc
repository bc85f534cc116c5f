#include "tests/client/fake_server.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/client/fake_channel.h"
#include "tests/responder/nfs/fs/siphash.h"
#include "tests/support/unreduced.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

constexpr std::size_t kReplyBytes = 1 << 20;
constexpr std::size_t kCallbackReplyBytes = 4096;

}  // namespace

bool Arrival::has(nfs_opnum4 opnum) const {
  return std::ranges::find(operations, opnum) != operations.end();
}

FakeServer::FakeServer(Reactor& reactor) : reactor_(reactor), sessions_({}, instance_) {
  forget(true);
  set_session_handlers();
  on<GETFH4args, GETFH4res>(
      [](const GETFH4args&, GETFH4res& result) { result.resok4.object.length = 1; });
  on<ACCESS4args, ACCESS4res>([](const ACCESS4args& args, ACCESS4res& result) {
    result.resok4 = {args.access, args.access};
  });
}

FakeServer::~FakeServer() = default;

Result<std::unique_ptr<rpc::Channel>> FakeServer::connect(rpc::ChannelObserver& observer) {
  if (unreachable) {
    return nfsrdma::fail(
        Error{Layer::fabric, static_cast<int>(fabric::Fault::refused), "connect", {}});
  }
  auto channel = std::make_unique<FakeChannel>(reactor_, *this, observer, ++connections_);
  channel_ = channel.get();
  bound_ = false;
  return channel;
}

void FakeServer::fail(nfs_opnum4 opnum, nfsstat4 status, int times) {
  failures_[opnum] = {status, times};
}

void FakeServer::release() {
  if (channel_) channel_->release();
}

void FakeServer::release_first() {
  if (channel_) channel_->release_first();
}

void FakeServer::disconnect() {
  if (!channel_) return;
  channel_->close(Error{Layer::fabric, static_cast<int>(fabric::Fault::reset), "test", {}});
}

void FakeServer::forget(bool client_too) {
  sessions_.destroy_all();
  if (!client_too) return;
  clients_ = std::make_unique<responder::ClientTable>(
      repeat_clientids ? instance_ : instance_++,
      [this](const responder::Client& client) { sessions_.destroy_all_of(client); });
}

void FakeServer::retire_slots_above(slotid4 highest) {
  const responder::SessionRef session = sessions_.find(session_id_);
  if (!session) return;
  session->set_target(highest + 1);
  session->adjust_slots(highest);
}

std::vector<Arrival> FakeServer::arrivals_of(nfs_opnum4 opnum) const {
  std::vector<Arrival> found;
  std::ranges::copy_if(arrivals_, std::back_inserter(found),
                       [opnum](const Arrival& arrival) { return arrival.has(opnum); });
  return found;
}

std::size_t FakeServer::executions_of(nfs_opnum4 opnum) const {
  const auto place = executions_.find(opnum);
  return place == executions_.end() ? 0 : place->second;
}

namespace {

/// Skips what the fake does not look at: the arguments of one operation.
bool skip_arguments(nfs_opnum4 opnum, xdr::Decoder& in) {
  return Operations::dispatch(opnum, [&](auto operation) {
    typename decltype(operation)::Args args;
    decode(in, args);
  });
}

Arrival describe(const rpc::Call& call, xdr::Decoder in, int connection, TimePoint now) {
  Arrival arrival;
  arrival.connection = connection;
  arrival.at = now;
  arrival.max_reply = call.max_reply;
  arrival.result_sink = !call.result_sink.empty();
  arrival.urgency = call.urgency;
  arrival.pace = call.pace;
  const auto bytes = call.encoder.encoded();
  arrival.bytes.assign(bytes.begin(), bytes.end());
  auto header = rpc::decode_call_header(in);
  if (!header) return arrival;
  arrival.xid = header->xid;
  arrival.caller = header->credential;
  COMPOUND4args_header compound;
  decode(in, compound);
  for (std::uint32_t i = 0; i < compound.operations && in.ok(); ++i) {
    const auto opnum = static_cast<nfs_opnum4>(in.u32("argop"));
    arrival.operations.push_back(opnum);
    if (opnum == OP_SEQUENCE) {
      arrival.sequence.emplace();
      decode(in, *arrival.sequence);
    } else if (!skip_arguments(opnum, in)) {
      break;
    }
  }
  return arrival;
}

std::vector<xdr::PlacedItem> placed_arguments(const rpc::Call& call) {
  std::vector<xdr::PlacedItem> items;
  for (const auto& item : call.encoder.omitted()) items.push_back({item.offset, item.data});
  return items;
}

}  // namespace

Arrival describe_call(const rpc::Call& call, int connection, TimePoint now) {
  const auto items = placed_arguments(call);
  xdr::Decoder in(call.encoder.encoded());
  in.place_at_offsets(items);
  return describe(call, in, connection, now);
}

FakeServer::Outcome FakeServer::receive(int connection, rpc::Call& call) {
  const auto items = placed_arguments(call);
  xdr::Decoder in(call.encoder.encoded());
  in.place_at_offsets(items);
  const Arrival arrival = describe(call, in, connection, reactor_.now());
  arrivals_.push_back(arrival);
  if (arrival.xid != call.xid) violations_.push_back("the XID encoded is not the call's");
  const Fate what = fate ? fate(arrival) : Fate::answer;
  if (what == Fate::disconnect_before || what == Fate::refuse) return {what, {}};
  return {what, execute(arrival, in)};
}

responder::Outcome<responder::Slot*> FakeServer::slot_for(const SEQUENCE4args& args) const {
  const responder::SessionRef session = sessions_.find(args.sa_sessionid);
  if (!session) return responder::refuse(NFS4ERR_BADSESSION);
  // Stricter than the responder, where a connection is bound by the SEQUENCE itself.
  if (!bound_) return responder::refuse(NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
  return session->slot_for(args);
}

std::vector<std::byte> FakeServer::execute(const Arrival& arrival, xdr::Decoder in) {
  scratch_.resize(kReplyBytes);
  xdr::Encoder out(scratch_);
  auto header = rpc::decode_call_header(in);
  const auto& sequence = arrival.sequence;
  const auto session = sequence ? sessions_.find(sequence->sa_sessionid) : nullptr;
  if (session) session->set_target(target() + 1);
  const auto slot = session ? slot_for(*sequence) : responder::refuse(NFS4ERR_BADSESSION);
  const std::uint64_t fingerprint = responder::siphash({}, arrival.bytes);
  if (slot && is_retry(**slot, *sequence, fingerprint)) {
    replay(**slot, out);
  } else if (run_compound(in, out) && slot && sessions_.find(session->id)) {
    session->begin(**slot, *sequence, fingerprint);
    (*slot)->reply.store(out, 0);
    (*slot)->in_progress = false;
  }
  return testing_support::unreduced(out);  // payloads travel inline here
}

// A request that takes the number of another one is answered as by a server that compares nothing.
bool FakeServer::is_retry(const responder::Slot& slot, const SEQUENCE4args& args,
                          std::uint64_t fingerprint) {
  const auto order = slot.check(args.sa_sequenceid, fingerprint);
  if (order) return *order == responder::Order::retry;
  if (order.error() != NFS4ERR_SEQ_FALSE_RETRY) return false;
  violations_.push_back(
      fmt::format("slot {} number {} used for two requests", args.sa_slotid, slot.sequence));
  return true;
}

void FakeServer::replay(const responder::Slot& slot, xdr::Encoder& out) {
  replayed_.clear();
  const bool fits = slot.reply.replay(
      out, [this](std::size_t size) { return std::span<std::byte>(replayed_.emplace_back(size)); });
  if (!fits) violations_.push_back("a reply of more bytes than the fake has memory for");
}

bool FakeServer::run_compound(xdr::Decoder& in, xdr::Encoder& out) {
  COMPOUND4args_header args;
  decode(in, args);
  const std::size_t count_at = encode_header(out, COMPOUND4res_header{NFS4_OK, args.tag, 0});
  std::uint32_t results = 0;
  const nfsstat4 status = run_operations(in, out, args.operations, results);
  out.patch(0, status);
  out.patch(count_at, results);
  return results > 1 || status == NFS4_OK;
}

nfsstat4 FakeServer::run_operations(xdr::Decoder& in, xdr::Encoder& out, std::uint32_t count,
                                    std::uint32_t& results) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto opnum = static_cast<nfs_opnum4>(in.u32("argop"));
    ++results;
    const nfsstat4 status = run_one(opnum, in, out);
    if (!in.ok()) {
      violations_.push_back(in.error("fake server").message());
      return NFS4ERR_BADXDR;
    }
    if (status != NFS4_OK) return status;
  }
  return NFS4_OK;
}

nfsstat4 FakeServer::run_one(nfs_opnum4 opnum, xdr::Decoder& in, xdr::Encoder& out) {
  nfsstat4 status = NFS4_OK;
  auto failure = failures_.find(opnum);
  if (failure != failures_.end() && failure->second.second > 0) {
    --failure->second.second;
    status = failure->second.first;
  }
  if (status == NFS4_OK) {
    if (auto handler = handlers_.find(opnum); handler != handlers_.end()) {
      ++executions_[opnum];
      return handler->second(in, out);
    }
    ++executions_[opnum];
  }
  const bool known = Operations::dispatch(opnum, [&](auto operation) {
    typename decltype(operation)::Args args;
    typename decltype(operation)::Res result;
    decode(in, args);
    status_of(result) = status;
    encode_operation(out, result);
  });
  if (!known) violations_.push_back("an operation the codec does not know");
  return status;
}

void FakeServer::set_session_handlers() {
  on<EXCHANGE_ID4args, EXCHANGE_ID4res>(
      [this](const EXCHANGE_ID4args& args, EXCHANGE_ID4res& result) {
        const auto client =
            clients_->exchange(args, {}, TimePoint{},
                               {[this](const auto& known) { return sessions_.has_any(known); },
                                [](const auto&) { return false; }});
        if (!client) {
          result.eir_status = client.error();
          return;
        }
        result.eir_resok4.eir_clientid = (*client)->id;
        result.eir_resok4.eir_sequenceid = (*client)->session_sequence + 1;
        result.eir_resok4.eir_flags = EXCHGID4_FLAG_USE_NON_PNFS;
        if ((*client)->confirmed) result.eir_resok4.eir_flags |= EXCHGID4_FLAG_CONFIRMED_R;
      });
  on<CREATE_SESSION4args, CREATE_SESSION4res>(
      [this](const CREATE_SESSION4args& args, CREATE_SESSION4res& result) {
        create_session(args, result);
      });
  on<BIND_CONN_TO_SESSION4args, BIND_CONN_TO_SESSION4res>(
      [this](const BIND_CONN_TO_SESSION4args& args, BIND_CONN_TO_SESSION4res& result) {
        if (!sessions_.find(args.bctsa_sessid)) {
          result.bctsr_status = NFS4ERR_BADSESSION;
          return;
        }
        bound_ = true;
        result.bctsr_resok4 = {args.bctsa_sessid, CDFS4_BOTH, false};
      });
  on<SEQUENCE4args, SEQUENCE4res>([this](const SEQUENCE4args& args, SEQUENCE4res& result) {
    if (const auto slot = slot_for(args); !slot) {
      result.sr_status = slot.error();
    } else if (const auto order = (*slot)->check(args.sa_sequenceid, 0); !order) {
      result.sr_status = order.error();
    }
    result.sr_resok4 = {args.sa_sessionid,  args.sa_sequenceid, args.sa_slotid,
                        granted_slots_ - 1, target(),           status_flags};
  });
}

slotid4 FakeServer::target() const { return target_highest_slotid.value_or(granted_slots_ - 1); }

void FakeServer::create_session(const CREATE_SESSION4args& args, CREATE_SESSION4res& result) {
  responder::Client* client = clients_->find(args.csa_clientid);
  if (!client) {
    result.csr_status = NFS4ERR_STALE_CLIENTID;
    return;
  }
  const auto order = client->order_of_creation(args.csa_sequence);
  if (!order) {
    result.csr_status = order.error();
  } else if (*order == responder::Order::retry) {
    result = *client->last_create_session;
  } else if (sessions_to_refuse > 0) {
    --sessions_to_refuse;
    result.csr_status = NFS4ERR_NOSPC;
    client->keep_creation(args.csa_sequence, result);
  } else {
    clients_->confirm(*client);
    session_args_ = args;
    session_id_ = sessions_.create(*client, args.csa_fore_chan_attrs)->id;
    result.csr_resok4 = {session_id_, args.csa_sequence, args.csa_flags, args.csa_fore_chan_attrs,
                         args.csa_back_chan_attrs};
    if (adjust_session) adjust_session(args, result.csr_resok4);
    granted_slots_ = result.csr_resok4.csr_fore_chan_attrs.ca_maxrequests;
    client->keep_creation(args.csa_sequence, result);
  }
  bound_ = result.csr_status == NFS4_OK;
}

namespace {

/// A backward call that keeps its answer.
class FakeBackwardCall final : public rpc::BackwardCall {
 public:
  FakeBackwardCall(std::vector<std::byte> arguments,
                   std::vector<FakeServer::CallbackAnswer>& answers)
      : bytes_(std::move(arguments)),
        reply_(kCallbackReplyBytes),
        arguments_(bytes_),
        results_(reply_),
        answers_(answers) {}

  const rpc::CallHeader& header() const override { return header_; }
  rpc::CallHeader& mutable_header() { return header_; }
  xdr::Decoder& arguments() override { return arguments_; }
  xdr::Encoder& results() override { return results_; }
  void answer(rpc::AcceptStat status) override {
    const auto bytes = results_.encoded();
    answers_.push_back({status, {bytes.begin(), bytes.end()}});
    delete this;
  }

 private:
  rpc::CallHeader header_;
  std::vector<std::byte> bytes_;
  std::vector<std::byte> reply_;
  xdr::Decoder arguments_;
  xdr::Encoder results_;
  std::vector<FakeServer::CallbackAnswer>& answers_;
};

}  // namespace

void FakeServer::call_back(std::function<void(xdr::Encoder&)> encode, std::uint32_t program,
                           std::uint32_t version, std::uint32_t procedure) {
  std::vector<std::byte> memory(kCallbackReplyBytes);
  xdr::Encoder out(memory);
  encode(out);
  memory.resize(out.size());
  auto* call = new FakeBackwardCall(std::move(memory), callback_answers_);
  call->mutable_header().program = program;
  call->mutable_header().version = version;
  call->mutable_header().procedure = procedure;
  channel_->deliver(*call);
}

}  // namespace nfsrdma::client::test
