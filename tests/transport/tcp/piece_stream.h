// A ByteStream for tests that gives bytes in pieces of a chosen size, and notes what was asked.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <span>

#include "tests/support/total_length.h"
#include "tests/transport/tcp/wire.h"
#include "transport/net/byte_stream.h"

namespace nfsrdma::test {

class PieceStream final : public net::ByteStream {
 public:
  /// `piece` gives the most bytes of the next read; 0: the socket is dry for once.
  PieceStream(Bytes bytes, std::function<std::size_t()> piece)
      : bytes_(std::move(bytes)), piece_(std::move(piece)) {}

  ssize_t read(std::span<iovec> into) override {
    if (at_ == bytes_.size()) return 0;
    std::size_t now = std::min({piece_(), testing::total_length(into), bytes_.size() - at_});
    if (now == 0) return -EAGAIN;
    const auto got = static_cast<ssize_t>(now);
    for (const iovec& part : into) {
      const std::size_t step = std::min(now, part.iov_len);
      std::copy_n(&bytes_[at_], step, static_cast<std::byte*>(part.iov_base));
      at_ += step;
      now -= step;
      if (now == 0) break;
    }
    return got;
  }
  ssize_t write(std::span<iovec>) override { return -EPIPE; }
  void finish_writing() override {}

 private:
  const Bytes bytes_;
  std::function<std::size_t()> piece_;
  std::size_t at_ = 0;
};

}  // namespace nfsrdma::test
