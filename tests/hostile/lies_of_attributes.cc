// Attributes that are missing, absurd or of another object, in GETATTR and in listings.
#include "client/proto/attributes.h"
#include "tests/hostile/lies.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

using Change = void (*)(Attributes&);

/// The memory stays until the next is encoded; `slot` tells those of one reply apart.
fattr4 encoded(const Attributes& attributes, std::size_t slot = 0) {
  static std::vector<Bytes> memory(1024);
  Bytes& bytes = memory.at(slot % memory.size());
  bytes.resize(max_attributes_size(attributes.present) + 8192);
  xdr::Encoder out(bytes);
  encode_attributes(out, attributes.present, attributes);
  xdr::Decoder in(out.encoded());
  fattr4 values;
  decode(in, values);
  return values;
}

template <Change Apply>
void in_getattr(SpoiledReply& reply) {
  change_attributes(reply, Apply);
}

template <Change Apply>
void in_readdir(SpoiledReply& reply) {
  change_entries(reply, Apply);
}

template <std::uint32_t Attribute>
void without(Attributes& a) {
  a.present.clear(Attribute);
}
void none(Attributes& a) { a.present = {}; }
template <std::uint32_t Type>
void of_type(Attributes& a) {
  a.type = static_cast<nfs_ftype4>(Type);
}
template <std::uint64_t Size>
void of_size(Attributes& a) {
  a.size = Size;
}
template <std::uint64_t Number>
void numbered(Attributes& a) {
  a.fileid = Number;
}
void next_number(Attributes& a) { ++a.fileid; }
void number_of_root(Attributes& a) { a.fileid = 2; }
void other_fsid(Attributes& a) { a.fsid.major += 1; }
void back_in_time(Attributes& a) { --a.change; }
void always_changed(Attributes& a) {
  static changeid4 change = 0;
  a.change = ++change * 1000003;
}
void zero_change(Attributes& a) { a.change = 0; }
void all_modes(Attributes& a) { a.mode = 0xffffffff; }
void no_links(Attributes& a) { a.numlinks = 0; }
void many_links(Attributes& a) { a.numlinks = 0xffffffff; }
void negative_times(Attributes& a) {
  a.time_modify.seconds = a.time_metadata.seconds = a.time_access.seconds = INT64_MIN;
}
void late_times(Attributes& a) {
  a.time_modify.seconds = a.time_metadata.seconds = a.time_access.seconds = INT64_MAX;
}
void long_nanoseconds(Attributes& a) {
  a.time_modify.nseconds = a.time_metadata.nseconds = a.time_access.nseconds = 0xffffffff;
}
void full_space(Attributes& a) {
  a.space_used = a.space_total = UINT64_MAX;
  a.space_avail = a.space_free = UINT64_MAX;
}
void no_device(Attributes& a) { a.rawdev = {0xffffffff, 0xffffffff}; }
void named_owner(Attributes& a) {
  a.owner.numeric = a.owner_group.numeric = false;
  a.owner.name = "somebody@nowhere.example";
  a.owner_group.name = "";
}
void long_owner(Attributes& a) {
  static const std::string name(4000, 'o');
  a.owner.numeric = false;
  a.owner.name = name;
}
void owner_with_zero(Attributes& a) {
  a.owner.numeric = false;
  a.owner.name = std::string_view("ro\0ot", 5);
}
void entry_error(Attributes& a) {
  a.present.set(FATTR4_RDATTR_ERROR);
  a.rdattr_error = NFS4ERR_IO;
}
void unasked(Attributes& a) {
  a.present.set(FATTR4_LEASE_TIME);
  a.lease_time = 1;
}

void mask_without_values(SpoiledReply& reply) {
  reply.edit<GETATTR4res>([](GETATTR4res& result) { result.resok4.obj_attributes.attr_vals = {}; });
}
void values_without_mask(SpoiledReply& reply) {
  reply.edit<GETATTR4res>([](GETATTR4res& result) { result.resok4.obj_attributes.attrmask = {}; });
}
void all_bits(SpoiledReply& reply) {
  reply.edit<GETATTR4res>(
      [](GETATTR4res& result) { result.resok4.obj_attributes.attrmask.words.fill(0xffffffff); });
}

constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

