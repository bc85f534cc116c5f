// Writes a recording.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/journal/journal.h"

namespace nfsrdma::journal {

/// What comes from outside is in the file before it is worked on, so that a crash has its cause on
/// record. A write that fails ends the recording with one logged line, and disturbs nothing else.
/// Belongs to the shard's thread.
class Recorder final : public Journal {
 public:
  /// Creates the file, mode 0600; one of the user's own is kept under another name before
  /// (keep_earlier_recording()), and EBUSY when another recording has it. `head` is its first
  /// entry. `last`: whenever the file spans so much time it is renamed FILE.1 and begun anew, so
  /// that both together have at least the last so much; 0: never.
  /// `patience`: for how long another recording may go on having the file.
  static Result<std::unique_ptr<Recorder>> create(const std::string& path, Body head,
                                                  Duration last = Duration::zero(),
                                                  Duration patience = Duration::zero());
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  /// `nested`: see append_entry(). What is not nested is written now.
  void input(Kind kind, const Body& body, TimePoint now, bool nested);
  void give(Kind kind, const Body& body) override { note(kind, body, false); }
  /// The mount has ended in order: nothing more is noted.
  void finish();

 private:
  Recorder(std::string path, Body head, Duration last)
      : path_(std::move(path)), head_(std::move(head)), last_(last) {}

  Result<void> begin();
  void note(Kind kind, const Body& body, bool nested);
  void begin_anew();
  void write();
  void give_up(const Error& why);

  const std::string path_;
  const Body head_;
  const Duration last_;
  UniqueFd file_;  ///< none: nothing is noted any more
  std::vector<std::byte> unwritten_;
  TimePoint now_{0};
  TimePoint begun_{0};
  bool asked_ = false;  ///< the kernel has asked something of the mount
};

}  // namespace nfsrdma::journal
