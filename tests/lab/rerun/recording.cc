#include "tests/lab/rerun/recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuse/daemon/seams.h"
#include "tests/lab/text/file.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {
namespace {

constexpr std::size_t kMostItems = 1000;
constexpr std::size_t kLongestText = 65536;
constexpr std::size_t kLeastItem = 4;
/// Of a clock that begins when its machine does.
constexpr TimePoint kLatest = std::chrono::hours(24 * 365 * 100);

tl::unexpected<Error> damaged(const char* what) {
  return fail(Error::local(EINVAL, "recording", what));
}

bool read_entry(xdr::Decoder& in, Entry& entry) {
  const std::uint32_t kind = in.u32("kind");
  if (kind > UINT8_MAX || kind_name(static_cast<journal::Kind>(kind)).empty()) return false;
  entry.kind = static_cast<journal::Kind>(kind);
  entry.nested = in.boolean("nested");
  const std::int64_t time = in.i64("time");
  if (time < 0 || time > kLatest.count()) return false;
  entry.time = TimePoint(time);
  entry.body = in.opaque(kLongestBody, "body");
  return in.ok();
}

bool begins_mount(const Entry& entry) {
  xdr::Decoder in(entry.body);
  return entry.kind == journal::Kind::entered && in.string(SIZE_MAX, "word") == fuse::kEnterStart;
}

Result<Head> read_head(const Entry& entry) {
  xdr::Decoder in(entry.body);
  Head head;
  head.version = in.string(kLongestText, "version");
  head.source = in.string(kLongestText, "source");
  head.mount_point = in.string(kLongestText, "mount point");
  const std::uint32_t items = in.count(kMostItems, kLeastItem, "options");
  for (std::uint32_t i = 0; i < items; ++i) {
    head.items.emplace_back(in.string(kLongestText, "option"));
  }
  TRY(in.finish("recording"));
  return head;
}

}  // namespace

std::string_view kind_name(journal::Kind kind) {
  using journal::Kind;
  switch (kind) {
    case Kind::head: return "head";
    case Kind::entered: return "order of the daemon";
    case Kind::work: return "work that was due";
    case Kind::request: return "request of the kernel";
    case Kind::slot: return "buffer of the receiver";
    case Kind::channel_up: return "connection up";
    case Kind::channel_closing: return "connection closing";
    case Kind::channel_down: return "connection down";
    case Kind::call_done: return "end of a call";
    case Kind::callback: return "callback";
    case Kind::woken: return "word of a thread";
    case Kind::ready: return "descriptor ready";
    case Kind::name_found: return "answer about a name";
    case Kind::seen: return "look outside";
    case Kind::connect: return "attempt to connect";
    case Kind::call: return "call";
    case Kind::close: return "end of a connection";
    case Kind::callback_answer: return "answer to a callback";
    case Kind::answer: return "answer to the kernel";
    case Kind::order: return "order to the kernel";
    case Kind::waking_call: return "order to a thread";
    case Kind::watch: return "watch of a descriptor";
    case Kind::name_asked: return "question about a name";
    case Kind::end: return "end";
  }
  return {};
}

Result<Recording> read_recording(std::vector<std::byte> bytes) {
  Recording recording;
  recording.bytes = std::move(bytes);
  const auto magic = std::as_bytes(std::span(journal::kMagic));
  const std::span<const std::byte> all = recording.bytes;
  if (all.size() < magic.size() || !std::ranges::equal(all.first(magic.size()), magic)) {
    return damaged("it is no recording of a mount (record=FILE), or one of another version");
  }
  xdr::Decoder in(all.subspan(magic.size()));
  Entry entry;
  if (!read_entry(in, entry) || entry.kind != journal::Kind::head) return damaged("it has no head");
  auto head = read_head(entry);
  if (!head) return fail_from(head);
  recording.head = std::move(*head);
  while (in.remaining() > 0 && !recording.cut) {
    recording.cut = !read_entry(in, entry) || entry.kind == journal::Kind::head;
    if (!recording.cut) recording.entries.push_back(entry);
  }
  recording.begun = recording.entries.empty() || begins_mount(recording.entries.front());
  recording.ended = std::ranges::any_of(
      recording.entries, [](const Entry& each) { return each.kind == journal::Kind::end; });
  return recording;
}

Result<void> check_begun(const Recording& recording) {
  if (recording.begun) return {};
  return fail(Error::local(
      EINVAL, "rerun",
      "it begins in the midst of the mount (record_last=), and what the client knew by then is not "
      "in it: it cannot be run. --list prints what was asked, sent and answered in the last "
      "seconds (those before are in FILE.1); record= without record_last= can be run"));
}

Result<Recording> read_recording(const std::string& path) {
  auto text = read_whole(path, "recording");
  if (!text) return fail_from(text);
  const auto bytes = std::as_bytes(std::span(*text));
  return read_recording(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

}  // namespace nfsrdma::lab::rerun
