// Read list, Write list and Reply chunk.
#include "tests/lab/probe/row.h"

namespace nfsrdma::lab::probe {
namespace {

constexpr Row kRows[] = {
    {"RFC 8166 4.3", "MSG: no list", Needs::rdma,
     LAB_SESSION "send slot=0 { PUTFH $dir GETFH }\nexpect reply.GETFH.status = NFS4_OK"},
    {"RFC 8166 4.3", "MSG: Write list", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[seg 64]] { PUTFH $dir GETFH }\n"
                 "expect reply.GETFH.status = NFS4_OK"},
    {"RFC 8166 4.3", "MSG: Reply chunk", Needs::rdma,
     LAB_SESSION "send slot=0 reply=[seg 4096] { PUTFH $dir GETFH }\n"
                 "expect reply.GETFH.status = NFS4_OK"},
    {"RFC 8166 4.3", "MSG: Write list and Reply chunk", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[seg 64]] reply=[seg 4096] { PUTFH $dir GETFH }\n"
                 "expect reply.GETFH.status = NFS4_OK"},
    {"RFC 8166 4.3", "MSG: Read list", Needs::rdma,
     LAB_OPEN "send slot=0 read=[payload] { PUTFH $file WRITE {stateid=$id data=\"abcd\"} }\n"
              "expect reply.WRITE.resok4.count = 4"},
    {"RFC 8166 4.3", "MSG: Read list and Write list", Needs::rdma,
     LAB_OPEN "send slot=0 read=[payload] write=[[seg 64]] { PUTFH $file "
              "WRITE {stateid=$id data=\"abcd\"} READ {stateid=$id count=4} }\n"
              "expect reply.READ.resok4.data = \"abcd\""},
    {"RFC 8166 4.3", "MSG: Read list and Reply chunk", Needs::rdma,
     LAB_OPEN "send slot=0 read=[payload] reply=[seg 4K] { PUTFH $file "
              "WRITE {stateid=$id data=\"abcd\"} }\nexpect reply.WRITE.resok4.count = 4"},
    {"RFC 8166 4.3", "MSG: all three", Needs::rdma,
     LAB_OPEN "send slot=0 read=[payload] write=[[seg 64]] reply=[seg 4K] { PUTFH $file "
              "WRITE {stateid=$id data=\"abcd\"} READ {stateid=$id count=4} }\n"
              "expect reply.READ.resok4.data = \"abcd\""},
    {"RFC 8166 3.5.3", "NOMSG: call chunk", Needs::rdma,
     LAB_SESSION "send slot=0 read=[pos=0 seg 1K] { PUTFH $dir GETFH }\n"
                 "expect reply.GETFH.status = NFS4_OK"},
    {"RFC 8166 3.5.3", "NOMSG: call chunk and Write list", Needs::rdma,
     LAB_SESSION "send slot=0 read=[pos=0 seg 1K] write=[[seg 64]] { PUTFH $dir GETFH }\n"
                 "expect reply.GETFH.status = NFS4_OK"},
    {"RFC 8166 3.5.3", "NOMSG: call chunk and Reply chunk", Needs::rdma,
     LAB_SESSION "send slot=0 read=[pos=0 seg 1K] reply=[seg 4K] { PUTFH $dir GETFH }\n"
                 "expect reply.GETFH.status = NFS4_OK"},
    {"RFC 8166 3.5.3", "NOMSG: call chunk and a Read chunk", Needs::rdma,
     LAB_OPEN "send slot=0 read=[pos=0 seg 1K, payload] { PUTFH $file "
              "WRITE {stateid=$id data=\"abcd\"} GETATTR [type] }\n"
              "expect reply.WRITE.resok4.count = 4\nexpect reply.GETATTR.status = NFS4_OK"},
    {"RFC 8166 3.4.5", "a call chunk of four segments", Needs::rdma,
     LAB_SESSION "send slot=0 read=[pos=0 seg 64 seg 36 seg 40 seg 1K] { PUTFH $dir GETFH }\n"
                 "expect reply.GETFH.status = NFS4_OK"},
    {"RFC 8166 3.4.6", "a Write chunk of 16 segments", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[seg 4 times=16]] { PUTFH $file READ {count=60} }\n"
                 "expect reply.write.1.length = 60"},
    {"RFC 8166 4.3.3", "a Reply chunk of 16 segments", Needs::rdma,
     LAB_SESSION "send slot=0 reply=[seg 4K times=16] { PUTFH $file READ {count=32K} }\n"
                 "expect reply.proc = NOMSG\nexpect reply.READ.status = NFS4_OK"},
    {"RFC 8166 3.4.4", "an operation behind a Read chunk is executed", Needs::rdma,
     LAB_OPEN "send slot=0 read=[payload] { PUTFH $file WRITE {stateid=$id data=\"abcde\"} "
              "GETATTR [type] }\nexpect reply.GETATTR.status = NFS4_OK"},
    {"RFC 8166 3.4.5.2", "a Read chunk with its pad is taken", Needs::rdma,
     LAB_OPEN "send slot=0 read=[payload-padded] { PUTFH $file WRITE {stateid=$id data=\"abcde\"} "
              "GETATTR [type] }\nexpect reply.GETATTR.status = NFS4_OK"},
    {"RFC 8166 3.4.6.2", "bytes returned for READ of 5 (more: the pad)", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[seg 64]] { PUTFH $file READ {count=5} }\n"
                 "expect reply.write\nlet answer = $reply.write.1.length"},
    {"RFC 8166 4.3.2", "an unused Write chunk comes back empty", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[seg 64]] { PUTFH $dir GETFH }\n"
                 "expect reply.write.1.length = 0"},
    {"RFC 8166 4.3.2", "a Write chunk without a segment", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[]] { PUTFH $dir GETFH }\nexpect outcome within 1s\n"
                 "let answer = $outcome"},
    {"RFC 8166 4.3.3", "a Reply chunk without a segment", Needs::rdma,
     LAB_SESSION "send slot=0 reply=[] { PUTFH $dir GETFH }\nexpect outcome within 1s\n"
                 "let answer = $outcome"},
    {"RFC 8166 3.4.6", "segments of length 0", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[seg 0]] reply=[seg 0] { PUTFH $dir GETFH }\n"
                 "expect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8166 4.5.2", "a Write chunk too small for its READ", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[seg 16]] { PUTFH $file READ {count=4K} }\n"
                 "expect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8166 4.5.2", "a Reply chunk too small for the reply", Needs::rdma,
     LAB_SESSION "send slot=0 reply=[seg 16] { PUTFH $file READ {count=32K} }\n"
                 "expect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8166 4.5.2", "a long reply without a Reply chunk", Needs::rdma,
     LAB_SESSION "send slot=0 { PUTFH $file READ {count=32K} }\n"
                 "expect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8166 3.4.5", "a Read chunk behind the end of the message", Needs::rdma,
     LAB_SESSION "send slot=0 read=[pos=4096 seg 64] { PUTFH $dir GETFH }\n"
                 "expect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8166 3.4.5", "a Read chunk at position 39", Needs::rdma,
     LAB_SESSION "send slot=0 read=[pos=39 seg 64] { PUTFH $dir GETFH }\n"
                 "expect outcome within 1s\nlet answer = $outcome"},
    {"RFC 8267 6.4.1", "two READs, each with its Write chunk", Needs::rdma,
     LAB_SESSION "send slot=0 write=[[seg 64] [seg 64]] { PUTFH $file READ {count=3} "
                 "READ {offset=8 count=7} }\nexpect reply.write.1.length = 3\n"
                 "expect reply.write.2.length = 7"},
    {"RFC 8267 6.4.1", "two WRITEs, each with its Read chunk", Needs::rdma,
     LAB_OPEN "send slot=0 read=[payload] { PUTFH $file WRITE {stateid=$id data=\"abcde\"} "
              "WRITE {stateid=$id offset=8 data=\"fgh\"} }\n"
              "expect reply.WRITE#2.resok4.count = 3"},
    {"RFC 8267 6.1", "READLINK by a Write chunk", Needs::rdma,
     LAB_SESSION
     "compound slot=0 { PUTFH $dir REMOVE \"lab-probe-link\" }\n"
     "compound slot=0 { PUTFH $dir CREATE {objtype={type=NF4LNK linkdata=\"some/where\"} "
     "objname=\"lab-probe-link\"} }\nexpect reply.status = NFS4_OK\n"
     "send slot=0 write=[[seg 4K]] { PUTFH $dir LOOKUP \"lab-probe-link\" READLINK }\n"
     "expect reply.READLINK.resok4.link = \"some/where\""},
    {"RFC 8267 6.1", "a link's text by a Read chunk", Needs::rdma,
     LAB_SESSION "compound slot=0 { PUTFH $dir REMOVE \"lab-probe-link\" }\n"
                 "send slot=0 read=[payload] { PUTFH $dir CREATE {objtype={type=NF4LNK "
                 "linkdata=\"some/where\"} objname=\"lab-probe-link\"} }\n"
                 "expect reply.CREATE.status = NFS4_OK"},
    {"RFC 8166 3.5.3", "READ of 64 KiB in a Reply chunk", Needs::rdma,
     LAB_SESSION "send slot=0 reply=[seg 128K] { PUTFH $file READ {count=64K} }\n"
                 "expect reply.READ.status = NFS4_OK"},
    {"RFC 8166 3.5.3", "WRITE of 64 KiB in a call chunk", Needs::rdma,
     LAB_OPEN "send slot=0 read=[pos=0 seg 128K] { PUTFH $file WRITE {stateid=$id "
              "data={length=65536 fill=0x61}} }\nexpect reply.WRITE.resok4.count = 65536"},
};

}  // namespace

std::span<const Row> chunk_rows() { return kRows; }

}  // namespace nfsrdma::lab::probe
