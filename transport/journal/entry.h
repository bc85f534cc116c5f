// One entry of a recording: what came from outside, or what was given out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "transport/base/reactor.h"

namespace nfsrdma::journal {

/// The values stand in files.
enum class Kind : std::uint8_t {
  head = 1,  ///< of the file: version of the program, options
  // Begin work: what came from outside.
  entered = 2,          ///< the daemon asks for something: a word, and what belongs to it
  work = 3,             ///< what was posted or deferred is run, and the timers that are due
  request = 4,          ///< the kernel's message, whole
  slot = 5,             ///< what the receiver of requests does with its buffer (SlotStep)
  channel_up = 6,       ///< connection, its limits
  channel_closing = 7,  ///< connection, error
  channel_down = 8,     ///< connection, error
  call_done = 9,        ///< connection, number of the call, its reply or error
  callback = 10,        ///< connection, number of the callback, its message
  woken = 11,           ///< number of the waking call that a thread has made
  ready = 12,           ///< number of the watch, events
  name_found = 13,      ///< number of the question, the answer
  // In the midst of work: what was looked up outside.
  seen = 20,  ///< Reactor::from_outside: of what, its bytes
  // Given out.
  connect = 30,          ///< connection
  call = 31,             ///< connection, number of the call, its message
  close = 32,            ///< connection
  callback_answer = 33,  ///< connection, number of the callback, its answer
  answer = 34,           ///< to a request of the kernel
  order = 35,            ///< to the kernel, on the shard's thread
  waking_call = 36,      ///< number of a waking call that was made
  watch = 37,            ///< number of a watch that began
  name_asked = 38,       ///< number of the question, kind, name or number
  end = 50,              ///< the mount has ended in order
};

/// What the receiver of requests does.
enum class SlotStep : std::uint32_t { acquire = 1, wait = 2, give_back = 3 };

/// The body of an entry, in XDR.
class Body {
 public:
  Body& u32(std::uint32_t value);
  Body& u64(std::uint64_t value) {
    return u32(static_cast<std::uint32_t>(value >> 32)).u32(static_cast<std::uint32_t>(value));
  }
  Body& opaque(std::span<const std::byte> bytes);
  Body& string(std::string_view text) { return opaque(std::as_bytes(std::span(text))); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// What every recording begins with.
inline constexpr std::string_view kMagic = "nfsrdma record 1\n";

/// Appends an entry to what goes into the file. `nested`: it came while other work was being done,
/// from within what that work gave out.
void append_entry(std::vector<std::byte>& file, Kind kind, bool nested, TimePoint time,
                  std::span<const std::byte> body);

/// Tells contents apart; not safe against forgery.
std::uint64_t hash_of(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace nfsrdma::journal
