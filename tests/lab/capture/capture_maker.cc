#include "tests/lab/capture/capture_maker.h"

#include <pcap/dlt.h>

#include <algorithm>
#include <array>

#include "transport/fabric/iwarp/crc32c.h"
#include "transport/fabric/iwarp/fpdu_batch.h"
#include "transport/fabric/iwarp/terminate.h"
#include "transport/rdma/private_data.h"

namespace nfsrdma::lab::test {
namespace {

constexpr std::uint32_t kMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kNanosecondMagic = 0xa1b23c4d;
constexpr std::uint32_t kSnapLength = 262144;
constexpr std::uint32_t kSecond = 1700000000;
constexpr std::uint32_t kProgram = 100003;
constexpr std::size_t kMarkerDistance = 512;

/// The header of a link that carries IPv4.
Bytes link_header(const FileForm& form) {
  Bytes header;
  switch (form.link_type) {
    case DLT_EN10MB:
      header.resize(12);
      if (form.vlan) append_words(header, {0x81000007});
      break;
    case DLT_LINUX_SLL: header.resize(14); break;
    case DLT_LINUX_SLL2:
      append_words(header, {0x08000000});
      header.resize(20);
      return header;
    case DLT_NULL: append_words(header, {2}); return header;
    default: return header;
  }
  header.push_back(std::byte{0x08});
  header.push_back(std::byte{0x00});
  return header;
}

capture::End end_of(std::uint8_t host, std::uint16_t port) {
  capture::End end;
  const std::array<std::uint8_t, 4> address = {192, 0, 2, host};
  std::transform(address.begin(), address.end(), end.address.begin(),
                 [](std::uint8_t byte) { return std::byte{byte}; });
  end.port = port;
  return end;
}

Bytes with_markers(const Bytes& fpdu, std::uint64_t position) {
  Bytes out;
  for (const std::byte byte : fpdu) {
    if ((position + out.size()) % kMarkerDistance == 0) out.resize(out.size() + 4);
    out.push_back(byte);
  }
  return out;
}

}  // namespace

void append(Bytes& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_words(Bytes& to, std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(std::byte(word >> shift));
  }
}

CaptureMaker::CaptureMaker(FileForm form) : form_(form) {
  number(form.nanoseconds ? kNanosecondMagic : kMicroseconds, 4);
  number(2, 2);
  number(4, 2);
  number(0, 4);
  number(0, 4);
  number(kSnapLength, 4);
  number(static_cast<std::uint32_t>(form.link_type), 4);
}

void CaptureMaker::number(std::uint32_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t place = form_.other_byte_order ? width - 1 - i : i;
    bytes_.push_back(std::byte(value >> (8 * place)));
  }
}

void CaptureMaker::add(std::span<const std::byte> packet) {
  const Bytes link = link_header(form_);
  const auto length = static_cast<std::uint32_t>(link.size() + packet.size());
  ++frames_;
  number(kSecond, 4);
  number(form_.nanoseconds ? frames_ * 1000 : frames_, 4);
  number(length, 4);
  number(length, 4);
  append(bytes_, link);
  append(bytes_, packet);
}

TcpMaker::TcpMaker(CaptureMaker& file, std::uint16_t client_port)
    : file_(file), ends_{end_of(1, client_port), end_of(2, 20049)} {
  segment(Side::client, capture::kSyn, {}, false);
  segment(Side::server, capture::kSyn | capture::kAck, {}, false);
}

void TcpMaker::segment(Side from, std::uint8_t flags, std::span<const std::byte> bytes, bool lost) {
  const std::size_t sender = index_of(from);
  const std::size_t receiver = index_of(other(from));
  const std::span<const std::byte> parts[] = {bytes};
  const auto headers = capture::make_headers(ends_[sender], ends_[receiver],
                                             {next_[sender], next_[receiver], flags}, parts);
  next_[sender] += static_cast<std::uint32_t>(bytes.size());
  if ((flags & (capture::kSyn | capture::kFin)) != 0) ++next_[sender];
  if (lost) return;
  Bytes packet(headers.bytes().begin(), headers.bytes().end());
  append(packet, bytes);
  file_.add(packet);
}

void TcpMaker::send(Side from, std::span<const std::byte> bytes) {
  segment(from, capture::kAck, bytes, false);
}

void TcpMaker::lose(Side from, std::span<const std::byte> bytes) {
  segment(from, capture::kAck, bytes, true);
}

void TcpMaker::close() {
  segment(Side::client, capture::kFin | capture::kAck, {}, false);
  segment(Side::server, capture::kFin | capture::kAck, {}, false);
  segment(Side::client, capture::kAck, {}, false);
}

IwarpMaker::IwarpMaker(CaptureMaker& file, const Terms& terms) : tcp(file), terms_(terms) {
  const auto private_data = [](bool invalidation) {
    const auto data = rdma::encode_private_data(
        {.remote_invalidation = invalidation, .send_size = 4096, .receive_size = 4096});
    return Bytes(data.begin(), data.end());
  };
  iwarp::StartupFrame frame;
  frame.revision = 1;
  frame.crc = terms.crc;
  frame.markers = terms.markers;
  frame.private_data = private_data(terms.client_invalidation);
  tcp.send(Side::client, iwarp::encode(frame));
  frame.kind = iwarp::StartupFrame::Kind::reply;
  frame.private_data = private_data(terms.server_invalidation);
  tcp.send(Side::server, iwarp::encode(frame));
}

