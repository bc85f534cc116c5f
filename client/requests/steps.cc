#include "client/requests/steps.h"

#include <algorithm>
#include <cerrno>

#include "client/proto/ops_attr.h"
#include "client/requests/getattr.h"
#include "client/session/request_context.h"

namespace nfsrdma::client::steps {

using namespace nfs4;

const bitmap4 kObjectAttributes{FATTR4_TYPE,        FATTR4_CHANGE,        FATTR4_SIZE,
                                FATTR4_FSID,        FATTR4_FILEID,        FATTR4_MODE,
                                FATTR4_NUMLINKS,    FATTR4_OWNER,         FATTR4_OWNER_GROUP,
                                FATTR4_RAWDEV,      FATTR4_SPACE_USED,    FATTR4_TIME_ACCESS,
                                FATTR4_TIME_MODIFY, FATTR4_TIME_METADATA, FATTR4_MOUNTED_ON_FILEID};
const bitmap4 kDataAttributes{FATTR4_CHANGE, FATTR4_SIZE, FATTR4_SPACE_USED, FATTR4_TIME_METADATA,
                              FATTR4_TIME_MODIFY};

Name::Name(std::string_view name) {
  if (name.size() <= usual_.size()) {
    std::copy(name.begin(), name.end(), usual_.begin());
    view_ = {usual_.data(), name.size()};
  } else {
    longer_ = name;
    view_ = longer_;
  }
}

Error ending() { return Error::local(EIO, "COMPOUND", "the mount is ending"); }

void add_handle(Compound& compound, const FileHandle& handle) { compound.add(PUTFH4args{handle}); }

void add_attributes(Compound& compound) { compound.add(GETATTR4args{kObjectAttributes}); }

void add_change_before(Compound& compound) { compound.add(GETATTR4args{{FATTR4_CHANGE}}); }

void add_found(Compound& compound) {
  compound.add(GETFH4args{});
  add_attributes(compound);
}

Result<std::optional<std::uint64_t>> read_change_before(CompoundReader& results) {
  GETATTR4res result;
  TRY(results.read(result));
  auto attributes = decode_attributes(result.resok4.obj_attributes);
  if (!attributes) return fail_from(attributes);
  std::optional<std::uint64_t> change;
  if (attributes->has(FATTR4_CHANGE)) change = attributes->change;
  return change;
}

Result<Attributes> read_facts(CompoundReader& results) {
  GETATTR4res result;
  TRY(results.read(result));
  return decode_attributes(result.resok4.obj_attributes);
}

Result<FileHandle> read_handle(CompoundReader& results) {
  GETFH4res result;
  TRY(results.read(result));
  if (result.resok4.object.length == 0) {
    return fail(Error{Layer::decode, static_cast<int>(xdr::Fault::unexpected), "GETFH",
                      "an empty file handle"});
  }
  return result.resok4.object;
}

Result<Found> read_found(RequestContext& context, CompoundReader& results, OwnerNames& names) {
  auto handle = read_handle(results);
  if (!handle) return fail_from(handle);
  auto attributes = read_last_attributes(context, results, names);
  if (!attributes) return fail_from(attributes);
  return Found{*handle, *attributes};
}

Result<Attributes> read_last_attributes(RequestContext& context, CompoundReader& results,
                                        OwnerNames& names) {
  auto attributes = read_facts(results);
  if (!attributes) return attributes;
  TRY(results.finish());
  context.ids.resolve(*attributes, names);
  return attributes;
}

Task<Result<Attributes>> or_fetch(RequestContext& context, Credential caller, FileHandle handle,
                                  Result<Attributes> attributes, OwnerNames names) {
  const bool busy = !attributes && attributes.error().is(Layer::nfs, NFS4ERR_DELAY);
  if (!busy) {
    if (attributes && names.pending()) co_await names.resolve(*attributes);
    co_return attributes;
  }
  auto fetched = co_await getattr(context, caller, handle);
  co_return fetched;
}

EncodedAttributes::EncodedAttributes(const Attributes& attributes, const bitmap4& wanted) {
  // Encoded whole, then looked at through the decoder: one place knows the layout of fattr4.
  xdr::Encoder out(memory_);
  encode_attributes(out, wanted, attributes);
  xdr::Decoder in(out.encoded());
  decode(in, view_);
}

Attributes settable(const SetAttributes& change) {
  Attributes out;
  auto put = [&out](std::uint32_t number, auto& field, const auto& value) {
    if (!value) return;
    field = *value;
    out.present.set(number);
  };
  auto put_owner = [&out](std::uint32_t number, Owner& field,
                          const std::optional<std::uint32_t>& id) {
    if (!id) return;
    field.id = *id;
    out.present.set(number);
  };
  auto put_time = [&out](std::uint32_t number, settime4& field,
                         const std::optional<SetTime>& value) {
    if (!value) return;
    field.set_it = value->server_time ? SET_TO_SERVER_TIME4 : SET_TO_CLIENT_TIME4;
    field.time = value->time;
    out.present.set(number);
  };
  put(FATTR4_SIZE, out.size, change.size);
  put(FATTR4_MODE, out.mode, change.mode);
  put_owner(FATTR4_OWNER, out.owner, change.uid);
  put_owner(FATTR4_OWNER_GROUP, out.owner_group, change.gid);
  put_time(FATTR4_TIME_ACCESS_SET, out.time_access_set, change.access_time);
  put_time(FATTR4_TIME_MODIFY_SET, out.time_modify_set, change.modify_time);
  return out;
}

}  // namespace nfsrdma::client::steps
