// Parts that requests share: the operations around their own in a COMPOUND, and readers of those
// results.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "client/compound/compound.h"
#include "client/names/id_map.h"
#include "client/proto/object.h"
#include "client/proto/ops_namespace.h"
#include "client/requests/set_attributes.h"

namespace nfsrdma::client {
struct RequestContext;
}

namespace nfsrdma::client::steps {

/// The attributes that describe an object to the file system above: everything that stat(2) shows,
/// and `change`.
extern const nfs4::bitmap4 kObjectAttributes;
/// Attributes that a WRITE changes.
extern const nfs4::bitmap4 kDataAttributes;

/// A name that outlives the caller's view of it. Names of usual length cost no allocation.
class Name {
 public:
  explicit Name(std::string_view name);
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  std::string_view view() const { return view_; }

 private:
  static constexpr std::size_t kUsualBytes = 255;
  std::array<char, kUsualBytes> usual_;
  std::string longer_;
  std::string_view view_;
};

/// Why an operation got no request to fill: the mount is ending.
Error ending();

/// PUTFH.
void add_handle(Compound& compound, const FileHandle& handle);
/// GETATTR of kObjectAttributes.
void add_attributes(Compound& compound);
/// GETATTR of the change attribute alone, before something that changes the object.
void add_change_before(Compound& compound);
/// GETFH and add_attributes().
void add_found(Compound& compound);

/// Reads results of which only the status matters.
template <class... Res>
Result<void> pass(CompoundReader& results) {
  Result<void> outcome;
  auto one = [&]<class R>(R result) {
    if (outcome) outcome = results.read(result);
  };
  (one(Res{}), ...);
  return outcome;
}

/// Reads the results of a request that is PUTFH and one operation: the one of that operation.
template <class Res>
Result<Res> read_only(CompoundReader& results) {
  Res result;
  TRY(pass<nfs4::PUTFH4res>(results));
  TRY(results.read(result));
  TRY(results.finish());
  return result;
}

/// Reads a GETATTR result that has no owners.
Result<Attributes> read_facts(CompoundReader& results);
/// Reads the result of add_change_before().
Result<std::optional<std::uint64_t>> read_change_before(CompoundReader& results);
/// Reads GETFH; a server that answers an empty handle is refused.
Result<FileHandle> read_handle(CompoundReader& results);
// Look up the owners' names, if there are any, before handing attributes on: these readers add the
// questions to `names`. Wait for them after the request has been released.

/// Reads GETFH and GETATTR, the end of the reply.
Result<Found> read_found(RequestContext& context, CompoundReader& results, OwnerNames& names);
/// Reads GETATTR, the end of the reply.
Result<Attributes> read_last_attributes(RequestContext& context, CompoundReader& results,
                                        OwnerNames& names);

/// For a GETATTR behind an operation that has succeeded: if the server put the GETATTR off
/// (NFS4ERR_DELAY), repeats it alone instead of failing the whole request. Waits for `names`.
Task<Result<Attributes>> or_fetch(RequestContext& context, Credential caller, FileHandle handle,
                                  Result<Attributes> attributes, OwnerNames names);

/// Attributes encoded as an fattr4 whose view lives as long as this.
class EncodedAttributes {
 public:
  EncodedAttributes(const Attributes& attributes, const nfs4::bitmap4& wanted);
  EncodedAttributes(const EncodedAttributes&) = delete;
  EncodedAttributes& operator=(const EncodedAttributes&) = delete;
  const nfs4::fattr4& view() const { return view_; }

 private:
  // Two owners by name, and all else that can be set.
  std::array<std::byte, 2 * nfs4::kMaxOwner + 256> memory_;
  nfs4::fattr4 view_;
};

/// The attributes to set, with their bits in `present`.
Attributes settable(const SetAttributes& change);

}  // namespace nfsrdma::client::steps