void IwarpMaker::segment(Side from, const iwarp::DdpHeader& header,
                         std::span<const std::byte> payload) {
  const std::size_t length = header.size() + payload.size();
  Bytes fpdu = {std::byte(length >> 8), std::byte(length)};
  fpdu.resize(fpdu.size() + header.size());
  iwarp::encode(header, fpdu.data() + iwarp::kUlpduLengthField);
  append(fpdu, payload);
  fpdu.resize(fpdu.size() + iwarp::fpdu_pad(length));
  std::uint64_t& position = position_[index_of(from)];
  const Bytes covered = terms_.markers ? with_markers(fpdu, position) : fpdu;
  iwarp::Crc32c crc;
  crc.add(covered);
  const std::uint32_t value = crc.value() ^ (wrong_crc ? 1 : 0);
  for (int shift = 0; shift < 32; shift += 8) fpdu.push_back(std::byte(value >> shift));
  const Bytes sent = terms_.markers ? with_markers(fpdu, position) : fpdu;
  position += sent.size();
  lost ? tcp.lose(from, sent) : tcp.send(from, sent);
  wrong_crc = lost = false;
}

void IwarpMaker::send(Side from, std::span<const std::byte> message,
                      std::optional<std::uint32_t> invalidated) {
  iwarp::DdpHeader header;
  header.last = true;
  header.rdmap_control =
      iwarp::rdmap_control(invalidated ? iwarp::Opcode::send_invalidate : iwarp::Opcode::send);
  header.ulp_word = invalidated.value_or(0);
  header.msn = msn[index_of(from)][0]++;
  segment(from, header, message);
}

void IwarpMaker::write(Side from, Place to, std::span<const std::byte> data) {
  iwarp::DdpHeader header;
  header.tagged = header.last = true;
  header.rdmap_control = iwarp::rdmap_control(iwarp::Opcode::rdma_write);
  header.stag = to.handle;
  header.to = to.offset;
  segment(from, header, data);
}

void IwarpMaker::read_request(Side from, const iwarp::ReadRequest& request) {
  iwarp::DdpHeader header;
  header.last = true;
  header.rdmap_control = iwarp::rdmap_control(iwarp::Opcode::read_request);
  header.qn = iwarp::kReadRequestQueueNumber;
  header.msn = msn[index_of(from)][1]++;
  Bytes payload(iwarp::kReadRequestHeader);
  iwarp::encode(request, payload.data());
  segment(from, header, payload);
}

void IwarpMaker::read_response(Side from, Place to, std::span<const std::byte> data) {
  iwarp::DdpHeader header;
  header.tagged = header.last = true;
  header.rdmap_control = iwarp::rdmap_control(iwarp::Opcode::read_response);
  header.stag = to.handle;
  header.to = to.offset;
  segment(from, header, data);
}

void IwarpMaker::terminate(Side from) {
  iwarp::DdpHeader header;
  header.last = true;
  header.rdmap_control = iwarp::rdmap_control(iwarp::Opcode::terminate);
  header.qn = iwarp::kTerminateQueueNumber;
  header.msn = msn[index_of(from)][2]++;
  const auto payload = iwarp::encode_terminate(iwarp::terminate::kRdmapBounds, {});
  segment(from, header, std::span(payload.bytes).first(payload.length));
}

Bytes rpc_message(std::uint32_t xid, const rdma::ChunkLists& chunks, std::uint32_t credits) {
  Bytes message(4096);
  xdr::Encoder out(message);
  rdma::Header header;
  header.rdma_xid = xid;
  header.rdma_credit = credits;
  header.chunks = chunks;
  rdma::encode_header(out, header);
  message.resize(out.size());
  return message;
}

Bytes null_call(std::uint32_t xid, const rdma::ChunkLists& chunks, std::uint32_t credits) {
  Bytes message = rpc_message(xid, chunks, credits);
  append_words(message, {xid, 0, 2, kProgram, 4, 0, 0, 0, 0, 0});
  return message;
}

Bytes null_reply(std::uint32_t xid, const rdma::ChunkLists& chunks, std::uint32_t credits) {
  Bytes message = rpc_message(xid, chunks, credits);
  append_words(message, {xid, 1, 0, 0, 0, 0});
  return message;
}

rdma::ChunkLists write_chunk(std::uint32_t handle, std::uint32_t length, std::uint64_t offset) {
  rdma::ChunkLists chunks;
  chunks.add_write()->add({handle, length, offset});
  return chunks;
}

rdma::ChunkLists read_chunk(std::uint32_t position, std::uint32_t handle, std::uint32_t length) {
  rdma::ChunkLists chunks;
  chunks.add_read(position, {handle, length, 0});
  return chunks;
}

}  // namespace nfsrdma::lab::test
