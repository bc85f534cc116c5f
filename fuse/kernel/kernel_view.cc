#include "fuse/kernel/kernel_view.h"

#include <algorithm>
#include <utility>

#include "fuse/kernel/inode.h"

namespace nfsrdma::fuse {

std::shared_ptr<OpenView> KernelView::opened(Reactor& reactor) {
  std::shared_ptr<OpenView> view = open_.lock();
  if (!view) open_ = view = std::make_shared<OpenView>(reactor);
  return view;
}

void KernelView::advertised_size(std::uint64_t size) {
  if (!std::exchange(size_advertised_, true)) {
    size_ = least_size_ = size;
  } else if (size_ && *size_ != size) {
    size_.reset();
  }
  longest_ = std::max(longest_, size);
  least_size_ = std::min(least_size_, size);
}

void KernelView::wrote(std::uint64_t end, bool alone) {
  if (size_ && end > *size_) size_ = end;
  longest_ = std::max(longest_, end);
  if (alone) least_size_ = std::max(least_size_, end);
}

void KernelView::follow_pages(std::uint64_t before, std::uint64_t after) {
  if (!pages_known_) return;
  if (const auto view = open()) {
    pages_change_ = view->own_changes.follow(pages_change_, before, after);
  } else if (pages_change_ == before) {
    pages_change_ = after;
  }
}

void KernelView::pages_cached(PageRange bytes) {
  pages_end_ = std::max(pages_end_, bytes.end);
  pages_end_since_drop_ = std::max(pages_end_since_drop_, bytes.end);
  pages_.add(bytes);
}

void KernelView::drop_begins() {
  asks_again();
  if (drops_++ > 0) return;
  pages_end_since_drop_ = 0;
  pages_.drops_begin();
  if (const auto view = open()) view->after_drop.drops_begin();
}

void KernelView::drop_ends(PageRange dropped) {
  --drops_;
  pages_.dropped(dropped);
  const auto view = open();
  if (view && dropped == PageRange::all()) view->after_drop.dropped_all();
  if (drops_ > 0 || dropped.end != PageRange::all().end) return;
  pages_end_ = std::max(std::min(pages_end_, dropped.begin), pages_end_since_drop_);
}

}  // namespace nfsrdma::fuse
