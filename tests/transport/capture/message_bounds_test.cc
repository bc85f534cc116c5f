// Where messages end, however a stream is cut.
#include "transport/capture/message_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace nfsrdma::capture {
namespace {

using Bytes = std::vector<std::byte>;

/// The ends that are found when the stream comes in pieces of `step` bytes.
std::vector<std::size_t> ends_of(Carried carried, const Bytes& stream, std::size_t step) {
  MessageBounds bounds(carried);
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < stream.size();) {
    auto piece = std::span(stream).subspan(at, std::min(step, stream.size() - at));
    while (!piece.empty()) {
      const std::size_t taken = bounds.take(piece);
      at += taken;
      piece = piece.subspan(taken);
      if (bounds.between()) ends.push_back(at);
    }
  }
  return ends;
}

void append(Bytes& to, std::initializer_list<int> bytes) {
  for (const int each : bytes) to.push_back(static_cast<std::byte>(each));
}

TEST(MessageBounds, Records) {
  Bytes stream;
  append(stream, {0x80, 0, 0, 3, 1, 2, 3});              // one fragment
  append(stream, {0, 0, 0, 2, 1, 2, 0x80, 0, 0, 1, 3});  // two of one record
  append(stream, {0x80, 0, 0, 0});                       // an empty one
  append(stream, {0x80, 0, 0, 9, 1});                    // the begin of one
  for (std::size_t step : {1u, 2u, 3u, 5u, 64u}) {
    EXPECT_EQ(ends_of(Carried::records, stream, step), (std::vector<std::size_t>{7, 18, 22}))
        << step;
  }
}

TEST(MessageBounds, AStartupFrameThenFpdus) {
  Bytes stream(18, std::byte{'M'});
  append(stream, {0, 2, 7, 7});  // private data
  append(stream, {0, 5, 1, 2, 3, 4, 5, 0, 9, 9, 9, 9});
  append(stream, {0, 2, 1, 2, 9, 9, 9, 9});
  for (std::size_t step : {1u, 3u, 21u, 64u}) {
    EXPECT_EQ(ends_of(Carried::mpa, stream, step), (std::vector<std::size_t>{22, 34, 42})) << step;
  }
  MessageBounds bounds(Carried::mpa);
  bounds.take(stream);
  EXPECT_EQ(bounds.startup().size(), 22u);
}

TEST(MessageBounds, WholeMessages) {
  EXPECT_EQ(ends_of(Carried::messages, Bytes(10), 10), (std::vector<std::size_t>{10}));
}

}  // namespace
}  // namespace nfsrdma::capture
