// Versions, credits, and headers that are wrong.
#include <fmt/format.h>

#include "tests/lab/probe/row.h"

namespace nfsrdma::lab::probe {
namespace {

std::string version_range(script::Runner& runner) {
  const Node& reply = runner.bindings().at("reply");
  const Node* low = reply.find("low");
  const Node* high = reply.find("high");
  return low && high ? fmt::format("{} to {}", low->text, high->text) : "no";
}

constexpr Row kRows[] = {
    {"RFC 8166 4.5.1", "versions told for version 9 (ERR_VERS)", Needs::rdma,
     "connect\nsend vers=9 null\nexpect reply.error = ERR_VERS", version_range},
    {"draft version 2", "version 2 is spoken", Needs::rdma,
     "connect\nsend vers=2 null\nexpect reply.vers = 2\nexpect no reply.error"},
    {"RFC 8166 3.3.1", "credits granted for 1", Needs::rdma,
     "connect\nsend credits=1 null\nexpect reply\nlet answer = $reply.credits"},
    {"RFC 8166 3.3.1", "credits granted for 64", Needs::rdma,
     "connect\nsend credits=64 null\nexpect reply\nlet answer = $reply.credits"},
    {"RFC 8166 3.3.1", "credits granted for 65535", Needs::rdma,
     "connect\nsend credits=65535 null\nexpect reply\nlet answer = $reply.credits"},
    {"RFC 8166 3.3.1", "a request of 0 credits", Needs::rdma,
     "connect\nsend credits=0 null\nexpect outcome\nlet answer = $outcome"},
    {"RFC 8166 3.3.3", "credits granted for 64 on the next connection", Needs::rdma,
     "connect\nsend credits=1 null\nexpect reply\nreconnect\nsend credits=64 null\nexpect reply\n"
     "let answer = $reply.credits"},
    {"RFC 8166 4.6", "RDMA_MSGP", Needs::rdma,
     "connect\nsend proc=MSGP null\nexpect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8166 4.6", "RDMA_DONE is dropped", Needs::rdma,
     "connect\nsend raw 00000007 00000001 00000010 00000003\nexpect alive"},
    {"RFC 8166 4.5.2", "an undefined rdma_proc", Needs::rdma,
     "connect\nsend proc=9 null\nexpect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8166 4.5", "a message shorter than a header is dropped", Needs::rdma,
     "connect\nsend raw 00000007 00000001\nexpect alive"},
    {"RFC 8166 4.5.2", "a presence word of 7", Needs::rdma,
     "connect\nsend raw 00000007 00000001 00000010 00000000 00000007 00000000 00000000\n"
     "expect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8166 4.2.1", "XIDs of header and message differ", Needs::rdma,
     "connect\nsend xid=7 body=0x000000080000000000000002000186a300000004"
     "0000000000000000000000000000000000000000\nexpect outcome within 1s\n"
     "let answer = $outcome"},
    {"RFC 8166 4.2.4", "RDMA_NOMSG without a chunk", Needs::rdma,
     "connect\nsend proc=NOMSG null\nexpect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8167 4.1", "a Reply that nobody asked for is dropped", Needs::rdma,
     "connect\nsend raw 0badcafe 00000001 00000020 00000000 00000000 00000000 00000000 0badcafe "
     "00000001 00000000 00000000 00000000 00000000\nexpect alive"},
    {"RFC 8166 4.5.3", "an RDMA_ERROR that nobody asked for is dropped", Needs::rdma,
     "connect\nsend raw 0badcafe 00000001 00000020 00000004 00000002\nexpect alive"},
};

}  // namespace

std::span<const Row> credit_and_header_rows() { return kRows; }

}  // namespace nfsrdma::lab::probe
