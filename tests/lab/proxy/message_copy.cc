#include "tests/lab/proxy/message_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/proto/operations.h"

namespace nfsrdma::lab::proxy {
namespace {

using namespace nfs4;

/// Copies a message in parts: what was copied ends at `done_`, in the reduced stream of `in`.
class Copier {
 public:
  Copier(const xdr::Decoder& in, std::size_t from, xdr::Encoder& out)
      : in_(in), done_(from), out_(out) {}

  /// The item whose bytes end, or were left out, at `end` of the stream.
  void item(const xdr::Payload& payload, std::size_t end) {
    const std::size_t in_stream = payload.placed ? 0 : xdr::padded(payload.data.size());
    copy_to(end - in_stream - xdr::kUnit);
    out_.payload(payload.data);
    done_ = end;
  }
  /// What is before the place where the decoder stands.
  void before() { copy_to(in_.offset()); }
  std::size_t done() const { return done_; }
  void rest() { copy_to(in_.message().size()); }

 private:
  void copy_to(std::size_t end) {
    if (std::byte* place = out_.reserve(end - done_); place && end > done_) {
      std::memcpy(place, in_.message().data() + done_, end - done_);
    }
    done_ = end;
  }

  const xdr::Decoder& in_;
  std::size_t done_;
  xdr::Encoder& out_;
};

bool has_room(const xdr::Encoder& out) { return out.omitted().size() < xdr::Encoder::kMaxOmitted; }

void copy_item(Copier&, const xdr::Decoder&, const xdr::Encoder&, const auto&) {}
void copy_item(Copier& copier, const xdr::Decoder& in, const xdr::Encoder& out,
               const WRITE4args& args) {
  if (args.data.placed || has_room(out)) copier.item(args.data, in.offset());
}
/// The text of a link stands in front of the attributes: where it was placed, there is a count in
/// front of its place, which the decoder knows. Text in the message stays there.
void copy_item(Copier& copier, const xdr::Decoder& in, const xdr::Encoder&,
               const CREATE4args& args) {
  if (!args.objtype.linkdata.placed) return;
  for (const auto& item : in.placed()) {
    if (item.data.data() != args.objtype.linkdata.data.data()) continue;
    return copier.item(args.objtype.linkdata, item.offset);
  }
}

const xdr::Payload* data_of(const auto&) { return nullptr; }
const xdr::Payload* data_of(const READ4res& res) {
  return res.status == NFS4_OK ? &res.resok4.data : nullptr;
}
const xdr::Payload* data_of(const READLINK4res& res) {
  return res.status == NFS4_OK ? &res.resok4.link : nullptr;
}

/// Data of a result that stays until the reply is sent, or an empty view.
xdr::Payload kept(const xdr::Payload& data, const ResultMemory& memory) {
  if (data.placed) return data;
  const auto place = memory(data.data.size());
  if (place.size() < data.data.size()) return {};
  if (!data.data.empty()) std::memcpy(place.data(), data.data.data(), data.data.size());
  return {place.first(data.data.size()), false};
}

/// Where the results of a COMPOUND begin on either side.
struct Head {
  std::size_t in = 0;
  std::size_t out = 0;
};

void encode_failed(std::uint32_t opnum, std::uint32_t status, xdr::Encoder& out) {
  const bool known = Operations::dispatch(opnum, [&](auto operation) {
    typename decltype(operation)::Res res;
    status_of(res) = static_cast<nfsstat4>(status);
    encode_operation(out, res);
  });
  if (known) return;
  out.u32(opnum);
  out.u32(status);
}

void note_expected(std::uint32_t opnum, const auto& args, bool& first, ExpectedResults& expected) {
  if (operation_facts(opnum).payloads == 0) return;
  if constexpr (requires { args.count; }) {
    if (opnum == OP_READ && first) expected.first_read = args.count;
  }
  first = false;
}

}  // namespace

std::optional<ExpectedResults> copy_call(xdr::Decoder& in, std::uint32_t xid, xdr::Encoder& out) {
  out.u32(xid);
  Copier copier(in, xdr::kUnit, out);
  ExpectedResults expected;
  bool first = true;
  COMPOUND4args_header header;
  decode(in, header);
  bool known = true;
  for (std::uint32_t i = 0; i < header.operations && in.ok() && known; ++i) {
    const std::uint32_t opnum = in.u32("argop");
    known = Operations::dispatch(opnum, [&](auto operation) {
      typename decltype(operation)::Args args;
      decode(in, args);
      if (!in.ok()) return;
      note_expected(opnum, args, first, expected);
      copy_item(copier, in, out, args);
    });
  }
  if (in.placed_taken() < in.placed().size()) return std::nullopt;
  copier.rest();
  return expected;
}

bool copy_results(xdr::Decoder& in, const ResultMemory& memory, const ForcedStatus& forced,
                  xdr::Encoder& out) {
  Copier copier(in, in.offset(), out);
  const Head head{in.offset(), out.size()};
  COMPOUND4res_header header;
  decode(in, header);
  const std::size_t count_at = head.out + in.offset() - head.in - xdr::kUnit;
  bool known = true;
  for (std::uint32_t i = 0; i < header.operations && in.ok() && known; ++i) {
    const xdr::Decoder here = in;
    const std::uint32_t opnum = in.u32("resop");
    if (const auto status = in.ok() ? forced(opnum) : std::nullopt) {
      Copier(here, copier.done(), out).before();
      encode_failed(opnum, *status, out);
      out.patch(head.out, *status);
      out.patch(count_at, i + 1);
      return true;
    }
    known = Operations::dispatch(opnum, [&](auto operation) {
      typename decltype(operation)::Res res;
      decode(in, res);
      const xdr::Payload* data = in.ok() ? data_of(res) : nullptr;
      if (!data || (!data->placed && !has_room(out))) return;
      const xdr::Payload lasting = kept(*data, memory);
      if (lasting.data.size() == data->data.size()) {
        copier.item({lasting.data, data->placed}, in.offset());
      }
    });
  }
  const auto filled = std::ranges::any_of(in.placed().subspan(in.placed_taken()),
                                          [](const auto& item) { return !item.data.empty(); });
  copier.rest();
  return !filled;
}

}  // namespace nfsrdma::lab::proxy
