// Transport properties of RPC-over-RDMA version 2 (draft-ietf-nfsv4-rpcrdma-xcharext-03): types and
// codec of rdma_optinfo in RDMA_OPTIONAL. Shared by client and test responder.
//
// Sets and subsets are views of the message they came in: decoding allocates nothing, and a set
// that was decoded without a fault can be walked without further checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/xdr/decoder.h"
#include "transport/xdr/encoder.h"

namespace nfsrdma::rdma {

/// Optional operations (section 4).
enum ropt : std::uint32_t {
  ROPT_CONNPROP = 1,  ///< the sender's properties
  ROPT_REQPROP = 2,   ///< asks the receiver to change its own
  ROPT_RESPROP = 3,   ///< what became of a ROPT_REQPROP
  ROPT_UPDPROP = 4,   ///< the sender has changed its own
};
inline constexpr std::size_t kOptionTypes = 5;  ///< for tables by opttype

/// Properties (section 3). Ids need not be small or contiguous: never an index.
enum propid : std::uint32_t { PROP_RBSIZ = 1, PROP_REQREMINV = 2, PROP_BRS = 3 };

/// Values of PROP_BRS.
enum bkreqsup : std::uint32_t { BKREQSUP_NONE = 0, BKREQSUP_INLINE = 1, BKREQSUP_GENL = 2 };

/// Receive buffers of version 2: every receiver has at least the one (V2-2.3-1), and nothing larger
/// than the other is asked for or believed (XP-7-1).
inline constexpr std::uint32_t kMinReceiveBufferSize = 4096;
inline constexpr std::uint32_t kMaxReceiveBufferSize = 64 * 1024;

/// The properties of one end; the defaults of Table 1.
struct Properties {
  std::uint32_t receive_buffer_size = kMinReceiveBufferSize;  ///< PROP_RBSIZ, bytes
  std::uint32_t requester_remote_invalidation = 0;            ///< PROP_REQREMINV, a boolean
  std::uint32_t backward_request_support = BKREQSUP_INLINE;   ///< PROP_BRS

  /// The property of this id, or null for one this program does not know.
  std::uint32_t* find(std::uint32_t which);
};

struct propval {
  std::uint32_t pv_which = 0;
  std::span<const std::byte> pv_data;
};

/// Bytes of an encoded propval of any property known here.
inline constexpr std::size_t kPropvalSize = 12;
/// Most propvals of one set: the number that a message of kMaxReceiveBufferSize could hold.
inline constexpr std::size_t kMaxPropvals = 8192;
inline constexpr std::size_t kSubsetWordBits = 32;
inline constexpr std::size_t kMaxSubsetWords = kMaxPropvals / kSubsetWordBits;

class PropvalSet {
 public:
  std::uint32_t count() const { return count_; }
  /// Calls visit(index, propval) for each, in the order of the message.
  template <class Visit>
  void for_each(Visit visit) const {
    xdr::Decoder in(bytes_);
    for (std::uint32_t i = 0; i < count_; ++i) visit(i, next(in));
  }

 private:
  friend void decode_propvalset(xdr::Decoder& in, PropvalSet& set);
  static propval next(xdr::Decoder& in);

  std::uint32_t count_ = 0;
  std::span<const std::byte> bytes_;
};

/// Bit N mod 32 of word N div 32 stands for place N of the set it belongs to; bit 0 has the value
/// 1, as in NFSv4 bitmaps (the draft does not say). Words that are not there are zero.
class PropvalSubset {
 public:
  bool has(std::size_t index) const;

 private:
  friend void decode_propvalsubset(xdr::Decoder& in, PropvalSubset& subset);
  std::span<const std::byte> words_;
};

/// The value of a property. Nothing: the property is unknown, or its data is not what its type
/// says, which `in` then has as a fault. Zero-length data means the default. Data longer than the
/// type is a fault, too (the draft leaves that open).
std::optional<std::uint32_t> property_value(const propval& property, xdr::Decoder& in);

/// Checks the data of all known properties. Faults stay in `in`.
void decode_propvalset(xdr::Decoder& in, PropvalSet& set);
void decode_propvalsubset(xdr::Decoder& in, PropvalSubset& subset);

/// rdma_optinfo of any of the four operations, under the fields' roles.
struct OptInfo {
  PropvalSet values;    ///< opticonnpr_start, optreqpr_want, optrespr_other or optupdpr_now
  PropvalSubset nochg;  ///< opticonnpr_nochg
  PropvalSubset done;   ///< optrespr_done
  PropvalSubset rej;    ///< optrespr_rej
};

/// Whether this program knows the operation at all.
inline bool is_property_operation(std::uint32_t opttype) {
  return opttype >= ROPT_CONNPROP && opttype <= ROPT_UPDPROP;
}
/// `opttype` is one of the four. False: an XDR error.
bool decode_optinfo(std::uint32_t opttype, std::span<const std::byte> optinfo, OptInfo& info);

void encode_propval(xdr::Encoder& out, std::uint32_t which, std::uint32_t value);
void encode_propvalsubset(xdr::Encoder& out, std::span<const std::uint32_t> words);

}  // namespace nfsrdma::rdma
