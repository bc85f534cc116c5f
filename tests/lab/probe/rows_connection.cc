// Private data, MPA, the backward direction, records of TCP.
#include <fmt/format.h>

#include "tests/lab/probe/row.h"
#include "tests/lab/wire/peer.h"
#include "transport/fabric/iwarp/mpa_frame.h"

namespace nfsrdma::lab::probe {
namespace {

/// Places in an MPA frame (RFC 5044 section 7.1.1, RFC 6581 section 4.2.1).
constexpr std::size_t kFlags = 16, kRevision = 17, kIrd = 20, kOrd = 22;
constexpr unsigned kMarkers = 0x80, kCrc = 0x40, kReject = 0x20, kEnhanced = 0x10;
constexpr unsigned kDepth = 0x3fff;

unsigned byte_at(script::Runner& runner, std::size_t at) {
  const Bytes& bytes = runner.connection()->stream();
  return at < bytes.size() ? std::to_integer<unsigned>(bytes[at]) : 0;
}

std::string yes_or_no(bool yes) { return yes ? "yes" : "no"; }

std::string mpa_accepted(script::Runner& runner) {
  return yes_or_no((byte_at(runner, kFlags) & kReject) == 0);
}
std::string mpa_revision(script::Runner& runner) {
  return std::to_string(byte_at(runner, kRevision));
}
std::string mpa_crc(script::Runner& runner) { return yes_or_no(byte_at(runner, kFlags) & kCrc); }
std::string mpa_markers(script::Runner& runner) {
  return yes_or_no(byte_at(runner, kFlags) & kMarkers);
}
std::string mpa_depths(script::Runner& runner) {
  if ((byte_at(runner, kFlags) & kEnhanced) == 0) return "not told";
  const auto word = [&](std::size_t at) {
    return (byte_at(runner, at) << 8 | byte_at(runner, at + 1)) & kDepth;
  };
  return fmt::format("IRD {}, ORD {}", word(kIrd), word(kOrd));
}

/// What an initiator that wants a ready-to-receive message gets (RFC 6581 section 4.2.1).
std::string mpa_ready_to_receive(script::Runner& runner) {
  constexpr unsigned kPeerToPeer = 0x80, kSend = 0x40, kWrite = 0x80, kRead = 0x40;
  const unsigned ird = byte_at(runner, kIrd), ord = byte_at(runner, kOrd);
  if ((ird & kPeerToPeer) == 0) return "no";
  return fmt::format("yes:{}{}{}", ird & kSend ? " Send" : "", ord & kWrite ? " Write" : "",
                     ord & kRead ? " Read" : "");
}

std::string how_it_ended(script::Runner& runner) {
  const auto& down = runner.connection()->peer().down();
  return down ? down->message() : "no";
}

std::string backward_credits(script::Runner& runner) {
  const auto& callbacks = runner.connection()->callbacks();
  const Node* credits = callbacks.empty() ? nullptr : callbacks.front().find("credits");
  return credits ? credits->text : "no";
}

/// "MPA ID Req Frame"
#define LAB_MPA "connect socket\nsend raw 4d504120494420526571204672616d65 "

constexpr Row kRows[] = {
    {"RFC 8797 4", "private data is sent", Needs::rdma, "connect\nexpect private-data.present = 1"},
    {"RFC 8797 4.2", "send size", Needs::rdma, "connect\nlet answer = $private-data.send"},
    {"RFC 8797 4.2", "receive size", Needs::rdma, "connect\nlet answer = $private-data.recv"},
    {"RFC 8797 4.1", "the R bit is set", Needs::rdma, "connect\nexpect private-data.R = 1"},
    {"RFC 8797 4.1", "a handle is invalidated for a client with the R bit", Needs::rdma,
     "connect private-data={R=1 send=4096 recv=4096}\nsession\n"
     "send slot=0 write=[[seg 64]] { PUTFH $file READ {count=5} }\nexpect reply.invalidated"},
    {"RFC 8797 4.1", "none is for a client without it", Needs::rdma,
     "connect private-data={R=0 send=4096 recv=4096}\nsession\n"
     "send slot=0 write=[[seg 64]] { PUTFH $file READ {count=5} }\nexpect no reply.invalidated"},
    {"RFC 8797 5.1", "a client without private data is served", Needs::rdma,
     "connect private-data=none\nexpect alive"},
    {"RFC 8797 5.1", "it gets no reply of more than 1024 bytes by a Send", Needs::rdma,
     "connect private-data=none\nsession\nsend slot=0 reply=[seg 8K] { PUTFH $file READ "
     "{count=2000} }\n"
     "expect reply.proc = NOMSG"},
    {"RFC 8167 5", "a back channel over this connection", Needs::any,
     "connect\nsession back=on\nlet answer = $session.csr_flags\n"
     "expect $session.csr_flags = CREATE_SESSION4_FLAG_CONN_BACK_CHAN\nlet answer = yes"},
    {"RFC 8167 4.2", "a callback at once (CB_NULL)", Needs::any,
     "connect\nsession back=on\nexpect callback within 1s\nlet answer = yes"},
    {"RFC 8167 4.2", "credits asked for in callbacks", Needs::rdma,
     "connect\nsession back=on\nexpect callback within 1s", backward_credits},
    {"RFC 6581 5", "MPA revision 2 is answered with", Needs::rdma,
     LAB_MPA "50 02 0004 0010 0010\nexpect bytes.length >= 20", mpa_revision},
    {"RFC 6581 4", "depths for IRD 16, ORD 16", Needs::rdma,
     LAB_MPA "50 02 0004 0010 0010\nexpect bytes.length >= 20", mpa_depths},
    {"RFC 6581 4.2.1", "peer to peer with a ready-to-receive message", Needs::rdma,
     LAB_MPA "50 02 0004 c010 c010\nexpect bytes.length >= 24", mpa_ready_to_receive, "report 33"},
    {"RFC 5044 7.1", "MPA revision 1 is accepted", Needs::rdma,
     LAB_MPA "00 01 0000\nexpect bytes.length >= 20", mpa_accepted},
    {"RFC 5044 7.1", "CRC is asked for of a client that asks for none", Needs::rdma,
     LAB_MPA "00 01 0000\nexpect bytes.length >= 20", mpa_crc},
    {"RFC 5044 7.1", "markers are asked for", Needs::rdma,
     LAB_MPA "40 01 0000\nexpect bytes.length >= 20", mpa_markers},
    {"RFC 5044 8", "a frame that is no FPDU ends the connection", Needs::rdma,
     LAB_MPA "00 01 0000\nexpect bytes.length >= 20\n"
             "send raw 0012 41ff 00000000 00000000 00000001 00000000 00000000\nexpect disconnect",
     nullptr, "report 5"},
    {"RFC 5040 8", "how a Send larger than the receive size ends", Needs::rdma,
     "connect\nsend body={length=65536 fill=0}\nexpect disconnect", how_it_ended},
    {"RFC 5531 11", "a record in fragments", Needs::tcp,
     "connect socket\nsend raw 00000010 00000007 00000000 00000002 000186a3\n"
     "send raw 80000018 00000004 00000000 00000000 00000000 00000000 00000000\n"
     "expect bytes.length >= 28"},
    {"RFC 5531 9", "a program that is not there", Needs::any,
     "connect\nsend program=200000 null\nexpect reply\nlet answer = $reply.rpc"},
    {"RFC 5531 9", "version 9 of NFS", Needs::any,
     "connect\nsend rpcvers-of-program=9 null\nexpect reply\nlet answer = $reply.rpc"},
};

}  // namespace

std::span<const Row> connection_rows() { return kRows; }

}  // namespace nfsrdma::lab::probe
