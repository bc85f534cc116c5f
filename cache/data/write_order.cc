#include "cache/data/write_order.h"

#include <algorithm>

namespace nfsrdma::cache {

WriteOrder::Turn::Turn(WriteOrder& order, Kind kind, std::uint64_t offset, std::size_t length,
                       Place place)
    : order_(order),
      offset_(offset),
      end_(offset + length),
      wait_(order.waiting_),
      kind_(kind),
      place_(place) {
  order_.turns_.push_back(*this);
  if (answered(kind)) ++order_.gathered_;
  if (kind == Kind::gathered) ++order_.unstable_;
  if (kind == Kind::direct) ++order_.direct_;
}

WriteOrder::Turn::~Turn() {
  unlink();
  if (answered(kind_)) --order_.gathered_;
  if (kind_ == Kind::gathered) --order_.unstable_;
  if (kind_ == Kind::direct) --order_.direct_;
  if (!order_.waiting_.empty()) order_.let_in();
}

std::uint64_t WriteOrder::gathered_end() {
  std::uint64_t end = 0;
  turns_.for_each([&](const Turn& turn) {
    if (answered(turn.kind_)) end = std::max(end, turn.end_);
  });
  return end;
}

bool WriteOrder::blocked(const Turn& turn) {
  bool earlier = true;
  bool follows = false;
  std::size_t gathered = 0;
  turns_.for_each([&](const Turn& other) {
    earlier = earlier && &other != &turn;
    if (!earlier || !writes(other)) return;
    if (answered(other.kind_)) ++gathered;
    follows |=
        turn.place_ == Place::at_end || (other.offset_ < turn.end_ && turn.offset_ < other.end_);
  });
  return turn.kind_ == Kind::look ? gathered > turn.most_ : follows;
}

void WriteOrder::let_in() {
  turns_.for_each([this](Turn& turn) {
    if (turn.wait_.linked() && !blocked(turn)) turn.wait_.wake();
  });
}

}  // namespace nfsrdma::cache
