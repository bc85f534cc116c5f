// A capture of raw IP packets in pcapng, in one file or in a ring of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/base/metrics.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/form.h"

namespace nfsrdma::capture {

/// A file for a capture, mode 0600. What it has stays: whoever writes to it empties it. A capture
/// holds the data of all users: refuses another user's file, a symbolic link and a second name of
/// another file, which would disclose or overwrite data, and a pipe, which would block. It is
/// locked (flock) for as long as the descriptor is open: EBUSY when another recording still has it
/// after `patience`, for which this blocks.
Result<UniqueFd> open_capture_file(const std::string& path, Duration patience = Duration::zero());
/// All of file_names().
Result<std::vector<UniqueFd>> open_capture_files(const std::string& path, std::size_t files,
                                                 Duration patience = Duration::zero());

/// Nanoseconds since 1970.
using Clock = std::function<std::int64_t()>;
std::int64_t wall_clock();

/// Any thread may add packets.
///
/// A ring reuses its files: file numbers count up from 0, and number n is written to file n modulo
/// their number. Packets are taken for the present number and for the one before, so that a message
/// can end in the file in which it has begun.
class PcapngFile {
 public:
  using Number = std::uint64_t;

  /// Empties files that are open for writing, as many as the form says; `path` is for messages.
  /// `clock` tells the time of each packet.
  static Result<std::unique_ptr<PcapngFile>> create(std::vector<UniqueFd> files,
                                                    const std::string& path, const Form& form,
                                                    Clock clock);

  bool ring() const { return files_.size() > 1; }
  /// Number of the present file. Always 0 without a ring.
  Number present() const;
  /// One packet, concatenated from its parts, to the file of this number; dropped when that is not
  /// taken any more.
  void add_packet(Number number, std::span<const std::span<const std::byte>> parts,
                  std::string_view comment = {});
  void flush();
  /// Called with the first packet after a flush(), by the thread that adds it, which must not call
  /// back: a lock is held. Comes before the first packet.
  void when_unflushed(std::function<void()> tell) { tell_unflushed_ = std::move(tell); }
  /// Packets added so far. Any thread.
  std::uint64_t packets() const { return packets_.value(); }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  PcapngFile(std::vector<File> files, std::string path, const Form& form, Clock clock);
  void begin_file();
  void write(std::FILE* file, const void* data, std::size_t size);
  void check(std::FILE* file);
  void stop();

  mutable std::mutex mutex_;
  std::vector<File> files_;
  std::string path_;
  const Form form_;
  const Clock clock_;
  const std::vector<std::byte> header_;
  Number present_ = 0;
  std::uint64_t written_ = 0;  // to the present file
  Counter packets_;
  std::function<void()> tell_unflushed_;
  bool unflushed_ = false;
  bool broken_ = false;  // a write failed: nothing more is written
};

}  // namespace nfsrdma::capture
