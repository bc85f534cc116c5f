// Stateids of others, delegations that were not asked for, locks of absurd owners, absurd access.
#include "tests/hostile/lies.h"
#include "tests/proto/operations.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

template <int Byte, std::uint32_t Seqid>
stateid4 stateid_of() {
  stateid4 stateid;
  stateid.seqid = Seqid;
  stateid.other.fill(std::byte{Byte});
  return stateid;
}
constexpr std::uint32_t kMost = 0xffffffff;

template <int Byte, std::uint32_t Seqid>
void open_stateid(SpoiledReply& reply) {
  reply.edit<OPEN4res>([](OPEN4res& result) { result.resok4.stateid = stateid_of<Byte, Seqid>(); });
}
template <std::uint32_t Seqid>
void open_seqid(SpoiledReply& reply) {
  reply.edit<OPEN4res>([](OPEN4res& result) { result.resok4.stateid.seqid = Seqid; });
}
template <int Byte, std::uint32_t Seqid>
void lock_stateid(SpoiledReply& reply) {
  reply.edit<LOCK4res>(
      [](LOCK4res& result) { result.resok4.lock_stateid = stateid_of<Byte, Seqid>(); });
}
template <int Byte, std::uint32_t Seqid>
void unlock_stateid(SpoiledReply& reply) {
  reply.edit<LOCKU4res>([](LOCKU4res& result) { result.lock_stateid = stateid_of<Byte, Seqid>(); });
}
template <int Byte, std::uint32_t Seqid>
void close_stateid(SpoiledReply& reply) {
  reply.edit<CLOSE4res>([](CLOSE4res& result) { result.open_stateid = stateid_of<Byte, Seqid>(); });
}

template <std::uint32_t Flags>
void result_flags(SpoiledReply& reply) {
  reply.edit<OPEN4res>([](OPEN4res& result) { result.resok4.rflags = Flags; });
}
void all_set(SpoiledReply& reply) {
  reply.edit<OPEN4res>([](OPEN4res& result) { result.resok4.attrset.words.fill(kMost); });
}
template <bool Recall>
void read_delegation(SpoiledReply& reply) {
  reply.edit<OPEN4res>([](OPEN4res& result) {
    open_delegation4& delegation = result.resok4.delegation;
    delegation.delegation_type = OPEN_DELEGATE_READ;
    delegation.read.stateid = stateid_of<0x33, 1>();
    delegation.read.recall = Recall;
  });
}
template <int Byte, bool Recall>
void write_delegation(SpoiledReply& reply) {
  reply.edit<OPEN4res>([](OPEN4res& result) {
    open_delegation4& delegation = result.resok4.delegation;
    delegation.delegation_type = OPEN_DELEGATE_WRITE;
    delegation.write.stateid = stateid_of<Byte, 1>();
    delegation.write.recall = Recall;
  });
}
/// The type is the last word of a result without a delegation.
template <std::uint32_t Type>
void delegation_type(SpoiledReply& reply) {
  reply.edit<OPEN4res>([](OPEN4res& result) {
    result.resok4.delegation = {};
    result.resok4.delegation.delegation_type = OPEN_DELEGATE_NONE;
  });
  Bytes& body = reply.find(OP_OPEN)->body;
  for (std::size_t i = 0; i < 4; ++i) {
    body[body.size() - 4 + i] = static_cast<std::byte>(Type >> (24 - 8 * i));
  }
}

template <std::size_t Owner, std::uint64_t Offset, std::uint64_t Length, std::uint32_t Type>
LOCK4denied denial() {
  static const Bytes owner(Owner, std::byte{0xee});
  LOCK4denied denied;
  denied.offset = Offset;
  denied.length = Length;
  denied.locktype = static_cast<nfs_lock_type4>(Type);
  denied.owner.clientid = UINT64_MAX;
  denied.owner.owner = owner;
  return denied;
}
template <class Res, std::size_t Owner, std::uint64_t Offset, std::uint64_t Length,
          std::uint32_t Type>
void denied(SpoiledReply& reply) {
  reply.edit<Res>([](Res& result) {
    result.status = NFS4ERR_DENIED;
    result.denied = denial<Owner, Offset, Length, Type>();
  });
  reply.status = NFS4ERR_DENIED;
}
template <std::uint32_t Supported, std::uint32_t Access>
void access(SpoiledReply& reply) {
  reply.edit<ACCESS4res>([](ACCESS4res& result) {
    result.resok4.supported = Supported;
    result.resok4.access = Access;
  });
}

