#include "tests/lab/rerun/reduced.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "tests/lab/rerun/reduced_world.h"
#include "tests/lab/rerun/run.h"
#include "tests/lab/rerun/words.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {
namespace {

using journal::Kind;

constexpr std::string_view kWord = "entry ";
/// For what is written behind, after the last entry.
constexpr Duration kAfterwards = std::chrono::seconds(5);
/// Without anything in between. What is longer is as if the daemon had been stopped: a damaged time
/// would have it renew its lease for ever.
constexpr Duration kLongestPause = std::chrono::hours(24);

tl::unexpected<Error> wrong(std::string what) {
  return fail(Error::local(EINVAL, "rerun", std::move(what)));
}

/// The place behind FUSE_INIT, from where on entries can be left out; 0: there is none.
std::size_t first_place(const Recording& recording) {
  const auto found = std::ranges::find(recording.entries, Kind::request, &Entry::kind);
  if (found == recording.entries.end()) return 0;
  return static_cast<std::size_t>(found - recording.entries.begin()) + 1;
}

bool can_be_left_out(const Entry& entry) {
  xdr::Decoder in(entry.body);
  if (entry.kind == Kind::entered) return in.string(SIZE_MAX, "word") != fuse::kEnterStop;
  return entry.kind == Kind::request || entry.kind == Kind::callback ||
         entry.kind == Kind::channel_down;
}

class Reduced {
 public:
  Reduced(const Recording& recording, const fuse::Options& options, OnDifference on_difference)
      : recording_(recording),
        prefix_(recording, std::move(on_difference)),
        world_(recording, prefix_,
               [this](const std::string& line, bool odd) {
                 outcome_.given.push_back(line);
                 if (odd && outcome_.odd.empty()) outcome_.odd = line;
               }),
        run_(world_, options) {
    prefix_.deliver = [this](const Entry& entry) { run_.deliver(entry); };
  }

  const ReducedOutcome& run(const std::vector<std::size_t>& list) {
    mount();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::size_t place = list[i];
      const Entry& entry = recording_.entries[place];
      advance(entry.time);
      world_.go_to(place, i + 1 < list.size() ? list[i + 1] : recording_.entries.size());
      take(entry);
      advance(entry.time);
    }
    advance(run_.reactor().now() + kAfterwards);
    return outcome_;
  }

 private:
  void mount() {
    run_.begin();
    const std::size_t end = first_place(recording_);
    while (prefix_.place() < end) {
      const Entry* entry = prefix_.take_input();
      if (!entry) break;
      run_.reactor().set_now(entry->time);
      run_.deliver(*entry);
    }
    world_.become_loose(prefix_.place());
  }

  void take(const Entry& entry) {
    switch (entry.kind) {
      case Kind::request: return deliver(world_.request(entry));
      case Kind::callback: return deliver(world_.callback(entry));
      case Kind::channel_down: return world_.break_connection();
      default: return run_.deliver(entry);
    }
  }

  void deliver(const std::optional<MadeEntry>& made) {
    if (!made) return;
    if (made->kind == Kind::request) run_.take_slot();
    run_.deliver(made->view(run_.reactor().now()));
  }

  /// Answers what is asked, and lets time go on to `until`.
  void advance(TimePoint until) {
    RerunReactor& reactor = run_.reactor();
    if (until > reactor.now() + kLongestPause) reactor.set_now(until - kLongestPause);
    for (;;) {
      if (const auto made = world_.take()) {
        run_.deliver(made->view(reactor.now()));
      } else if (reactor.busy()) {
        reactor.work();
      } else if (reactor.next_timer() <= until) {
        reactor.set_now(std::max(reactor.now(), reactor.next_timer()));
        reactor.work();
      } else {
        break;
      }
    }
    reactor.set_now(std::max(reactor.now(), until));
  }

  const Recording& recording_;
  Playback prefix_;
  ReducedOutcome outcome_;
  ReducedWorld world_;
  Run run_;
};

}  // namespace

std::string list_of(const Recording& recording) {
  std::string list;
  const std::size_t begin = recording.begun ? first_place(recording) : 0;
  for (std::size_t i = begin; i < recording.entries.size(); ++i) {
    const Entry& entry = recording.entries[i];
    if (can_be_left_out(entry)) list += fmt::format("{}{} # {}\n", kWord, i + 1, to_words(entry));
  }
  return list;
}

Result<std::vector<std::size_t>> read_list(const std::string& text) {
  std::vector<std::size_t> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    at = end + 1;
    if (line.find_first_not_of(' ') == std::string_view::npos || line.starts_with('#')) continue;
    std::size_t number = 0;
    if (line.starts_with(kWord)) line.remove_prefix(kWord.size());
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc() || number == 0) return wrong("no entry: " + std::string(line));
    list.push_back(number - 1);
  }
  std::ranges::sort(list);
  return list;
}

Result<ReducedOutcome> run_reduced(const Recording& recording, std::vector<std::size_t> list,
                                   OnDifference on_difference) {
  TRY(check_begun(recording));
  auto options = options_of(recording.head);
  if (!options) return fail_from(options);
  const std::size_t begin = first_place(recording);
  if (begin == 0) return wrong("it has no mount");
  std::erase_if(list, [&](std::size_t place) {
    return place < begin || place >= recording.entries.size() ||
           !can_be_left_out(recording.entries[place]);
  });
  static Reduced* reduced = nullptr;
  reduced = new Reduced(recording, *options, std::move(on_difference));
  return reduced->run(list);
}

}  // namespace nfsrdma::lab::rerun
