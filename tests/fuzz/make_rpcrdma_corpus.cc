// Writes corpus/rpcrdma anew: fuzz_make_rpcrdma_corpus FOLDER
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/rpcrdma_inputs.h"

namespace nfsrdma::fuzz {
namespace {

using test::encode;
using test::Octets;

class Writer {
 public:
  explicit Writer(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& name, std::uint8_t how, const Octets& message) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.put(static_cast<char>(how));
    file.write(reinterpret_cast<const char*>(message.data()),
               static_cast<std::streamsize>(message.size()));
  }

 private:
  std::filesystem::path folder_;
};

void write_replies(Writer& out, test::Harness& harness) {
  const Octets plain = encode(harness.reply_header(kFirstMessage + kPlainCall),
                              test::rpc_reply(kFirstXid + kPlainCall, test::words({4, 0, 1})));
  out.write("short_reply", 0, plain);
  out.write("duplicate_reply", kDeliverTwice, plain);

  rdma::Header& placed = harness.reply_header(kFirstMessage + kWriteChunkCall);
  placed.chunks.write_entries[0].target[0].length = 5000;
  const Octets read =
      encode(placed, test::rpc_reply(kFirstXid + kWriteChunkCall, test::words({5000, 1})));
  out.write("placed_reply", 0, read);
  out.write("placed_reply_invalidated", kInvalidate, read);
  placed.chunks.write_entries[0].count = 0;
  out.write("empty_chunk", 0,
            encode(placed, test::rpc_reply(kFirstXid + kWriteChunkCall, test::words({0}))));

  rdma::Header& large = harness.reply_header(kFirstMessage + kLongReplyCall);
  out.write("short_despite_reply_chunk", 0,
            encode(large, test::rpc_reply(kFirstXid + kLongReplyCall)));
  large.proc = rdma::RDMA_NOMSG;
  large.chunks.rdma_reply.target[0].length = 64;
  out.write("long_reply", kFillReplyChunk, encode(large));

  const std::uint32_t xid = kFirstXid + kPlainCall;
  out.write("rpc_garbage_args", 0,
            encode(harness.reply_header(kFirstMessage), test::words({xid, 1, 0, 0, 0, 4})));
  out.write("rpc_denied", 0,
            encode(harness.reply_header(kFirstMessage), test::words({xid, 1, 1, 1, 5})));
}

void write_errors(Writer& out) {
  const std::uint32_t xid = kFirstXid + kWriteChunkCall;
  out.write("err_chunk", 0, test::words({xid, 1, 32, rdma::RDMA_ERROR, rdma::ERR_CHUNK}));
  out.write("err_vers", 0, test::words({xid, 2, 32, rdma::RDMA_ERROR, rdma::ERR_VERS, 1, 1}));
  out.write("msgp", 0, test::words({xid, 1, 32, rdma::RDMA_MSGP, 0, 0, 0, 0, 0}));
  out.write("done", 0, test::words({xid, 1, 32, rdma::RDMA_DONE}));
}

void write_callbacks(Writer& out) {
  rdma::Header header;
  header.rdma_xid = 7;
  header.rdma_credit = 1;
  Octets call = test::rpc_call(7);
  out.write("callback_without_argument", 0, encode(header, call));
  const Octets argument = test::words({42});
  call.insert(call.end(), argument.begin(), argument.end());
  out.write("callback", 0, encode(header, call));
  header.rdma_vers = 2;
  out.write("callback_of_version_2", 0, encode(header, call));
  header.rdma_vers = rdma::kVersionOne;
  header.chunks.add_read(40, {1, 2, 3});
  out.write("callback_with_read_list", 0, encode(header, call));
  header.proc = rdma::RDMA_NOMSG;
  header.chunks.read_entries[0].position = 0;
  out.write("long_callback", 0, encode(header));
}

void write_all(const char* folder) {
  Writer out(folder);
  test::Harness harness(small_setup());
  harness.connect();
  {
    OpenCalls calls(harness);
    write_replies(out, harness);
    write_errors(out);
    write_callbacks(out);
  }
}

}  // namespace
}  // namespace nfsrdma::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return EXIT_FAILURE;
  }
  nfsrdma::fuzz::write_all(argv[1]);
  return EXIT_SUCCESS;
}
