#include "tests/bench/relay/relay.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nfsrdma::bench::relay {
namespace {

/// How long the kernel may believe names and attributes: only this program changes them.
constexpr std::uint64_t kForever = 3600;
constexpr std::uint32_t kMostHeld = 65536;  ///< bytes of a WRITE
/// What Linux 6.6 and later need for direct WRITEs side by side.
constexpr std::uint32_t kDirect = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;

template <class Structure>
Structure structure_of(const Request& request) {
  Structure structure{};
  std::memcpy(&structure, request.structure.data(),
              std::min(sizeof structure, request.structure.size()));
  return structure;
}

std::string_view name_of(const Request& request) {
  const auto* text = reinterpret_cast<const char*>(request.rest.data());
  return {text, ::strnlen(text, request.rest.size())};
}

fuse_attr attributes_of(const Passage& passage) {
  fuse_attr attributes;
  std::memcpy(&attributes, passage.small.data(), sizeof attributes);
  return attributes;
}

fuse_attr_out attr_out(const fuse_attr& attributes) {
  return {.attr_valid = kForever, .attr_valid_nsec = 0, .dummy = 0, .attr = attributes};
}

fuse_write_out write_out(std::uint32_t size) { return {.size = size, .padding = 0}; }

struct CreateOut {
  fuse_entry_out entry{};
  fuse_open_out open{};
};

}  // namespace

std::size_t structure_size(std::uint32_t opcode) {
  switch (opcode) {
    case FUSE_LOOKUP:
    case FUSE_UNLINK:
    case FUSE_RMDIR: return 0;
    case FUSE_MKDIR: return sizeof(fuse_mkdir_in);
    case FUSE_CREATE: return sizeof(fuse_create_in);
    case FUSE_WRITE: return sizeof(fuse_write_in);
    default: return SIZE_MAX;
  }
}

Passage& Relay::new_passage(const Request& request) {
  if (free_.empty()) free_.push_back(passages_.emplace_back(std::make_unique<Passage>()).get());
  Passage& passage = *free_.back();
  free_.pop_back();
  passage.unique = request.header.unique;
  passage.node = request.header.nodeid;
  passage.opcode = request.header.opcode;
  passage.asks = true;
  passage.is_behind = passage.answered = false;
  passage.payload = {};
  passage.place = request.place;
  passage.data = request.data;
  return passage;
}

void Relay::finish(Passage& passage) {
  channel_.give_back(passage.place);
  free_.push_back(&passage);
}

void Relay::fail(Passage& passage, int error) {
  channel_.reply(passage, error, {}, 0);
  finish(passage);
}

template <class Structure>
void Relay::succeed(Passage& passage, const Structure& structure) {
  channel_.reply(passage, 0, std::as_bytes(std::span(&structure, 1)), 0);
  finish(passage);
}

void Relay::prepare(Passage& passage, const Ask& what) {
  passage.ask = what;
  passage.ask.payload_size = static_cast<std::uint32_t>(passage.payload.size());
  const std::size_t size = body_size(what);
  const bool reads = what.order == Order::read || what.order == Order::list;
  passage.body = {reads ? passage.data : passage.small.data(), size};
}

void Relay::ask(Passage& passage, const Ask& what) {
  prepare(passage, what);
  link_->push(passage);
}

void Relay::ask_about(Passage& passage, Ask what, std::string path) {
  passage.path = std::move(path);
  passage.payload = std::as_bytes(std::span(passage.path));
  ask(passage, what);
}

void Relay::take(const Request& request) {
  const std::uint32_t opcode = request.header.opcode;
  if (opcode == FUSE_FORGET || opcode == FUSE_BATCH_FORGET || opcode == FUSE_INTERRUPT) {
    return channel_.give_back(request.place);
  }
  begin(new_passage(request), request);
}

