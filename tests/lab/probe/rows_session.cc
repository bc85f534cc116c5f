// Sessions, slots and the replay cache (RFC 8881).
#include <fmt/format.h>

#include "tests/lab/probe/row.h"

namespace nfsrdma::lab::probe {
namespace {

constexpr Row kRows[] = {
    {"RFC 8881 1.1", "minor version 0", Needs::any,
     "connect\ncompound minor=0 { PUTROOTFH }\nlet answer = $reply.status"},
    {"RFC 8881 16.2.3", "PUTROOTFH without SEQUENCE", Needs::any,
     "connect\ncompound minor=1 { PUTROOTFH }\nlet answer = $reply.status"},
    {"RFC 7862 1", "minor version 2", Needs::any,
     LAB_SESSION "compound slot=0 minor=2 { PUTROOTFH }\nlet answer = $reply.status"},
    {"RFC 8881 16.2.3", "minor version 9", Needs::any,
     "connect\ncompound minor=9 { PUTROOTFH }\nlet answer = $reply.status"},
    {"RFC 8881 18.36", "slots for 1024", Needs::any,
     "connect\nsession slots=1024\nlet answer = $session.csr_fore_chan_attrs.ca_maxrequests"},
    {"RFC 8881 18.36", "ca_maxrequestsize for 1053 KiB", Needs::any,
     LAB_SESSION "let answer = $session.csr_fore_chan_attrs.ca_maxrequestsize"},
    {"RFC 8881 18.36", "ca_maxresponsesize for 1053 KiB", Needs::any,
     LAB_SESSION "let answer = $session.csr_fore_chan_attrs.ca_maxresponsesize"},
    {"RFC 8881 18.36", "ca_maxresponsesize_cached for 64 KiB", Needs::any,
     LAB_SESSION "let answer = $session.csr_fore_chan_attrs.ca_maxresponsesize_cached"},
    {"RFC 8881 18.36", "ca_maxoperations for 64", Needs::any,
     LAB_SESSION "let answer = $session.csr_fore_chan_attrs.ca_maxoperations"},
    {"RFC 8881 18.46", "target slot", Needs::any,
     LAB_SESSION "compound slot=0 { PUTROOTFH }\n"
                 "let answer = $reply.SEQUENCE.sr_resok4.sr_target_highest_slotid"},
    {"RFC 8881 18.46", "status flags of a new session", Needs::any,
     LAB_SESSION "compound slot=0 { PUTROOTFH }\n"
                 "let answer = $reply.SEQUENCE.sr_resok4.sr_status_flags"},
    {"RFC 8881 2.10.6.1", "a sequence number 5 too high", Needs::any,
     LAB_SESSION "compound slot=0 seq=+5 { PUTROOTFH }\nlet answer = $reply.status"},
    {"RFC 8881 2.10.6.1", "slot 60000", Needs::any,
     LAB_SESSION "compound slot=60000 { PUTROOTFH }\nlet answer = $reply.status"},
    {"RFC 8881 2.10.6.1.3", "a change that is sent again is executed once", Needs::any,
     LAB_SESSION
     "compound slot=0 { PUTFH $dir REMOVE \"lab-probe-d\" }\n"
     "send slot=1 cache=true xid=77 { PUTFH $dir CREATE {objtype=NF4DIR objname=\"lab-probe-d\"} "
     "}\n"
     "expect reply.CREATE.status = NFS4_OK\nreconnect\nresend 77\n"
     "expect reply.CREATE.status = NFS4_OK\n"
     "compound slot=0 { PUTFH $dir REMOVE \"lab-probe-d\" }\nexpect reply.REMOVE.status = NFS4_OK"},
    {"RFC 8881 2.10.6.1.3", "a READ that was not cached, sent again", Needs::any,
     LAB_SESSION "send slot=1 xid=78 { PUTROOTFH GETFH }\nexpect reply.status = NFS4_OK\n"
                 "resend 78\nexpect reply\nlet answer = $reply.status"},
    {"RFC 8881 2.10.6.1.3.1", "another request with a used sequence number", Needs::any,
     LAB_SESSION "compound slot=1 cache=true { PUTROOTFH GETFH }\n"
                 "compound slot=1 seq=1 cache=true { PUTROOTFH GETATTR [type] SAVEFH }\n"
                 "let answer = $reply.status"},
    {"RFC 8881 18.34", "BIND_CONN_TO_SESSION", Needs::any,
     LAB_SESSION "reconnect\ncompound { BIND_CONN_TO_SESSION {bctsa_sessid=$session.csr_sessionid "
                 "bctsa_dir=CDFC4_FORE_OR_BOTH} }\nlet answer = $reply.status"},
    {"RFC 8881 2.10.5", "a session is used on another connection without binding", Needs::any,
     LAB_SESSION "reconnect\ncompound slot=0 { PUTROOTFH }\nlet answer = $reply.status"},
    {"RFC 8881 18.46", "SEQUENCE as the second operation", Needs::any,
     LAB_SESSION "compound slot=0 { SEQUENCE {sa_sessionid=$session.csr_sessionid} }\nlet answer = "
                 "$reply.status"},
    {"RFC 8881 18.51", "a second RECLAIM_COMPLETE", Needs::any,
     LAB_SESSION "compound slot=0 { RECLAIM_COMPLETE }\nlet answer = $reply.status"},
    {"RFC 8881 18.35", "server owner (so_major_id)", Needs::any,
     LAB_SESSION "let answer = $client.eir_server_owner.so_major_id"},
    {"RFC 8881 18.35", "implementation", Needs::any,
     LAB_SESSION "let answer = $client.eir_server_impl_id"},
    {"RFC 8881 18.35", "eir_flags", Needs::any, LAB_SESSION "let answer = $client.eir_flags"},
    {"RFC 8881 18.37", "DESTROY_SESSION of a session that is in use", Needs::any,
     LAB_SESSION "compound { DESTROY_SESSION {dsa_sessionid=$session.csr_sessionid} }\nlet answer "
                 "= $reply.status"},
};

}  // namespace

std::span<const Row> session_rows() { return kRows; }

}  // namespace nfsrdma::lab::probe
