#include "tests/lab/capture/record_stream.h"

#include "tests/lab/capture/byte_view.h"
#include "transport/rpc/message.h"
#include "transport/tcp/record_mark.h"

namespace nfsrdma::lab {
namespace {

constexpr std::size_t kLeastMessage = 24;
constexpr std::size_t kMarkedTypeAt = tcp::RecordMark::kSize + 4;
constexpr std::size_t kMarkedVersionAt = kMarkedTypeAt + 4;
constexpr std::size_t kProgramAt = kMarkedVersionAt + 4;
constexpr std::uint32_t kLeastProgram = 100000;

tcp::RecordMark mark_at(std::span<const std::byte> bytes) {
  return tcp::decode_mark(bytes.first<tcp::RecordMark::kSize>());
}

}  // namespace

bool begins_like_record(std::span<const std::byte> bytes) {
  const ByteView view(bytes);
  if (!view.has(tcp::RecordMark::kSize + kLeastMessage)) return false;
  const auto mark = mark_at(bytes);
  if (mark.length < kLeastMessage || mark.length > RecordStream::kMostRecord) return false;
  const std::uint32_t type = view.u32(kMarkedTypeAt);
  const std::uint32_t next = view.u32(kMarkedVersionAt);
  if (type == static_cast<std::uint32_t>(rpc::MessageType::reply)) return next <= 1;
  return type == static_cast<std::uint32_t>(rpc::MessageType::call) && next == rpc::kRpcVersion &&
         view.u32(kProgramAt) >= kLeastProgram;
}

void RecordStream::on_bytes(std::span<const std::byte> bytes, Moment at) {
  if (nonsense_ || (lost_ && !begins_like_record(bytes))) return;
  lost_ = false;
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  while (take_fragment(at)) {
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(begin_));
  begin_ = 0;
}

bool RecordStream::take_fragment(Moment at) {
  const auto rest = std::span<const std::byte>(pending_).subspan(begin_);
  if (nonsense_ || rest.size() < tcp::RecordMark::kSize) return false;
  const auto mark = mark_at(rest);
  if (record_.size() + mark.length > kMostRecord) {
    nonsense_ = true;
    observer_.on_nonsense({at, side_}, "a record longer than any of NFS");
    return false;
  }
  if (rest.size() < tcp::RecordMark::kSize + mark.length) return false;
  const auto body = rest.subspan(tcp::RecordMark::kSize, mark.length);
  record_.insert(record_.end(), body.begin(), body.end());
  begin_ += tcp::RecordMark::kSize + mark.length;
  if (!mark.last) return true;
  observer_.on_record({at, side_}, record_);
  record_.clear();
  return true;
}

void RecordStream::on_gap(std::uint64_t, Moment at) {
  observer_.on_gap({at, side_});
  lost_ = true;
  pending_.clear();
  record_.clear();
}

}  // namespace nfsrdma::lab
