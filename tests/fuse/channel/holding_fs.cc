#include "tests/fuse/channel/holding_fs.h"

namespace nfsrdma::testing {
namespace {

using fuse::Request;

bool is_held(HoldingFileSystem& files, const Request& request) {
  return files.find(request.node())->name.starts_with(HoldingFileSystem::kHeld);
}

void on_flush(HoldingFileSystem& files, Request request, fuse_flush_in) {
  if (files.hold_flushes && is_held(files, request)) {
    files.held.push_back({std::move(request), Buffer()});
  } else {
    request.reply_ok();
  }
}

void hold_lock(HoldingFileSystem& files, Request request, fuse_lk_in) {
  files.held.push_back({std::move(request), Buffer()});
}

void hold_statfs(HoldingFileSystem& files, Request request, fuse::NoArguments) {
  files.held.push_back({std::move(request), Buffer()});
}

void on_open(HoldingFileSystem& files, Request request, fuse_open_in) {
  fuse::OpenAnswer direct;
  // Requests are as large as the calls, and nothing is read ahead.
  direct.direct_io = files.find(request.node())->name != HoldingFileSystem::kHeldPages;
  request.reply_open(direct);
}

void hold_read(HoldingFileSystem& files, Request request, fuse::ReadArguments arguments) {
  if (!is_held(files, request)) {
    return MemoryFileSystem::on_read(files, std::move(request), arguments);
  }
  Buffer slot;
  if (files.hold_read_slots) slot = std::move(*arguments.slot);
  files.held.push_back({std::move(request), std::move(slot), {}, arguments.size});
}

void hold_write(HoldingFileSystem& files, Request request, fuse::WriteArguments arguments) {
  if (!is_held(files, request)) {
    return MemoryFileSystem::on_write(files, std::move(request), arguments);
  }
  files.held.push_back(
      {std::move(request), std::move(*arguments.slot), arguments.data, arguments.size});
}

}  // namespace

const fuse::HandlerTable& HoldingFileSystem::handlers() {
  static const fuse::HandlerTable table = [] {
    fuse::HandlerTable made = MemoryFileSystem::handlers();
    made.set({FUSE_OPEN, fuse::handler<on_open>});
    made.set({FUSE_FLUSH, fuse::handler<on_flush>});
    made.set({FUSE_SETLKW, fuse::handler<hold_lock>});
    made.set({FUSE_STATFS, fuse::handler<hold_statfs>});
    made.set({FUSE_READ, fuse::handler<hold_read>});
    made.set({FUSE_WRITE, fuse::handler<hold_write>});
    return made;
  }();
  return table;
}

}  // namespace nfsrdma::testing
