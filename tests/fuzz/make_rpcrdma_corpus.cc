// Writes corpus/rpcrdma or corpus/rpcrdma2 anew: fuzz_make_rpcrdma_corpus FOLDER,
// fuzz_make_rpcrdma2_corpus FOLDER
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/rpcrdma_inputs.h"

namespace nfsrdma::fuzz {
namespace {

using test::Bytes;
using test::encode;

class Writer {
 public:
  explicit Writer(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& name, std::uint8_t how, const Bytes& message) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.put(static_cast<char>(how));
    file.write(reinterpret_cast<const char*>(message.data()),
               static_cast<std::streamsize>(message.size()));
  }

 private:
  std::filesystem::path folder_;
};

void write_replies(Writer& out, test::Harness& harness) {
  const Bytes plain = encode(harness.reply_header(kFirstMessage + kPlainCall),
                             test::rpc_reply(kFirstXid + kPlainCall, test::words({4, 0, 1})));
  out.write("short_reply", 0, plain);
  out.write("duplicate_reply", kDeliverTwice, plain);

  rdma::Header& placed = harness.reply_header(kFirstMessage + kWriteChunkCall);
  placed.chunks.write_entries[0].target[0].length = 5000;
  const Bytes read =
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
  out.write("err_chunk", 0, test::words({xid, kVersion, 32, rdma::RDMA_ERROR, rdma::ERR_CHUNK}));
  out.write("err_vers", 0, test::words({xid, 2, 32, rdma::RDMA_ERROR, rdma::ERR_VERS, 1, 1}));
  out.write("msgp", 0, test::words({xid, kVersion, 32, rdma::RDMA_MSGP, 0, 0, 0, 0, 0}));
  out.write("done", 0, test::words({xid, kVersion, 32, rdma::RDMA_DONE}));
}

void write_callbacks(Writer& out) {
  rdma::Header header;
  header.rdma_vers = kVersion;
  header.rdma_xid = 7;
  header.rdma_credit = 1;
  Bytes call = test::rpc_call(7);
  out.write("callback_without_argument", 0, encode(header, call));
  const Bytes argument = test::words({42});
  call.insert(call.end(), argument.begin(), argument.end());
  out.write("callback", 0, encode(header, call));
  header.rdma_vers = 2;
  out.write(kVersionTwo ? "callback" : "callback_of_version_2", 0, encode(header, call));
  header.rdma_vers = 1;
  if (kVersionTwo) out.write("callback_of_version_1", 0, encode(header, call));
  header.rdma_vers = kVersion;
  header.chunks.add_read(40, {1, 2, 3});
  out.write("callback_with_read_list", 0, encode(header, call));
  header.proc = rdma::RDMA_NOMSG;
  header.chunks.read_entries[0].position = 0;
  out.write("long_callback", 0, encode(header));
}

/// Version 2: RDMA_OPTIONAL, and errors that answer one.
void write_options(Writer& out, test::Harness& harness) {
  const auto option = [](std::uint32_t opttype, const Bytes& info) {
    Bytes message = test::words(
        {9, 2, 32, rdma::RDMA_OPTIONAL, opttype, static_cast<std::uint32_t>(info.size())});
    message.insert(message.end(), info.begin(), info.end());
    return message;
  };
  out.write("connprop", 0,
            option(rdma::ROPT_CONNPROP, test::words({3, 1, 4, 32768, 2, 4, 1, 3, 4, 2, 1, 6})));
  out.write("reqprop", kDeliverTwice,
            option(rdma::ROPT_REQPROP, test::words({2, 1, 4, 65536, 0xFFFFFF01, 0})));
  out.write("resprop", 0, option(rdma::ROPT_RESPROP, test::words({1, 1, 1, 2, 1, 1, 4, 8192})));
  out.write("updprop", 0, option(rdma::ROPT_UPDPROP, test::words({1, 1, 4, 8192})));
  out.write("unknown_option", kDeliverTwice, option(0x7777, {}));
  const std::uint32_t connprop = xdr::Decoder(harness.peer().sent(1).bytes).u32("xid");
  for (const std::uint32_t code : {1U, 2U, 3U}) {
    out.write("option_refused_" + std::to_string(code), 0,
              test::words({connprop, 2, 32, rdma::RDMA_ERROR, code, 1, 1}));
  }
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
    if (kVersionTwo) write_options(out, harness);
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
