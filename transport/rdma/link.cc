#include "transport/rdma/link.h"

#include <algorithm>
#include <cassert>

namespace nfsrdma::rdma {

bool Link::cover(std::size_t forward) {
  const std::size_t backward = options_.backward_credits + spare_receives(options_);
  const std::size_t kept_back = backward - std::min(backward, backward_held_);
  while (posted_ < forward + backward) {
    if (posted_ >= backward && receives_.available() <= kept_back) return false;
    if (!post_receive()) return false;
  }
  return true;
}

bool Link::post_receive() {
  Message* message = receives_.take();
  if (!message) return false;
  const std::size_t largest = largest_receive(options_);
  message->lend(this, receive_size_ == 0 ? largest : std::min(receive_size_, largest));
  ++posted_;
  auto posted = endpoint_->post_receive(*message);
  if (!posted) end(std::move(posted.error()));
  return posted.has_value();
}

Message& Link::take_message(fabric::ReceiveBuffer& buffer) {
  auto& message = static_cast<Message&>(buffer);
  message.hold();
  assert(posted_ > 0);
  --posted_;
  counters_.receives.add();
  if (small_posted_ > 0 && message.memory.size() < receive_size_ && --small_posted_ == 0) {
    raised_later_.schedule();
  }
  return message;
}

bool Link::raise_receive_size(std::size_t size) {
  if (size > receive_size_) {
    receive_size_ = size;
    small_posted_ = posted_;
  }
  return small_posted_ == 0;
}

void Link::post(const fabric::SendWork& work, rdma_proc kind) {
  counters_.posts.add();
  counters_.messages.sent[kind].add();
  auto posted = endpoint_->post_send(work);
  if (!posted) end(std::move(posted.error()));
}

void Link::end(Error reason) {
  if (ending()) return;
  note_ending(reason);
  endpoint_->disconnect(std::move(reason));
}

void Link::down(const Error& reason) {
  if (!ending()) note_ending(reason);
  receives_.reclaim(this);
  posted_ = small_posted_ = 0;
  raised_later_.cancel();
}

void Link::note_ending(const Error& reason) {
  reason_ = reason;
  observer_.on_link_ending(*reason_);
}

}  // namespace nfsrdma::rdma
