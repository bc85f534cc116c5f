// Writes the corpora of the iWARP fuzz targets: fuzz_make_iwarp_corpus FOLDER makes FOLDER/mpa,
// FOLDER/ddp and FOLDER/rdmap. The dialogues are those a client and a server really have.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/fuzz/ddp_fuzz_arena.h"
#include "tests/responder/fabric/mpa_answer.h"
#include "transport/fabric/iwarp/ddp_header.h"
#include "transport/fabric/iwarp/network_order.h"
#include "transport/fabric/iwarp/rdmap_header.h"
#include "transport/fabric/iwarp/terminate.h"

namespace nfsrdma::fuzz {
namespace {

using namespace fabric::iwarp;
using Bytes = std::vector<std::byte>;

void append(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

Bytes segment(const DdpHeader& header, std::size_t payload) {
  Bytes ulpdu(header.size() + payload, std::byte{0x3c});
  encode(header, ulpdu.data());
  return ulpdu;
}

Bytes send(std::uint32_t msn, Opcode opcode, LeaseKind invalidate, std::size_t size,
           std::uint32_t mo = 0, bool last = true) {
  DdpHeader header;
  header.last = last;
  header.rdmap_control = rdmap_control(opcode);
  header.ulp_word = static_cast<std::uint32_t>(invalidate);
  header.msn = msn;
  header.mo = mo;
  return segment(header, size);
}

Bytes tagged(Opcode opcode, LeaseKind lease, std::uint64_t offset, std::size_t size, bool last) {
  DdpHeader header;
  header.tagged = true;
  header.last = last;
  header.rdmap_control = rdmap_control(opcode);
  header.stag = static_cast<std::uint32_t>(lease);
  header.to = offset;
  return segment(header, size);
}

Bytes read_request(std::uint32_t msn, LeaseKind source, std::uint64_t offset, std::uint32_t size) {
  DdpHeader header;
  header.last = true;
  header.rdmap_control = rdmap_control(Opcode::read_request);
  header.qn = kReadRequestQueueNumber;
  header.msn = msn;
  Bytes ulpdu = segment(header, kReadRequestHeader);
  encode(ReadRequest{0x55, 0x2000, size, static_cast<std::uint32_t>(source), offset},
         ulpdu.data() + kUntaggedHeader);
  return ulpdu;
}

Bytes terminate_message() {
  DdpHeader header;
  header.last = true;
  header.rdmap_control = rdmap_control(Opcode::terminate);
  header.qn = kTerminateQueueNumber;
  header.msn = 1;
  const TerminatePayload payload = encode_terminate(terminate::kDdpBounds, std::nullopt);
  Bytes ulpdu = segment(header, payload.length);
  std::copy_n(payload.bytes.begin(), payload.length, ulpdu.begin() + kUntaggedHeader);
  return ulpdu;
}

using Dialogue = std::vector<Bytes>;

/// A READ (Write chunk), a WRITE (Read chunk), a message in two segments, and each wrong access.
std::vector<Dialogue> dialogues() {
  constexpr auto none = LeaseKind::none;
  const Bytes hello = send(1, Opcode::send, none, 40);
  std::vector<Dialogue> all = {
      {hello, tagged(Opcode::rdma_write, LeaseKind::writable, 0, 1024, false),
       tagged(Opcode::rdma_write, LeaseKind::writable, 1024, 1024, true),
       send(2, Opcode::send_invalidate, LeaseKind::writable, 52)},
      {hello, read_request(1, LeaseKind::readable, 0, 2048), send(2, Opcode::send, none, 52)},
      {send(1, Opcode::send_solicited, none, 100, 0, false),
       send(1, Opcode::send_solicited, none, 100, 100, true), send(2, Opcode::send, none, 0)},
      {hello, read_request(1, LeaseKind::readable, 1, 10),
       read_request(2, LeaseKind::readable, 2047, 1), read_request(3, LeaseKind::readable, 0, 0),
       send(2, Opcode::send_solicited_invalidate, LeaseKind::readable, 20)},
      {hello, terminate_message()},
      {hello, tagged(Opcode::read_response, none, 0, 64, true)},
  };
  for (auto lease : {LeaseKind::readable, LeaseKind::invalidated, LeaseKind::prepared}) {
    all.push_back({hello, tagged(Opcode::rdma_write, lease, 0, 16, true)});
    all.push_back({hello, send(2, Opcode::send_invalidate, lease, 4)});
  }
  for (auto lease : {LeaseKind::writable, LeaseKind::invalidated, LeaseKind::prepared}) {
    all.push_back({hello, read_request(1, lease, 0, 16)});
  }
  return all;
}

Bytes with_length(const Bytes& ulpdu) {
  Bytes out(sizeof(std::uint16_t));
  put16(out.data(), static_cast<std::uint16_t>(ulpdu.size()));
  append(out, ulpdu);
  return out;
}

void store(const std::filesystem::path& folder, int number, const Bytes& bytes) {
  std::filesystem::create_directories(folder);
  std::ofstream file(folder / std::to_string(number), std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

void make_segments(const std::filesystem::path& root) {
  int number = 0;
  for (const Dialogue& dialogue : dialogues()) {
    Bytes ddp;
    Bytes rdmap;
    Bytes stream = {std::byte{2}, std::byte{0}};
    std::uint8_t choice = 40;  // does nothing, and cuts within the payload
    for (const Bytes& ulpdu : dialogue) {
      append(ddp, with_length(ulpdu));
      rdmap.push_back(std::byte{choice++});
      append(rdmap, with_length(ulpdu));
      append(stream, make_fpdu(ulpdu));
    }
    store(root / "ddp", number, ddp);
    store(root / "rdmap", number, rdmap);
    store(root / "mpa", number, stream);
    ++number;
  }
}

void make_startups(const std::filesystem::path& root) {
  constexpr int first_number = 100;
  const Terms terms{16, 16, true, Bytes(36, std::byte{0xf6})};
  int number = first_number;
  for (std::uint8_t revision : {kMpaRevision1, kMpaRevision2}) {
    const StartupFrame request = make_request(terms, revision);
    Bytes asked = {std::byte{0}, std::byte{7}};
    append(asked, encode(request));
    store(root / "mpa", number++, asked);
    Bytes answered = {std::byte{1}, std::byte{0}};
    append(answered, encode(answer_request(request, terms).reply));
    store(root / "mpa", number++, answered);
    Bytes rejected = {std::byte{1}, std::byte{1}};
    append(rejected, encode(make_rejection(request, {})));
    store(root / "mpa", number++, rejected);
  }
}

}  // namespace
}  // namespace nfsrdma::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: fuzz_make_iwarp_corpus FOLDER\n", stderr);
    return 2;
  }
  nfsrdma::fuzz::make_segments(argv[1]);
  nfsrdma::fuzz::make_startups(argv[1]);
  return 0;
}
