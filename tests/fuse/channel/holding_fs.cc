#include "tests/fuse/channel/holding_fs.h"

namespace nfsrdma::testing {
namespace {

HoldingFileSystem& file_system(fuse_req_t request) {
  return static_cast<HoldingFileSystem&>(
      *static_cast<MemoryFileSystem*>(fuse_req_userdata(request)));
}

bool is_held(HoldingFileSystem& files, fuse_ino_t number) {
  return files.find(number)->name.starts_with(HoldingFileSystem::kHeld);
}

}  // namespace

const fuse_lowlevel_ops& HoldingFileSystem::operations() {
  static const fuse_lowlevel_ops table = [] {
    fuse_lowlevel_ops made = MemoryFileSystem::operations();
    made.open = on_open;
    made.flush = on_flush;
    made.read = on_read;
    made.write = on_write;
    return made;
  }();
  return table;
}

void HoldingFileSystem::on_flush(fuse_req_t request, fuse_ino_t number, fuse_file_info*) {
  auto& files = file_system(request);
  fuse::Request taken(request);
  if (files.hold_flushes && is_held(files, number)) {
    files.held.push_back({std::move(taken), Buffer(), nullptr, 0});
  } else {
    taken.reply_ok();
  }
}

void HoldingFileSystem::on_open(fuse_req_t request, fuse_ino_t number, fuse_file_info* open) {
  fuse_file_info direct = *open;
  // Requests are as large as the calls, and nothing is read ahead.
  direct.direct_io = file_system(request).find(number)->name != kHeldPages;
  fuse::Request(request).reply_open(direct);
}

void HoldingFileSystem::on_read(fuse_req_t request, fuse_ino_t number, std::size_t size,
                                off_t offset, fuse_file_info* open) {
  auto& files = file_system(request);
  if (!is_held(files, number)) {
    MemoryFileSystem::operations().read(request, number, size, offset, open);
    return;
  }
  files.held.push_back({fuse::Request(request), Buffer(), nullptr, size});
}

void HoldingFileSystem::on_write(fuse_req_t request, fuse_ino_t number, const char* data,
                                 std::size_t size, off_t offset, fuse_file_info* open) {
  auto& files = file_system(request);
  if (!is_held(files, number)) {
    MemoryFileSystem::operations().write(request, number, data, size, offset, open);
    return;
  }
  fuse::Request taken(request);
  Buffer slot = taken.take_buffer();
  files.held.push_back({std::move(taken), std::move(slot), data, size});
}

}  // namespace nfsrdma::testing
