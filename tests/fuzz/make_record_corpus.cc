// Writes corpus/record anew: fuzz_make_record_corpus FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/record_inputs.h"
#include "tests/transport/tcp/wire.h"

namespace nfsrdma::fuzz {
namespace {

using namespace nfsrdma::test;

class Writer {
 public:
  explicit Writer(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  void write(const std::string& name, std::uint8_t piece, const Bytes& stream) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.put(static_cast<char>(piece));
    file.write(reinterpret_cast<const char*>(stream.data()),
               static_cast<std::streamsize>(stream.size()));
  }

 private:
  std::filesystem::path folder_;
};

void write_all(Writer& out) {
  constexpr std::size_t kData = 500;
  const Bytes plain = record(rpc_reply(kPlainXid, words({4, 0, 1})));
  const Bytes read = read_reply({.xid = kReadXid, .data = pattern(kData)});
  out.write("plain", 0, plain);
  out.write("read", 0, record(read));
  out.write("read_in_pieces", 7, record(read));
  out.write("read_in_fragments", 0, fragments(read, 50));
  out.write("empty_fragments", 0, fragments(read, 50, 2));
  out.write("read_of_nothing", 0, record(read_reply({.xid = kReadXid})));
  out.write("read_with_tag", 0,
            record(read_reply({.xid = kReadXid, .data = pattern(9), .verifier = 8, .tag = 5})));
  out.write("read_too_long", 0, record(read_reply({.xid = kReadXid, .data = pattern(3001)})));
  out.write("read_claims_more", 0,
            record(read_reply({.xid = kReadXid, .data = pattern(8), .claimed = 2000})));
  out.write("read_failed", 0, record(rpc_reply(kReadXid, words({5, 0, 1, 53, 5}))));
  out.write("large", 0, record(rpc_reply(kPlainXid, pattern(10000))));
  out.write("unknown_xid", 0, record(rpc_reply(99, pattern(40))));
  out.write("callback", 0, record(rpc_call(kReadXid)));
  out.write("no_message", 0, record(words({1})));
  Bytes several = plain;
  append(several, record(read_reply({.xid = kSecondReadXid, .data = pattern(kData)})));
  append(several, record(rpc_call(7)));
  append(several, record(read));
  out.write("several", 0, several);
  out.write("several_in_pieces", 3, several);
}

}  // namespace
}  // namespace nfsrdma::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  nfsrdma::fuzz::Writer out(argv[1]);
  nfsrdma::fuzz::write_all(out);
  return 0;
}
