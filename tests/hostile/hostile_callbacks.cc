#include "tests/hostile/hostile_callbacks.h"

namespace nfsrdma::hostile {

using namespace nfs4;

namespace {

constexpr std::uint32_t kMost = 0xffffffff;

void header(xdr::Encoder& out, std::uint32_t operations, std::uint32_t minor = 1) {
  CB_COMPOUND4args_header head;
  head.minorversion = minor;
  head.operations = operations;
  encode(out, head);
}
CB_SEQUENCE4args sequence(const Back& back) {
  CB_SEQUENCE4args args;
  args.csa_sessionid = back.session;
  args.csa_sequenceid = back.used + back.turn + 1;
  return args;
}
template <void (*Change)(CB_SEQUENCE4args&)>
void wrong_sequence(xdr::Encoder& out, const Back& back) {
  CB_SEQUENCE4args args = sequence(back);
  Change(args);
  header(out, 1);
  encode_operation(out, args);
}
template <class Args, const Args& (*Make)()>
void with(xdr::Encoder& out, const Back& back) {
  header(out, 2);
  encode_operation(out, sequence(back));
  encode_operation(out, Make());
}

void other_session(CB_SEQUENCE4args& a) { a.csa_sessionid[0] ^= std::byte{1}; }
void slot_one(CB_SEQUENCE4args& a) { a.csa_slotid = 1; }
void largest_slot(CB_SEQUENCE4args& a) { a.csa_slotid = kMost; }
void largest_highest(CB_SEQUENCE4args& a) { a.csa_highest_slotid = kMost; }
void number_zero(CB_SEQUENCE4args& a) { a.csa_sequenceid = 0; }
void far_ahead(CB_SEQUENCE4args& a) { a.csa_sequenceid += 1000; }
void always_the_first(CB_SEQUENCE4args& a) { a.csa_sequenceid = 1; }
void refers_to_many(CB_SEQUENCE4args& a) {
  a.csa_referring_call_lists.resize(8);
  for (auto& list : a.csa_referring_call_lists) list.rcl_referring_calls.resize(30);
}

const CB_RECALL4args& unknown_recall() {
  static CB_RECALL4args args;
  args.fh.length = 20;
  return args;
}
const CB_GETATTR4args& unknown_getattr() {
  static CB_GETATTR4args args;
  args.fh.length = NFS4_FHSIZE;
  args.attr_request.words.fill(kMost);
  return args;
}
template <std::uint32_t Target>
const CB_RECALL_SLOT4args& recall_slot() {
  static CB_RECALL_SLOT4args args;
  args.rsa_target_highest_slotid = Target;
  return args;
}
template <std::uint32_t Keep>
const CB_RECALL_ANY4args& recall_any() {
  static CB_RECALL_ANY4args args;
  args.craa_objects_to_keep = Keep;
  args.craa_type_mask.words.fill(kMost);
  return args;
}
const CB_NOTIFY_LOCK4args& notify_lock() {
  static CB_NOTIFY_LOCK4args args;
  return args;
}

void nothing(xdr::Encoder&, const Back&) {}
void no_operations(xdr::Encoder& out, const Back&) { header(out, 0); }
void fewer_operations(xdr::Encoder& out, const Back& back) {
  header(out, 5);
  encode_operation(out, sequence(back));
}
void too_many_operations(xdr::Encoder& out, const Back& back) {
  header(out, kMost);
  encode_operation(out, sequence(back));
}
void other_minor(xdr::Encoder& out, const Back&) { header(out, 1, 7); }
void without_sequence(xdr::Encoder& out, const Back&) {
  header(out, 1);
  encode_operation(out, unknown_recall());
}
void sequence_twice(xdr::Encoder& out, const Back& back) {
  header(out, 2);
  encode_operation(out, sequence(back));
  encode_operation(out, sequence(back));
}
template <std::uint32_t Opnum>
void numbered(xdr::Encoder& out, const Back& back) {
  header(out, 2);
  encode_operation(out, sequence(back));
  out.u32(Opnum);
}
void cut_recall(xdr::Encoder& out, const Back& back) {
  with<CB_RECALL4args, unknown_recall>(out, back);
  out.rewind(out.size() - 8);
}
void replayed_otherwise(xdr::Encoder& out, const Back& back) {
  Back first = back;
  first.turn = 0;
  back.turn % 2 == 0 ? with<CB_RECALL4args, unknown_recall>(out, first)
                     : with<CB_RECALL_ANY4args, recall_any<5>>(out, first);
}

constexpr Callback kCallbacks[] = {
    {"nothing", nothing},
    {"no operations", no_operations},
    {"fewer operations than it says", fewer_operations},
    {"2^32 - 1 operations", too_many_operations},
    {"minor version 7", other_minor},
    {"no CB_SEQUENCE", without_sequence},
    {"CB_SEQUENCE twice", sequence_twice},
    {"another session", wrong_sequence<other_session>},
    {"slot 1", wrong_sequence<slot_one>},
    {"the largest slot", wrong_sequence<largest_slot>},
    {"the largest highest slot", wrong_sequence<largest_highest>},
    {"sequence number 0", wrong_sequence<number_zero>},
    {"numbers far ahead", wrong_sequence<far_ahead>},
    {"always the first number", wrong_sequence<always_the_first>},
    {"240 referring calls", wrong_sequence<refers_to_many>},
    {"replays that say something else", replayed_otherwise},
    {"CB_RECALL of nothing", with<CB_RECALL4args, unknown_recall>},
    {"CB_RECALL that is cut", cut_recall},
    {"CB_GETATTR of nothing", with<CB_GETATTR4args, unknown_getattr>},
    {"CB_RECALL_SLOT to one slot", with<CB_RECALL_SLOT4args, recall_slot<0>>},
    {"CB_RECALL_SLOT to 2^32 slots", with<CB_RECALL_SLOT4args, recall_slot<kMost>>},
    {"CB_RECALL_ANY of all", with<CB_RECALL_ANY4args, recall_any<0>>},
    {"CB_RECALL_ANY of none", with<CB_RECALL_ANY4args, recall_any<kMost>>},
    {"CB_NOTIFY_LOCK of nobody", with<CB_NOTIFY_LOCK4args, notify_lock>},
    {"CB_LAYOUTRECALL without arguments", numbered<OP_CB_LAYOUTRECALL>},
    {"CB_ILLEGAL", numbered<OP_CB_ILLEGAL>},
    {"operation 99", numbered<99>},
    {"the largest operation", numbered<kMost>},
};

CB_RECALL4args recall_of(const Back& back) {
  CB_RECALL4args args;
  args.fh = back.delegated;
  args.stateid.seqid = 1;
  return args;
}
template <void (*Change)(CB_RECALL4args&)>
void wrong_recall(xdr::Encoder& out, const Back& back) {
  CB_RECALL4args args = recall_of(back);
  Change(args);
  header(out, 2);
  encode_operation(out, sequence(back));
  encode_operation(out, args);
}
void stateid_of_zeros(CB_RECALL4args& a) { a.stateid = {}; }
void stateid_of_ones(CB_RECALL4args& a) {
  a.stateid.seqid = kMost;
  a.stateid.other.fill(std::byte{0xff});
}
void unknown_stateid(CB_RECALL4args& a) { a.stateid.other.fill(std::byte{0x5a}); }
void truncating(CB_RECALL4args& a) { a.truncate = true; }
void shorter_handle(CB_RECALL4args& a) { a.fh.length -= a.fh.length > 0 ? 1 : 0; }
void longer_handle(CB_RECALL4args& a) { a.fh.length = NFS4_FHSIZE; }

template <std::uint32_t Word>
void getattr_of(xdr::Encoder& out, const Back& back) {
  CB_GETATTR4args args;
  args.fh = back.delegated;
  args.attr_request.words.fill(Word);
  header(out, 2);
  encode_operation(out, sequence(back));
  encode_operation(out, args);
}
void getattr_and_recall(xdr::Encoder& out, const Back& back) {
  header(out, 3);
  encode_operation(out, sequence(back));
  CB_GETATTR4args getattr;
  getattr.fh = back.delegated;
  getattr.attr_request.words.fill(kMost);
  encode_operation(out, getattr);
  encode_operation(out, recall_of(back));
}
void cut_recall_of_it(xdr::Encoder& out, const Back& back) {
  wrong_recall<truncating>(out, back);
  out.rewind(out.size() - 8);
}
void replayed_recall(xdr::Encoder& out, const Back& back) {
  Back first = back;
  first.turn = 0;
  wrong_recall<unknown_stateid>(out, first);
}

constexpr Callback kAboutADelegation[] = {
    {"CB_RECALL with a stateid of zeros", wrong_recall<stateid_of_zeros>},
    {"CB_RECALL with a stateid of ones", wrong_recall<stateid_of_ones>},
    {"CB_RECALL with an unknown stateid", wrong_recall<unknown_stateid>},
    {"CB_RECALL that truncates", wrong_recall<truncating>},
    {"CB_RECALL with a handle that is shorter", wrong_recall<shorter_handle>},
    {"CB_RECALL with a handle that is longer", wrong_recall<longer_handle>},
    {"CB_RECALL of it that is cut", cut_recall_of_it},
    {"CB_RECALL of it again and again", replayed_recall},
    {"CB_GETATTR of nothing of it", getattr_of<0>},
    {"CB_GETATTR of all of it", getattr_of<kMost>},
    {"CB_GETATTR and CB_RECALL in one", getattr_and_recall},
};

}  // namespace

std::span<const Callback> hostile_callbacks() { return kCallbacks; }
std::span<const Callback> callbacks_about_a_delegation() { return kAboutADelegation; }

}  // namespace nfsrdma::hostile
