// The world of a run that leaves requests out: answers come from where the recording has them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/lab/rerun/kernel_ids.h"
#include "tests/lab/rerun/playback.h"
#include "tests/lab/rerun/recorded_calls.h"
#include "tests/lab/rerun/recording.h"
#include "tests/lab/rerun/world.h"

namespace nfsrdma::lab::rerun {

/// An input that the recording does not have as it is.
struct MadeEntry {
  journal::Kind kind{};
  std::vector<std::byte> body;
  std::size_t due = 0;  ///< it comes where the recording is behind this entry; 0: at once

  Entry view(TimePoint now) const { return {kind, false, now, body}; }
};

/// Strict up to the mount, as `prefix` is; loose from then on. What is given out becomes lines
/// without what belongs to session, connection and time, which two programs can be compared by.
class ReducedWorld final : public World {
 public:
  /// Both outlive it. `on_line` gets each line; `odd`: nothing like it is in the recording.
  ReducedWorld(const Recording& recording, Playback& prefix,
               std::function<void(const std::string& line, bool odd)> on_line);

  /// The mount is there; `place`: the first entry that is not repeated as it is.
  void become_loose(std::size_t place);
  /// What comes next belongs to this entry. `next`: the one that is gone to afterwards. A call that
  /// was under way there when it came is so here.
  void go_to(std::size_t place, std::size_t next) {
    place_ = place;
    next_ = next;
  }
  /// Inputs that follow from what was given out.
  std::optional<MadeEntry> take();

  /// The kernel's request with the numbers of this run; nothing where it makes no sense in it.
  std::optional<MadeEntry> request(const Entry& entry);
  /// The server's callback, on the present connection.
  std::optional<MadeEntry> callback(const Entry& entry);
  /// The present connection breaks.
  void break_connection();

  void give(journal::Kind kind, const journal::Body& body) override;
  std::size_t seen(const char* what, std::span<std::byte> memory, std::size_t size) override;
  [[noreturn]] void damaged(std::string_view why) override { prefix_.damaged(why); }

 private:
  struct Answered {
    std::size_t place = 0;
    std::span<const std::byte> body;  ///< of Kind::answer
  };

  void give_call(std::span<const std::byte> body);
  void give_answer(std::span<const std::byte> body);
  void answer_question(std::span<const std::byte> body);
  void connect(std::uint32_t connection);
  void take_down(std::uint32_t connection);
  void note_end(std::span<const std::byte> body);
  void queue(journal::Kind kind, std::span<const std::byte> body);
  void note(std::string line, bool odd) { on_line_(line, odd); }

  const Recording& recording_;
  Playback& prefix_;
  const std::function<void(const std::string&, bool)> on_line_;
  const RecordedCalls calls_;
  KernelIds ids_;
  bool loose_ = false;
  std::size_t place_ = 0;
  std::size_t next_ = 0;
  std::uint32_t connection_ = 0;  ///< that is up; 0: none
  std::uint32_t callbacks_ = 0;
  std::map<std::uint32_t, std::uint32_t> callback_sequences_;  ///< by slot: the last one
  std::deque<MadeEntry> queue_;
  std::map<CallPlace, std::uint64_t> keys_;         ///< of calls that have not ended
  std::map<std::uint64_t, std::uint32_t> opcodes_;  ///< of requests that are not answered
  std::map<std::uint64_t, Answered> answers_;       ///< of the recording, by request
  std::map<std::string, std::vector<std::size_t>, std::less<>> looks_;  ///< entries, by what
  std::span<const std::byte> limits_;                                   ///< of the first connection
};

}  // namespace nfsrdma::lab::rerun
