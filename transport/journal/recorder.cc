#include "transport/journal/recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "transport/base/log.h"
#include "transport/base/write_all.h"
#include "transport/capture/pcapng_file.h"
#include "transport/journal/earlier_recording.h"

namespace nfsrdma::journal {
namespace {

constexpr const char* kRecord = "record";

}  // namespace

Result<std::unique_ptr<Recorder>> Recorder::create(const std::string& path, Body head,
                                                   Duration last, Duration patience) {
  std::unique_ptr<Recorder> made(new Recorder(path, std::move(head), last));
  TRY(keep_earlier_recording(path, last > Duration::zero(), patience));
  TRY(made->begin());
  return made;
}

Recorder::~Recorder() { write(); }

Result<void> Recorder::begin() {
  auto file = capture::open_capture_file(path_);
  if (!file) return fail_from(file);
  if (::ftruncate(file->get(), 0) != 0) return fail(Error::from_errno(errno, kRecord, path_));
  file_ = std::move(*file);
  begun_ = TimePoint{0};
  const auto magic = std::as_bytes(std::span(kMagic));
  unwritten_.assign(magic.begin(), magic.end());
  note(Kind::head, head_, false);
  return {};
}

void Recorder::input(Kind kind, const Body& body, TimePoint now, bool nested) {
  if (!file_) return;
  if (begun_ == TimePoint{0}) begun_ = now;
  // Before the first request FILE.1 is the one of a start that may fail, and is not to be kept.
  asked_ = asked_ || kind == Kind::request;
  if (!nested && asked_ && last_ > Duration::zero() && now - begun_ > last_) begin_anew();
  now_ = now;
  note(kind, body, nested);
  if (!nested) write();
}

void Recorder::note(Kind kind, const Body& body, bool nested) {
  if (file_) append_entry(unwritten_, kind, nested, now_, body.bytes());
}

void Recorder::begin_anew() {
  write();
  if (!file_) return;
  if (::rename(path_.c_str(), older(path_).c_str()) != 0) {
    return give_up(Error::from_errno(errno, kRecord, path_));
  }
  auto begun = begin();
  if (!begun) give_up(begun.error());
}

void Recorder::write() {
  const std::string_view left(reinterpret_cast<const char*>(unwritten_.data()), unwritten_.size());
  if (file_ && !write_all(file_.get(), left)) {
    return give_up(Error::from_errno(errno, kRecord, path_));
  }
  unwritten_.clear();
}

void Recorder::finish() {
  if (!file_) return;
  note(Kind::end, {}, false);
  write();
  file_.reset();
}

void Recorder::give_up(const Error& why) {
  log::error("the recording ends: {}", why.message());
  file_.reset();
  unwritten_.clear();
}

}  // namespace nfsrdma::journal
