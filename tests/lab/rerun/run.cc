#include "tests/lab/rerun/run.h"

#include <cerrno>
#include <iterator>
#include <utility>

#include "fuse/channel/mount_point.h"
#include "fuse/options/command_line.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {
namespace {

using journal::Body;
using journal::Kind;

/// In the place of the real one, which may be another's by now: nothing is there.
constexpr const char* kMountPoint = "/proc/nfsrdma-lab-rerun";

std::string escaped(const std::string& item) {
  std::string out;
  for (const char c : item) {
    if (c == ',' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

Result<fuse::Options> options_of(const Head& head) {
  const bool passed = fuse::passed_device(head.mount_point).has_value();
  const std::string place = passed ? head.mount_point : kMountPoint;
  std::string list = "config=none";
  for (const std::string& item : head.items) {
    if (!item.starts_with("config=")) list += ',' + escaped(item);
  }
  const char* const words[] = {"nfsrdma", "-o", list.c_str(), head.source.c_str(), place.c_str()};
  auto line = fuse::parse_command_line(std::size(words), words);
  if (!line) return fail_from(line);
  if (line->action != fuse::Action::mount) {
    return fail(Error::local(EINVAL, "recording", "its source is no server"));
  }
  line->options.mounted_by_another = passed;
  line->options.transport.capture_file.clear();
  return std::move(line->options);
}

Run::Run(World& world, fuse::Options options)
    : world_(world),
      reactor_(world),
      channels_(world, reactor_),
      names_(world),
      options_(std::move(options)),
      backend_(outside_, options_, this) {}

void Run::enter(std::string_view word, Body, std::function<void()> go) {
  waiting_[std::string(word)] = std::move(go);
}

/// As fuse::Daemon does it: what is made here looks outside, in this order.
Task<void> Run::start() {
  auto started = co_await backend_.start();
  if (!started) co_return;
  fuse::AnswerLimit limit;
  limit.longest = options_.patience.longest_answer();
  limit.error_number = options_.patience.error_number;
  limit.waiting_since = [this] { return backend_.waiting_since(); };
  limit.report = [this](const fuse::PendingRequest& overdue, int error_number) {
    backend_.note_overdue(overdue, error_number);
  };
  const fuse::CallerPolicy callers{options_.sec, options_.mounted_by_another};
  kernel_ =
      std::make_unique<RerunKernel>(world_, reactor_, backend_.slots(), callers, std::move(limit));
  backend_.on_mounted(*kernel_);
  kernel_->serve({backend_.handlers(), backend_.served(), backend_.limits(), options_.allow_root});
}

void Run::deliver(const Entry& entry) {
  xdr::Decoder in(entry.body);
  switch (entry.kind) {
    case Kind::entered: return entered(entry);
    case Kind::work: return reactor_.work();
    case Kind::request:
    case Kind::slot:
      if (!kernel_ || stopping_) world_.damaged("the kernel asks where there is no mount");
      return entry.kind == Kind::slot ? kernel_->slot(entry) : kernel_->request(entry);
    case Kind::woken: return reactor_.wake(in.u32("number"));
    case Kind::ready: {
      const std::uint32_t number = in.u32("number");
      return reactor_.ready(number, in.u32("events"));
    }
    case Kind::name_found: return names_.found(entry);
    default: return channels_.deliver(entry);
  }
}

void Run::entered(const Entry& entry) {
  xdr::Decoder in(entry.body);
  const std::string word(in.string(Reactor::kLongestText, "word"));
  xdr::Decoder more(in.opaque(Reactor::kLongestText, "more"));
  if (word == fuse::kEnterStart) return go(word);
  if (!kernel_ || stopping_) world_.damaged("the daemon orders something without a mount");
  if (word == fuse::kEnterStop) {
    stopping_ = true;
    spawn(stop(Duration(more.i64("patience"))));
    return go(word);
  }
  if (word == fuse::kEnterReconnect) return backend_.reconnect();
  if (word == fuse::kEnterReturn) return static_cast<void>(backend_.return_delegations());
  if (word == fuse::kEnterDrop) return static_cast<void>(backend_.drop_caches());
  world_.damaged("an order that this program does not know");
}

void Run::go(const std::string& word) {
  const auto waiting = waiting_.extract(word);
  if (!waiting) world_.damaged("nothing waits for this order of the daemon");
  waiting.mapped()();
}

}  // namespace nfsrdma::lab::rerun