void Relay::begin(Passage& passage, const Request& request) {
  const auto path = [&] { return names_.path_of(passage.node, name_of(request)); };
  if (passage.opcode != FUSE_LOOKUP && passage.opcode != FUSE_GETATTR) send_held();
  switch (passage.opcode) {
    case FUSE_LOOKUP: return look_up(passage, path());
    case FUSE_GETATTR: return get_attributes(passage);
    case FUSE_SETATTR: return resize(passage, request);
    case FUSE_MKDIR:
      return ask_about(
          passage, {.order = Order::make_folder, .mode = structure_of<fuse_mkdir_in>(request).mode},
          path());
    case FUSE_UNLINK: return ask_about(passage, {.order = Order::remove}, path());
    case FUSE_RMDIR: return ask_about(passage, {.order = Order::remove_folder}, path());
    case FUSE_CREATE:
      return ask_about(passage,
                       {.order = Order::create, .mode = structure_of<fuse_create_in>(request).mode},
                       path());
    case FUSE_OPEN: return open(passage, request);
    case FUSE_READ: return read(passage, request);
    case FUSE_WRITE: return write(passage, request);
    case FUSE_FLUSH: return flush(passage);
    case FUSE_FSYNC:
      return ask(passage, {.order = Order::sync, .file = structure_of<fuse_fsync_in>(request).fh});
    case FUSE_RELEASE: return close(passage, request);
    case FUSE_OPENDIR: return succeed(passage, fuse_open_out{});
    case FUSE_READDIR: return read(passage, request);
    case FUSE_RELEASEDIR: return fail(passage, 0);
    default: return fail(passage, ENOSYS);
  }
}

void Relay::look_up(Passage& passage, std::string path) {
  if (names_.is_missing(passage.node, path)) return fail(passage, ENOENT);
  ask_about(passage, {.order = Order::look_up}, std::move(path));
}

void Relay::get_attributes(Passage& passage) {
  const Node* const node = names_.find(passage.node);
  if (!node) return fail(passage, ESTALE);
  if (node->known) return succeed(passage, attr_out(node->attributes));
  ask_about(passage, {.order = Order::look_up}, node->path);
}

void Relay::resize(Passage& passage, const Request& request) {
  const auto wanted = structure_of<fuse_setattr_in>(request);
  Node* const node = names_.find(passage.node);
  if (!node) return fail(passage, ESTALE);
  if (!(wanted.valid & FATTR_SIZE)) return fail(passage, EOPNOTSUPP);
  node->has_content = false;
  ask_about(passage, {.order = Order::resize, .offset = wanted.size}, node->path);
}

/// Asks for the content, too, where that is short.
void Relay::open(Passage& passage, const Request& request) {
  const Node* const node = names_.find(passage.node);
  if (!node) return fail(passage, ESTALE);
  const auto flags = structure_of<fuse_open_in>(request).flags;
  const bool is_short = !(flags & O_DIRECT) && node->attributes.size <= kFirstBytes;
  ask_about(passage,
            {.order = Order::open,
             .size = is_short ? static_cast<std::uint32_t>(kFirstBytes) : 0,
             .mode = flags & (O_ACCMODE | O_DIRECT)},
            node->path);
}

void Relay::read(Passage& passage, const Request& request) {
  const auto wanted = structure_of<fuse_read_in>(request);
  const Node* const node = names_.find(passage.node);
  if (!node) return fail(passage, ESTALE);
  const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(wanted.size, kMostData));
  if (passage.opcode == FUSE_READDIR) {
    return ask_about(passage, {.order = Order::list, .offset = wanted.offset, .size = size},
                     node->path);
  }
  if (!node->has_content || (wanted.flags & O_DIRECT)) {
    return ask(passage,
               {.order = Order::read, .file = wanted.fh, .offset = wanted.offset, .size = size});
  }
  const std::size_t begin = std::min<std::size_t>(wanted.offset, node->content.size());
  const std::size_t length = std::min<std::size_t>(node->content.size() - begin, size);
  std::memcpy(passage.data, node->content.data() + begin, length);
  channel_.reply(passage, 0, {}, length);
  finish(passage);
}

void Relay::write(Passage& passage, const Request& request) {
  const auto wanted = structure_of<fuse_write_in>(request);
  Node* const node = names_.find(passage.node);
  if (!node) return fail(passage, ESTALE);
  passage.payload = request.rest;
  node->has_content = false;
  node->attributes.size = std::max(node->attributes.size, wanted.offset + request.rest.size());
  passage.is_behind = !(wanted.flags & (O_DIRECT | O_SYNC | O_DSYNC));
  const auto size = static_cast<std::uint32_t>(request.rest.size());
  prepare(passage,
          {.order = Order::write, .file = wanted.fh, .offset = wanted.offset, .size = size});
  if (as_nfs_ && passage.is_behind && size <= kMostHeld) {
    held_ = &passage;
  } else {
    link_->push(passage);
  }
  if (!passage.is_behind) return;
  ++behind_;
  if (channel_.keeps_data_after_reply()) written(passage);
}