constexpr Lie kLies[] = {
    {"no attributes", OP_GETATTR, in_getattr<none>, true},
    {"no type", OP_GETATTR, in_getattr<without<FATTR4_TYPE>>, true},
    {"no size", OP_GETATTR, in_getattr<without<FATTR4_SIZE>>, true},
    {"no change", OP_GETATTR, in_getattr<without<FATTR4_CHANGE>>, true},
    {"no fileid", OP_GETATTR, in_getattr<without<FATTR4_FILEID>>, true},
    {"no fsid", OP_GETATTR, in_getattr<without<FATTR4_FSID>>, true},
    {"no mode", OP_GETATTR, in_getattr<without<FATTR4_MODE>>, true},
    {"no owner", OP_GETATTR, in_getattr<without<FATTR4_OWNER>>, true},
    {"no mtime", OP_GETATTR, in_getattr<without<FATTR4_TIME_MODIFY>>, true},
    {"type 0", OP_GETATTR, in_getattr<of_type<0>>, true},
    {"a directory", OP_GETATTR, in_getattr<of_type<NF4DIR>>, true},
    {"a symbolic link", OP_GETATTR, in_getattr<of_type<NF4LNK>>, true},
    {"a device", OP_GETATTR, in_getattr<of_type<NF4BLK>>, true},
    {"a named attribute", OP_GETATTR, in_getattr<of_type<9>>, true},
    {"type 99", OP_GETATTR, in_getattr<of_type<99>>, true},
    {"size 0", OP_GETATTR, in_getattr<of_size<0>>, true},
    {"size 2^63 - 1", OP_GETATTR, in_getattr<of_size<kSignBit - 1>>, true},
    {"size 2^63", OP_GETATTR, in_getattr<of_size<kSignBit>>, true},
    {"size 2^64 - 1", OP_GETATTR, in_getattr<of_size<UINT64_MAX>>, true},
    {"another fileid each time", OP_GETATTR, in_getattr<next_number>, true},
    {"fileid 0", OP_GETATTR, in_getattr<numbered<0>>, true},
    {"fileid 2^64 - 1", OP_GETATTR, in_getattr<numbered<UINT64_MAX>>, true},
    {"a small fileid", OP_GETATTR, in_getattr<number_of_root>, true},
    {"another fsid", OP_GETATTR, in_getattr<other_fsid>, true},
    {"an older change", OP_GETATTR, in_getattr<back_in_time>, true},
    {"always changed", OP_GETATTR, in_getattr<always_changed>, true},
    {"change 0", OP_GETATTR, in_getattr<zero_change>, true},
    {"all bits of the mode", OP_GETATTR, in_getattr<all_modes>, true},
    {"no links", OP_GETATTR, in_getattr<no_links>, true},
    {"2^32 - 1 links", OP_GETATTR, in_getattr<many_links>, true},
    {"the earliest times", OP_GETATTR, in_getattr<negative_times>, true},
    {"the latest times", OP_GETATTR, in_getattr<late_times>, true},
    {"nanoseconds above 10^9", OP_GETATTR, in_getattr<long_nanoseconds>, true},
    {"all of the space", OP_GETATTR, in_getattr<full_space>, true},
    {"the largest device", OP_GETATTR, in_getattr<no_device>, true},
    {"owners by name", OP_GETATTR, in_getattr<named_owner>, true},
    {"an owner of 4000 bytes", OP_GETATTR, in_getattr<long_owner>, true},
    {"an owner with a zero", OP_GETATTR, in_getattr<owner_with_zero>, true},
    {"rdattr_error", OP_GETATTR, in_getattr<entry_error>, true},
    {"what was not asked for", OP_GETATTR, in_getattr<unasked>, true},
    {"a mask without values", OP_GETATTR, mask_without_values, true},
    {"values without a mask", OP_GETATTR, values_without_mask, true},
    {"all bits of the mask", OP_GETATTR, all_bits, true},
    {"entries without attributes", OP_READDIR, in_readdir<none>, true},
    {"entries without a type", OP_READDIR, in_readdir<without<FATTR4_TYPE>>, true},
    {"entries without a fileid", OP_READDIR, in_readdir<without<FATTR4_FILEID>>, true},
    {"entries without a handle", OP_READDIR, in_readdir<without<FATTR4_FILEHANDLE>>, true},
    {"entries of type 99", OP_READDIR, in_readdir<of_type<99>>, true},
    {"entries with fileid 0", OP_READDIR, in_readdir<numbered<0>>, true},
    {"entries with the same fileid", OP_READDIR, in_readdir<numbered<77>>, true},
    {"entries with errors", OP_READDIR, in_readdir<entry_error>, true},
    {"entries of 2^63 bytes", OP_READDIR, in_readdir<of_size<kSignBit>>, true},
    {"entries of a named owner", OP_READDIR, in_readdir<named_owner>, true},
    {"entries of another fsid", OP_READDIR, in_readdir<other_fsid>, true},
};

}  // namespace

std::span<const Lie> lies_of_attributes() { return kLies; }

void change_attributes(SpoiledReply& reply, const std::function<void(Attributes&)>& change) {
  for (ResultItem& item : reply.results) {
    if (item.opnum != OP_GETATTR) continue;
    const Bytes before = item.body;
    xdr::Decoder in(before);
    GETATTR4res result;
    decode(in, result);
    auto attributes = decode_attributes(result.resok4.obj_attributes);
    if (result.status != NFS4_OK || !attributes) continue;
    change(*attributes);
    result.resok4.obj_attributes = encoded(*attributes);
    SpoiledReply::replace(item, result);
  }
}

void change_entries(SpoiledReply& reply, const std::function<void(Attributes&)>& change) {
  reply.edit<READDIR4res>([&change](READDIR4res& result) {
    std::size_t slot = 0;
    for (entry4& entry : result.resok4.reply.entries) {
      auto attributes = decode_attributes(entry.attrs);
      if (!attributes) continue;
      change(*attributes);
      entry.attrs = encoded(*attributes, ++slot);
    }
  });
}

}  // namespace nfsrdma::hostile
