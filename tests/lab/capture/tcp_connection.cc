#include "tests/lab/capture/tcp_connection.h"

#include <utility>

namespace nfsrdma::lab {
namespace {

/// What is kept of a stream until it is known what it carries.
constexpr std::size_t kMostEarly = 256;

}  // namespace

TcpConnection::TcpConnection(WireObserverFactory& factory, std::size_t& connections,
                             const ConnectionInfo& info)
    : factory_(factory), connections_(connections), info_(info) {}

void TcpConnection::add(const IpPacket& packet) {
  if (finished_) return;
  const Side from = packet.from == info_.client ? Side::client : Side::server;
  if (packet.tcp->syn && from == Side::client) first_sequence_ = packet.tcp->sequence;
  streams_.add(from, packet);
  fin_[index_of(from)] |= packet.tcp->fin;
  if (packet.tcp->reset || (fin_[0] && fin_[1] && packet.payload.empty() && !packet.tcp->fin)) {
    finish(packet.at);
  }
}

void TcpConnection::finish(Moment at) {
  if (std::exchange(finished_, true)) return;
  streams_.finish(at);
  if (observer_) observer_->on_closed(at);
}

void TcpConnection::look_at(std::span<const std::byte> bytes, bool behind_gap, Moment at) {
  if (begins_like_mpa(bytes)) return decide(LowerLayer::iwarp, at);
  if (begins_like_record(bytes)) return decide(LowerLayer::tcp, at);
  if (behind_gap && begins_like_fpdu(bytes)) return decide(LowerLayer::iwarp, at);
}

void TcpConnection::decide(LowerLayer layer, Moment at) {
  info_.lower_layer = layer;
  info_.number = ++connections_;
  observer_ = factory_.on_connection(info_);
  const auto parser = [&](Side side) -> std::unique_ptr<ByteConsumer> {
    if (layer == LowerLayer::tcp) return std::make_unique<RecordStream>(side, *observer_);
    return std::make_unique<IwarpStream>(terms_, side, *observer_);
  };
  client_.decide(parser(Side::client), at);
  server_.decide(parser(Side::server), at);
}

void TcpConnection::Direction::on_bytes(std::span<const std::byte> bytes, Moment at) {
  if (parser_) return parser_->on_bytes(bytes, at);
  if (gap_) early_.clear();  // there, messages are looked for where segments begin
  if (early_.size() + bytes.size() <= kMostEarly || early_.empty()) {
    early_.insert(early_.end(), bytes.begin(), bytes.end());
    owner_.look_at(early_, gap_, at);
  }
}

void TcpConnection::Direction::on_gap(std::uint64_t bytes, Moment at) {
  if (parser_) return parser_->on_gap(bytes, at);
  gap_ = true;
}

void TcpConnection::Direction::decide(std::unique_ptr<ByteConsumer> parser, Moment at) {
  parser_ = std::move(parser);
  if (gap_) parser_->on_gap(0, at);
  const std::vector<std::byte> early = std::exchange(early_, {});
  if (!early.empty()) parser_->on_bytes(early, at);
}

}  // namespace nfsrdma::lab