constexpr Lie kLies[] = {
    {"OPEN with a stateid of zeros", OP_OPEN, open_stateid<0, 0>, true},
    {"OPEN with a stateid of ones", OP_OPEN, open_stateid<0xff, kMost>, true},
    {"OPEN with the current stateid", OP_OPEN, open_stateid<0, 1>, true},
    {"OPEN with the stateid of somebody", OP_OPEN, open_stateid<0x44, 1>, true},
    {"OPEN with seqid 0", OP_OPEN, open_seqid<0>, true},
    {"OPEN with the largest seqid", OP_OPEN, open_seqid<kMost>, true},
    {"OPEN with a seqid in the middle", OP_OPEN, open_seqid<0x80000000>, true},
    {"OPEN with no flags", OP_OPEN, result_flags<0>},
    {"OPEN with all flags", OP_OPEN, result_flags<kMost>},
    {"OPEN with all attributes set", OP_OPEN, all_set, true},
    {"OPEN with a read delegation", OP_OPEN, read_delegation<false>, true},
    {"OPEN with a read delegation to be returned", OP_OPEN, read_delegation<true>, true},
    {"OPEN with a write delegation", OP_OPEN, write_delegation<0x55, false>, true},
    {"OPEN with a write delegation to be returned", OP_OPEN, write_delegation<0x55, true>, true},
    {"OPEN with a write delegation of zeros", OP_OPEN, write_delegation<0, false>, true},
    {"OPEN with a write delegation of ones", OP_OPEN, write_delegation<0xff, false>, true},
    {"OPEN with delegation type 4", OP_OPEN, delegation_type<4>},
    {"OPEN with the largest delegation type", OP_OPEN, delegation_type<kMost>},
    {"OPEN with a delegation without a body", OP_OPEN, delegation_type<1>},
    {"LOCK with a stateid of zeros", OP_LOCK, lock_stateid<0, 0>, true},
    {"LOCK with a stateid of ones", OP_LOCK, lock_stateid<0xff, kMost>, true},
    {"LOCK with the stateid of somebody", OP_LOCK, lock_stateid<0x44, 1>, true},
    {"LOCKU with a stateid of zeros", OP_LOCKU, unlock_stateid<0, 0>, true},
    {"LOCKU with the stateid of somebody", OP_LOCKU, unlock_stateid<0x44, 1>, true},
    {"CLOSE with a stateid of zeros", OP_CLOSE, close_stateid<0, 0>},
    {"CLOSE with the stateid of somebody", OP_CLOSE, close_stateid<0x44, 1>},
    {"LOCK denied by an empty owner", OP_LOCK, denied<LOCK4res, 0, 0, 1, 2>, true},
    {"LOCK denied by an owner of 1024 bytes", OP_LOCK, denied<LOCK4res, 1024, 0, 1, 2>, true},
    {"LOCK denied, lock type 0", OP_LOCK, denied<LOCK4res, 8, 0, 1, 0>, true},
    {"LOCKT denied by an empty owner", OP_LOCKT, denied<LOCKT4res, 0, 0, 1, 2>, true},
    {"LOCKT denied by an owner of 1024 bytes", OP_LOCKT, denied<LOCKT4res, 1024, 0, 1, 2>, true},
    {"LOCKT denied, length 0", OP_LOCKT, denied<LOCKT4res, 8, 5, 0, 2>, true},
    {"LOCKT denied, beyond the end", OP_LOCKT, denied<LOCKT4res, 8, UINT64_MAX, UINT64_MAX, 2>,
     true},
    {"LOCKT denied, past the end", OP_LOCKT, denied<LOCKT4res, 8, UINT64_MAX - 1, 5, 1>, true},
    {"LOCKT denied, lock type 99", OP_LOCKT, denied<LOCKT4res, 8, 0, 1, 99>, true},
    {"ACCESS supports nothing", OP_ACCESS, access<0, 0>, true},
    {"ACCESS supports all", OP_ACCESS, access<kMost, kMost>, true},
    {"ACCESS grants what it does not support", OP_ACCESS, access<0, kMost>, true},
};

}  // namespace

std::span<const Lie> lies_of_state() { return kLies; }

}  // namespace nfsrdma::hostile
