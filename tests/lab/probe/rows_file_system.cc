// Attributes, operations and delegations (RFC 8881).
#include <fmt/format.h>

#include <bit>

#include "tests/lab/probe/row.h"

namespace nfsrdma::lab::probe {
namespace {

/// The value of the one attribute that was asked for.
std::string attribute(script::Runner& runner) {
  const Node* values = runner.bindings().at("reply").at("GETATTR.resok4.obj_attributes.attr_vals");
  if (!values) return "no";
  const auto number = to_number(values->text);
  return number && values->text.size() > 2 ? std::to_string(*number) : "no";
}

/// The attributes that are supported, as the words of the bitmap behind their count.
std::string supported(script::Runner& runner) {
  const Node* values = runner.bindings().at("reply").at("GETATTR.resok4.obj_attributes.attr_vals");
  constexpr std::size_t kCount = 10;  // "0x", and the number of words
  if (!values || values->text.size() < kCount) return "no";
  unsigned bits = 0;
  const auto bytes = to_bytes("0x" + values->text.substr(kCount));
  for (const std::byte byte : bytes.value_or(Bytes())) {
    bits += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(byte)));
  }
  return fmt::format("{} attributes", bits);
}

/// The status of an operation that is known by its number only, which is the last of the record.
std::string status_of_unknown(script::Runner& runner) {
  const Node& reply = runner.bindings().at("reply");
  const Node* status = reply.find("status");
  return status ? status->text : "no";
}

#define LAB_ATTRIBUTE(name) LAB_SESSION "compound slot=0 { PUTFH $dir GETATTR [" name "] }\n"
#define LAB_STATEID "00000000000000000000000000000000"

constexpr Row kRows[] = {
    {"RFC 8881 5.6", "supported_attrs", Needs::any, LAB_ATTRIBUTE("supported_attrs"), supported},
    {"RFC 8881 5.8.1.11", "lease_time in seconds", Needs::any, LAB_ATTRIBUTE("lease_time"),
     attribute},
    {"RFC 8881 5.8.2.26", "maxread", Needs::any, LAB_ATTRIBUTE("maxread"), attribute},
    {"RFC 8881 5.8.2.27", "maxwrite", Needs::any, LAB_ATTRIBUTE("maxwrite"), attribute},
    {"RFC 8881 5.8.2.25", "maxname", Needs::any, LAB_ATTRIBUTE("maxname"), attribute},
    {"RFC 8881 5.8.2.24", "maxlink", Needs::any, LAB_ATTRIBUTE("maxlink"), attribute},
    {"RFC 8881 5.8.1.3", "fh_expire_type", Needs::any, LAB_ATTRIBUTE("fh_expire_type"), attribute},
    {"RFC 8881 6.2.1", "aclsupport", Needs::any, LAB_ATTRIBUTE("aclsupport"), attribute},
    {"RFC 8881 18.15", "a name of 4096 bytes", Needs::any,
     LAB_SESSION "compound slot=0 { PUTFH $dir LOOKUP {objname={length=4096 fill=0x61}} }\n"
                 "let answer = $reply.status"},
    {"RFC 8881 18.15", "an empty name", Needs::any,
     LAB_SESSION "compound slot=0 { PUTFH $dir LOOKUP \"\" }\nlet answer = $reply.status"},
    {"RFC 8881 18.16", "delegation with OPEN for reading (0: none, 3: none, and why)", Needs::any,
     "connect\nsession back=on\ncompound slot=0 { PUTFH $dir OPEN {share_access="
     "OPEN4_SHARE_ACCESS_READ|OPEN4_SHARE_ACCESS_WANT_READ_DELEG "
     "owner={clientid=$client.eir_clientid owner=\"lab\"} claim={claim=CLAIM_NULL "
     "file=\"lab-probe\"}} }\nexpect reply.status = NFS4_OK\n"
     "let answer = $reply.OPEN.resok4.delegation.delegation_type"},
    {"RFC 8881 18.23", "READDIR of 1 MiB", Needs::any,
     LAB_SESSION "compound slot=0 { PUTFH $dir READDIR {dircount=1M maxcount=1M "
                 "attr_request=[type fileid]} }\nlet answer = $reply.status"},
    {"RFC 8881 18.22", "READ of 64 KiB", Needs::any,
     LAB_SESSION "compound slot=0 { PUTFH $file READ {count=64K} }\nlet answer = $reply.status"},
    {"RFC 8881 8.2.3", "WRITE with the anonymous stateid", Needs::any,
     LAB_SESSION
     "compound slot=0 { PUTFH $file WRITE {data=\"abcd\"} }\nlet answer = $reply.status"},
    {"RFC 8881 18.17", "OPENATTR", Needs::any,
     LAB_SESSION "compound slot=0 { PUTFH $file OP {number=19 body=0x00000000} }\nexpect reply",
     status_of_unknown},
    {"RFC 8881 18.45", "SECINFO_NO_NAME", Needs::any,
     LAB_SESSION "compound slot=0 { PUTROOTFH SECINFO_NO_NAME 0 }\nlet answer = $reply.status"},
    {"RFC 8881 18.48", "TEST_STATEID", Needs::any,
     LAB_SESSION "compound slot=0 { TEST_STATEID {ts_stateids=[{seqid=1}]} }\n"
                 "let answer = $reply.status"},
    {"RFC 8881 18.39", "GET_DIR_DELEGATION", Needs::any,
     LAB_SESSION
     "compound slot=0 { PUTFH $dir OP {number=46 "
     "body=0x00000000000000000000000000000000000000000000000000000000000000000000000000000000} "
     "}\nexpect reply",
     status_of_unknown},
    {"RFC 7862 15.1", "ALLOCATE of nothing", Needs::any,
     LAB_SESSION "compound slot=0 minor=2 { PUTFH $file OP {number=59 body=0x" LAB_STATEID
                 "00000000000000000000000000000000} }\nexpect reply",
     status_of_unknown},
    {"RFC 7862 15.11", "SEEK for data", Needs::any,
     LAB_SESSION "compound slot=0 minor=2 { PUTFH $file OP {number=69 body=0x" LAB_STATEID
                 "000000000000000000000000} }\nexpect reply",
     status_of_unknown},
    {"RFC 7862 15.10", "READ_PLUS", Needs::any,
     LAB_SESSION "compound slot=0 minor=2 { PUTFH $file OP {number=68 body=0x" LAB_STATEID
                 "000000000000000000000010} }\nexpect reply",
     status_of_unknown},
    {"RFC 8881 20", "an operation without a number (4711)", Needs::any,
     LAB_SESSION "compound slot=0 { PUTROOTFH OP {number=4711} }\nlet answer = $reply.status"},
};

}  // namespace

std::span<const Row> file_system_rows() { return kRows; }

}  // namespace nfsrdma::lab::probe
