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
/// string, x 16 fixed octets, b bitmap, p DDP-eligible opaque. Null: cannot be stepped over.
struct Shape {
  std::string_view name;
  const char* arguments;
};

constexpr std::array<Shape, kOperationNumbers> kShapes = {{
    {"", nullptr},
    {"", nullptr},
    {"", nullptr},
    {"ACCESS", "w"},
    {"CLOSE", "wx"},
    {"COMMIT", "hw"},
    {"CREATE", nullptr},
    {"DELEGPURGE", "h"},
    {"DELEGRETURN", "x"},
    {"GETATTR", "b"},
    {"GETFH", ""},
    {"LINK", "s"},
    {"LOCK", nullptr},
    {"LOCKT", nullptr},
    {"LOCKU", "wwxhh"},
    {"LOOKUP", "s"},
    {"LOOKUPP", ""},
    {"NVERIFY", "bs"},
    {"OPEN", nullptr},
    {"OPENATTR", "w"},
    {"OPEN_CONFIRM", "xw"},
    {"OPEN_DOWNGRADE", "xwww"},
    {"PUTFH", "s"},
    {"PUTPUBFH", ""},
    {"PUTROOTFH", ""},
    {"READ", "xhw"},
    {"READDIR", "hhwwb"},
    {"READLINK", ""},
    {"REMOVE", "s"},
    {"RENAME", "ss"},
    {"RENEW", "h"},
    {"RESTOREFH", ""},
    {"SAVEFH", ""},
    {"SECINFO", "s"},
    {"SETATTR", "xbs"},
    {"SETCLIENTID", nullptr},
    {"SETCLIENTID_CONFIRM", nullptr},
    {"VERIFY", "bs"},
    {"WRITE", "xhwp"},
    {"RELEASE_LOCKOWNER", nullptr},
    {"BACKCHANNEL_CTL", nullptr},
    {"BIND_CONN_TO_SESSION", "xww"},
    {"EXCHANGE_ID", nullptr},
    {"CREATE_SESSION", nullptr},
    {"DESTROY_SESSION", "x"},
    {"FREE_STATEID", "x"},
    {"GET_DIR_DELEGATION", nullptr},
    {"GETDEVICEINFO", nullptr},
    {"GETDEVICELIST", nullptr},
    {"LAYOUTCOMMIT", nullptr},
    {"LAYOUTGET", nullptr},
    {"LAYOUTRETURN", nullptr},
    {"SECINFO_NO_NAME", "w"},
    {"SEQUENCE", "xwwww"},
    {"SET_SSV", nullptr},
    {"TEST_STATEID", nullptr},
    {"WANT_DELEGATION", nullptr},
    {"DESTROY_CLIENTID", "h"},
    {"RECLAIM_COMPLETE", "w"},
}};

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
    if (kShapes[number].arguments == nullptr) break;
    step_over(in, kShapes[number].arguments);
  }
  return list;
}

std::string_view operation_name(std::uint32_t number) {
  return number < kOperationNumbers ? kShapes[number].name : std::string_view();
}

std::optional<std::uint32_t> operation_number(std::string_view name) {
  for (std::uint32_t number = 0; number < kOperationNumbers; ++number) {
    if (!name.empty() && kShapes[number].name == name) return number;
  }
  return std::nullopt;
}

}  // namespace nfsrdma::responder
