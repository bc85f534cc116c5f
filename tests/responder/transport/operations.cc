#include "tests/responder/transport/operations.h"

#include <algorithm>

namespace nfsrdma::responder {
namespace {

constexpr std::size_t kMaxTag = 1024;
constexpr std::size_t kMaxOpaque = 64 * 1024;
constexpr std::size_t kMaxPayload = 16 * 1024 * 1024;
constexpr std::size_t kMaxOperations = 1024;
constexpr std::size_t kMaxBitmapWords = 64;
constexpr std::size_t kSixteen = 16;  // a stateid or a session id

/// How to step over an operation's arguments, a letter an item: w word, h hyper, s opaque or
/// string, x 16 fixed bytes, b bitmap, p DDP-eligible opaque. Null: cannot be stepped over.
const char* arguments_of(std::uint32_t number) {
  switch (number) {
    case nfs4::OP_ACCESS:
    case nfs4::OP_OPENATTR:
    case nfs4::OP_SECINFO_NO_NAME:
    case nfs4::OP_RECLAIM_COMPLETE: return "w";
    case nfs4::OP_CLOSE: return "wx";
    case nfs4::OP_COMMIT: return "hw";
    case nfs4::OP_DELEGPURGE:
    case nfs4::OP_RENEW:
    case nfs4::OP_DESTROY_CLIENTID: return "h";
    case nfs4::OP_DELEGRETURN:
    case nfs4::OP_DESTROY_SESSION:
    case nfs4::OP_FREE_STATEID: return "x";
    case nfs4::OP_GETATTR: return "b";
    case nfs4::OP_GETFH:
    case nfs4::OP_LOOKUPP:
    case nfs4::OP_PUTPUBFH:
    case nfs4::OP_PUTROOTFH:
    case nfs4::OP_READLINK:
    case nfs4::OP_RESTOREFH:
    case nfs4::OP_SAVEFH: return "";
    case nfs4::OP_LINK:
    case nfs4::OP_LOOKUP:
    case nfs4::OP_PUTFH:
    case nfs4::OP_REMOVE:
    case nfs4::OP_SECINFO: return "s";
    case nfs4::OP_LOCKU: return "wwxhh";
    case nfs4::OP_NVERIFY:
    case nfs4::OP_VERIFY: return "bs";
    case nfs4::OP_OPEN_CONFIRM: return "xw";
    case nfs4::OP_OPEN_DOWNGRADE: return "xwww";
    case nfs4::OP_READ: return "xhw";
    case nfs4::OP_READDIR: return "hhwwb";
    case nfs4::OP_RENAME: return "ss";
    case nfs4::OP_SETATTR: return "xbs";
    case nfs4::OP_WRITE: return "xhwp";
    case nfs4::OP_BIND_CONN_TO_SESSION: return "xww";
    case nfs4::OP_SEQUENCE: return "xwwww";
    default: return nullptr;
  }
}

void step_over_bitmap(xdr::Decoder& in) {
  const auto words = in.count(kMaxBitmapWords, xdr::kUnit, "bitmap");
  in.raw(words * xdr::kUnit, "bitmap");
}

void step_over(xdr::Decoder& in, const char* arguments) {
  for (const char* item = arguments; *item != '\0' && in.ok(); ++item) {
    switch (*item) {
      case 'w': in.u32("word"); break;
      case 'h': in.u64("hyper"); break;
      case 's': in.opaque(kMaxOpaque, "opaque"); break;
      case 'x': in.fixed(kSixteen, "fixed opaque"); break;
      case 'b': step_over_bitmap(in); break;
      default: in.payload(kMaxPayload, "payload"); break;
    }
  }
}

}  // namespace

bool OperationList::contains(std::uint32_t number) const {
  const auto list = numbers();
  return std::find(list.begin(), list.end(), number) != list.end();
}

bool OperationList::add(std::uint32_t number) {
  if (count_ == kMaxListed) return false;
  numbers_[count_++] = number;
  return true;
}

OperationList list_operations(xdr::Decoder in) {
  OperationList list;
  in.opaque(kMaxTag, "tag");
  in.u32("minorversion");
  const auto operations = in.count(kMaxOperations, xdr::kUnit, "argarray");
  for (std::uint32_t i = 0; i < operations; ++i) {
    const std::uint32_t number = in.u32("argop");
    if (!in.ok() || number >= kOperationNumbers || !list.add(number)) break;
    const char* arguments = arguments_of(number);
    if (!arguments) break;
    step_over(in, arguments);
  }
  return list;
}

std::optional<std::uint32_t> operation_number(std::string_view name) {
  for (std::uint32_t number = 0; number < kOperationNumbers; ++number) {
    const auto operation = static_cast<nfs4::nfs_opnum4>(number);
    if (nfs4::is_defined(operation) && nfs4::operation_name(operation) == name) return number;
  }
  return std::nullopt;
}

}  // namespace nfsrdma::responder
