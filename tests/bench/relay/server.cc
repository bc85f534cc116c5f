#include "tests/bench/relay/server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <vector>

#include "tests/bench/loopback.h"
#include "tests/bench/relay/orders.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::bench::relay {
namespace {

/// The data of this WRITE do not come with it.
bool is_fetched(const Ask& ask, std::span<const std::byte> payload) {
  return ask.order == Order::write && payload.empty();
}

/// One connection. Blocks in receiving and sending.
class Connection {
 public:
  Connection(int socket, int folder, bool in_segments, bool as_nfs)
      : socket_(socket),
        in_segments_(in_segments),
        in_(2 * kPiece),
        out_(socket, in_segments),
        orders_(folder, out_, as_nfs) {}

  /// Takes all that has arrived, does it, and sends all answers. False: the connection is over.
  bool turn();

 private:
  /// An order that waits for data, or behind one that does.
  struct Waiting {
    Ask ask;
    std::vector<std::byte> payload;
    bool wants_data() const { return is_fetched(ask, payload); }
  };

  std::size_t step(std::span<const std::byte> input);
  std::size_t take_segment(std::span<const std::byte> input);
  void take_message(std::span<const std::byte> message);
  void take_fetched(std::span<const std::byte> data);

  const int socket_;
  const bool in_segments_;
  std::vector<std::byte> in_;
  std::size_t begin_ = 0;  ///< of what has arrived and is not done with
  std::size_t end_ = 0;
  Output out_;
  bool ok_ = true;
  Orders orders_;
  std::deque<Waiting> waiting_;
};

bool Connection::turn() {
  if (begin_ == end_ || in_.size() - end_ < kFraming + kMostInSegment) {
    std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const ssize_t got = ::recv(socket_, in_.data() + end_, std::min(in_.size() - end_, kPiece), 0);
  if (got <= 0) return false;
  end_ += static_cast<std::size_t>(got);
  while (begin_ < end_ && ok_) {
    const std::span<const std::byte> rest(in_.data() + begin_, end_ - begin_);
    const std::size_t taken = in_segments_ ? take_segment(rest) : step(rest);
    if (taken == 0) break;
    begin_ += taken;
  }
  return out_.flush() && ok_ && orders_.ok();
}

/// Returns how many bytes have been done with; 0: more must arrive first.
std::size_t Connection::step(std::span<const std::byte> input) {
  if (orders_.wants_data()) return orders_.take_data(input);
  Ask ask;
  if (input.size() < sizeof ask) return 0;
  std::memcpy(&ask, input.data(), sizeof ask);
  if (ask.order == Order::write) {
    orders_.begin_write(ask, ask.payload_size);
    return sizeof ask;
  }
  ok_ = ask.payload_size <= kMostPath && ask.size <= kMostData;
  if (!ok_ || input.size() < sizeof ask + ask.payload_size) return 0;
  orders_.obey(ask, input.subspan(sizeof ask, ask.payload_size));
  return sizeof ask + ask.payload_size;
}

/// As step().
std::size_t Connection::take_segment(std::span<const std::byte> input) {
  SegmentHeader header;
  if (input.size() < sizeof header) return 0;
  std::memcpy(&header, input.data(), sizeof header);
  ok_ = header.size <= kMostInSegment;
  if (!ok_ || input.size() < kFraming + header.size) return 0;
  const auto payload = input.subspan(sizeof header, header.size);
  Crc crc;
  std::memcpy(&crc, payload.data() + payload.size(), sizeof crc);
  ok_ = crc == crc_of(header, payload);
  if (!ok_) return 0;
  if (header.kind == SegmentHeader::Kind::data) {
    take_fetched(payload);
  } else {
    take_message(payload);
  }
  return kFraming + header.size;
}

void Connection::take_message(std::span<const std::byte> message) {
  Ask ask;
  ok_ = message.size() >= sizeof ask;
  if (!ok_) return;
  std::memcpy(&ask, message.data(), sizeof ask);
  const auto payload = message.subspan(sizeof ask);
  ok_ = payload.size() == ask.payload_size && ask.size <= kMostData;
  if (!ok_) return;
  const bool fetches = is_fetched(ask, payload);
  if (fetches) out_.put({.error = kFetch});
  if (fetches || !waiting_.empty()) {
    waiting_.push_back({ask, {payload.begin(), payload.end()}});
  } else {
    orders_.obey(ask, payload);
  }
}

/// The next data belong to the first order that waits for some.
void Connection::take_fetched(std::span<const std::byte> data) {
  ok_ = !waiting_.empty() && !data.empty();
  if (!ok_) return;
  if (!orders_.wants_data()) orders_.begin_write(waiting_.front().ask, waiting_.front().ask.size);
  orders_.take_data(data);
  if (orders_.wants_data()) return;
  waiting_.pop_front();
  for (; !waiting_.empty() && !waiting_.front().wants_data(); waiting_.pop_front()) {
    orders_.obey(waiting_.front().ask, waiting_.front().payload);
  }
}

}  // namespace

int serve(const char* folder, bool in_segments, bool as_nfs) {
  const UniqueFd served(::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!served) return std::perror(folder), 1;
  const UniqueFd listener(listen_on(0));
  while (listener) {
    const UniqueFd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) break;
    send_at_once(socket.get());
    Connection connection(socket.get(), served.get(), in_segments, as_nfs);
    while (connection.turn()) {
    }
  }
  return std::perror("bench-relay: accept"), 1;
}

}  // namespace nfsrdma::bench::relay
