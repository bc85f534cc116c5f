// Writes corpus/capture: fuzz_make_capture_corpus FOLDER
#include <fstream>
#include <string>

#include "tests/lab/capture/roce_maker.h"

using namespace nfsrdma::lab;
using namespace nfsrdma::lab::test;

namespace {

constexpr Side C = Side::client;
constexpr Side S = Side::server;

void save(const std::string& path, const CaptureMaker& file) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.bytes().data()),
             static_cast<std::streamsize>(file.bytes().size()));
}

/// A Write chunk that is filled, a Read chunk that is read, what is sent behind a hole, an end.
void talk(CaptureMaker& file, const IwarpMaker::Terms& terms) {
  IwarpMaker wire(file, terms);
  wire.send(C, null_call(1, write_chunk(7, 100)));
  wire.write(S, {7, 0}, Bytes(100));
  wire.send(S, null_reply(1, write_chunk(7, 100)), 7);
  wire.send(C, null_call(2, read_chunk(40, 8, 12)));
  wire.read_request(S, {9, 0, 12, 8, 0});
  wire.read_response(C, {9, 0}, Bytes(12));
  wire.lost = true;
  wire.send(S, null_reply(2));
  wire.send(C, null_call(3));
  wire.terminate(S);
  wire.tcp.close();
}

void talk_roce(CaptureMaker& file) {
  RoceMaker wire(file, true);
  wire.send(C, null_call(1, write_chunk(7, 300)));
  wire.write(S, {7, 0}, Bytes(300));
  wire.send(S, null_reply(1, write_chunk(7, 300)), 7);
  wire.send(C, null_call(2, read_chunk(40, 8, 300)));
  wire.read(S, {8, 0}, Bytes(300));
  wire.refuse(C, 2);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  const std::string folder = std::string(argv[1]) + "/";
  CaptureMaker plain;
  talk(plain, {});
  save(folder + "iwarp", plain);
  CaptureMaker markers({.other_byte_order = true, .vlan = true});
  talk(markers, {.markers = true});
  save(folder + "iwarp_markers", markers);
  CaptureMaker roce({.nanoseconds = true});
  talk_roce(roce);
  save(folder + "roce", roce);
  CaptureMaker records({.link_type = 12});
  TcpMaker tcp(records);
  Bytes record;
  append_words(record, {0x80000028});
  const Bytes call = null_call(1);
  append(record, std::span(call).subspan(nfsrdma::rdma::kMinHeader));
  tcp.send(C, record);
  Bytes answer;
  append_words(answer, {0x80000018, 1, 1, 0, 0, 0, 0});
  tcp.send(S, answer);
  save(folder + "records", records);
  return 0;
}
