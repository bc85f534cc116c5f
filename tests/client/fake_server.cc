#include "tests/client/fake_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tests/client/fake_channel.h"
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

FakeServer::FakeServer(Reactor& reactor) : reactor_(reactor) {
  set_session_handlers();
  on<GETFH4args, GETFH4res>(
      [](const GETFH4args&, GETFH4res& result) { result.resok4.object.length = 1; });
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

void FakeServer::disconnect() {
  if (!channel_) return;
  channel_->close(Error{Layer::fabric, static_cast<int>(fabric::Fault::reset), "test", {}});
}

void FakeServer::forget(bool client_too) {
  session_known_ = false;
  if (client_too) clientid_ = 0;
}

void FakeServer::retire_slots_above(slotid4 highest) {
  for (std::size_t i = highest + 1; i < slots_.size(); ++i) slots_[i] = {};
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
  if (what == Fate::disconnect_before) return {what, {}};
  return {what, execute(arrival, in)};
}

nfsstat4 FakeServer::sequence_status(const SEQUENCE4args& args) const {
  if (!session_known_ || args.sa_sessionid != session_id_) return NFS4ERR_BADSESSION;
  if (!bound_) return NFS4ERR_CONN_NOT_BOUND_TO_SESSION;
  if (args.sa_slotid >= slots_.size()) return NFS4ERR_BADSLOT;
  const Slot& slot = slots_[args.sa_slotid];
  const bool next = args.sa_sequenceid == slot.seq + 1;
  const bool same = args.sa_sequenceid == slot.seq;
  return next || same ? NFS4_OK : NFS4ERR_SEQ_MISORDERED;
}

void FakeServer::check_replay(const Slot& slot, const Arrival& arrival) {
  if (arrival.bytes != slot.request) {
    violations_.push_back(fmt::format("slot {} number {} used for two requests",
                                      arrival.sequence->sa_slotid, slot.seq));
  }
}

std::vector<std::byte> FakeServer::execute(const Arrival& arrival, xdr::Decoder in) {
  scratch_.resize(kReplyBytes);
  xdr::Encoder out(scratch_);
  auto header = rpc::decode_call_header(in);
  COMPOUND4args_header args;
  decode(in, args);
  Slot* slot = nullptr;
  if (arrival.sequence && sequence_status(*arrival.sequence) == NFS4_OK) {
    slot = &slots_[arrival.sequence->sa_slotid];
    if (slot->seq == arrival.sequence->sa_sequenceid) {
      check_replay(*slot, arrival);
      return slot->reply;
    }
  }
  const std::size_t start = out.size();
  const std::size_t count_at = encode_header(out, COMPOUND4res_header{NFS4_OK, args.tag, 0});
  std::uint32_t results = 0;
  const nfsstat4 status = run_operations(in, out, args.operations, results);
  out.patch(start, status);
  out.patch(count_at, results);
  std::vector<std::byte> reply(out.encoded().begin(), out.encoded().end());
  for (const auto& item : out.omitted()) {  // payloads travel inline here
    std::vector<std::byte> data(item.data.begin(), item.data.end());
    data.resize(xdr::padded(data.size()));
    reply.insert(reply.begin() + static_cast<std::ptrdiff_t>(item.offset), data.begin(),
                 data.end());
  }
  const bool delayed = results == 1 && status != NFS4_OK;
  if (slot && !delayed) {
    slot->seq = arrival.sequence->sa_sequenceid;
    slot->request = arrival.bytes;
    slot->reply = reply;
  }
  return reply;
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
  on<EXCHANGE_ID4args, EXCHANGE_ID4res>([this](const EXCHANGE_ID4args&, EXCHANGE_ID4res& result) {
    if (clientid_ == 0) {
      clientid_ = repeat_clientids ? next_clientid_ : next_clientid_++;
      result.eir_resok4.eir_sequenceid = 1;
    } else {
      result.eir_resok4.eir_flags = EXCHGID4_FLAG_CONFIRMED_R;
    }
    result.eir_resok4.eir_clientid = clientid_;
    result.eir_resok4.eir_flags |= EXCHGID4_FLAG_USE_NON_PNFS;
  });
  on<CREATE_SESSION4args, CREATE_SESSION4res>(
      [this](const CREATE_SESSION4args& args, CREATE_SESSION4res& result) {
        if (args.csa_clientid != clientid_) {
          result.csr_status = NFS4ERR_STALE_CLIENTID;
          return;
        }
        session_args_ = args;
        session_id_.fill(std::byte{next_session_++});
        result.csr_resok4 = {session_id_, args.csa_sequence, args.csa_flags,
                             args.csa_fore_chan_attrs, args.csa_back_chan_attrs};
        if (adjust_session) adjust_session(args, result.csr_resok4);
        slots_.assign(args.csa_fore_chan_attrs.ca_maxrequests, Slot{});
        granted_slots_ = result.csr_resok4.csr_fore_chan_attrs.ca_maxrequests;
        session_known_ = bound_ = true;
      });
  on<BIND_CONN_TO_SESSION4args, BIND_CONN_TO_SESSION4res>(
      [this](const BIND_CONN_TO_SESSION4args& args, BIND_CONN_TO_SESSION4res& result) {
        if (!session_known_ || args.bctsa_sessid != session_id_) {
          result.bctsr_status = NFS4ERR_BADSESSION;
          return;
        }
        bound_ = true;
        result.bctsr_resok4 = {session_id_, CDFS4_BOTH, false};
      });
  on<SEQUENCE4args, SEQUENCE4res>([this](const SEQUENCE4args& args, SEQUENCE4res& result) {
    result.sr_status = sequence_status(args);
    const slotid4 highest = granted_slots_ - 1;
    result.sr_resok4 = {args.sa_sessionid,
                        args.sa_sequenceid,
                        args.sa_slotid,
                        highest,
                        target_highest_slotid.value_or(highest),
                        status_flags};
  });
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