/// Small ones are kept in the hope of more, which would go with them.
void Relay::send_held() {
  if (Passage* const passage = std::exchange(held_, nullptr)) link_->push(*passage);
}

void Relay::close(Passage& passage, const Request& request) {
  const auto order = as_nfs_ ? Order::close_answered : Order::close;
  ask(passage, {.order = order, .file = structure_of<fuse_release_in>(request).fh});
}

void Relay::flush(Passage& passage) {
  if (behind_ == 0) return fail(passage, std::exchange(late_error_, 0));
  passage.asks = false;
  link_->push(passage);
}

void Relay::sent(std::size_t bytes) {
  link_->sent(bytes, [this](Passage& passage) {
    if (passage.ask.order == Order::close) return fail(passage, 0);
    if (passage.ask.order == Order::close_answered) channel_.reply(passage, 0, {}, 0);
    if (passage.is_behind) written(passage);
  });
}

bool Relay::received(std::size_t bytes) {
  return link_->received(bytes, [this](Passage& passage) { completed(passage); });
}

void Relay::completed(Passage& passage) {
  if (passage.opcode == FUSE_FLUSH) return fail(passage, std::exchange(late_error_, 0));
  if (passage.opcode == FUSE_RELEASE) return finish(passage);
  passage.answer.size = std::min(passage.answer.size, passage.ask.size);
  if (passage.is_behind) {
    --behind_;
    if (passage.answer.error != 0) late_error_ = passage.answer.error;
    return finish(passage);
  }
  if (passage.answer.error != 0) return fail(passage, passage.answer.error);
  switch (passage.opcode) {
    case FUSE_LOOKUP:
    case FUSE_MKDIR:
    case FUSE_CREATE: return made(passage);
    case FUSE_OPEN: return opened(passage);
    case FUSE_GETATTR:
    case FUSE_SETATTR:
      if (Node* const node = names_.find(passage.node)) {
        node->attributes = attributes_of(passage);
        node->known = true;
      }
      return succeed(passage, attr_out(attributes_of(passage)));
    case FUSE_READ:
    case FUSE_READDIR: channel_.reply(passage, 0, {}, passage.answer.size); return finish(passage);
    case FUSE_WRITE: return succeed(passage, write_out(passage.answer.size));
    case FUSE_UNLINK:
    case FUSE_RMDIR: names_.remove(passage.path); return fail(passage, 0);
    default: return fail(passage, std::exchange(late_error_, 0));
  }
}

void Relay::made(Passage& passage) {
  CreateOut out;
  const fuse_attr attributes = attributes_of(passage);
  out.entry.nodeid = names_.add(passage.path, attributes);
  if (passage.opcode == FUSE_MKDIR) names_.find(out.entry.nodeid)->made_here = true;
  out.entry.entry_valid = out.entry.attr_valid = kForever;
  out.entry.attr = attributes;
  if (passage.opcode != FUSE_CREATE) return succeed(passage, out.entry);
  out.open.fh = passage.answer.file;
  succeed(passage, out);
}

void Relay::opened(Passage& passage) {
  if (Node* const node = names_.find(passage.node)) {
    node->attributes = attributes_of(passage);
    node->has_content = passage.ask.size > 0 && passage.answer.size == node->attributes.size;
    const auto first = std::span(passage.small).subspan(sizeof(fuse_attr), passage.answer.size);
    node->content.assign(first.begin(), first.end());
  }
  fuse_open_out out{};
  out.fh = passage.answer.file;
  if (passage.ask.mode & O_DIRECT) out.open_flags = kDirect;
  succeed(passage, out);
}

/// The kernel may go on.
void Relay::written(Passage& passage) {
  if (passage.answered) return;
  passage.answered = true;
  const fuse_write_out out = write_out(passage.ask.payload_size);
  channel_.reply(passage, 0, std::as_bytes(std::span(&out, 1)), 0);
}

}  // namespace nfsrdma::bench::relay
