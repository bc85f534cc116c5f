// FUSE requests become orders to the server, and its answers those of FUSE.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tests/bench/relay/link.h"
#include "tests/bench/relay/names.h"

namespace nfsrdma::bench::relay {

/// A request as it came: the operation's structure, and names or data that follow it.
struct Request {
  fuse_in_header header{};
  std::span<const std::byte> structure;
  std::span<const std::byte> rest;
  std::byte* place = nullptr;  ///< where it lies
  std::byte* data = nullptr;   ///< room for kMostData bytes of its answer
};

/// Bytes of the structure that a request begins with; what follows are names or data.
std::size_t structure_size(std::uint32_t opcode);

/// The way to the kernel.
class Channel {
 public:
  /// An answer: an errno value, or 0 and a structure, or `data` bytes at the passage's data.
  virtual void reply(const Passage& passage, int error, std::span<const std::byte> structure,
                     std::size_t data) = 0;
  /// A place that nothing lies in any more; once for each request.
  virtual void give_back(std::byte* place) = 0;
  /// Whether a WRITE may be answered before its data has been sent.
  virtual bool keeps_data_after_reply() const = 0;

 protected:
  ~Channel() = default;
};

/// Direct I/O and changes of names are answered when the server has; buffered WRITEs before, and
/// FLUSH and FSYNC wait for those. A file that is closed is not waited for. On one thread.
class Relay {
 public:
  /// `as_nfs`: Waiting::as_nfs.
  Relay(Channel& channel, std::unique_ptr<Link> link, bool as_nfs)
      : channel_(channel), link_(std::move(link)), as_nfs_(as_nfs) {}

  void take(const Request& request);
  Link& link() { return *link_; }
  /// WRITEs that the kernel takes for done, and the server has not answered.
  std::size_t behind() const { return behind_; }
  /// So many bytes have been sent, of what gather_unsent() said.
  void sent(std::size_t bytes);
  /// False: what came is not as it was sent.
  bool received(std::size_t bytes);

 private:
  Passage& new_passage(const Request& request);
  void finish(Passage& passage);
  void fail(Passage& passage, int error);
  template <class Structure>
  void succeed(Passage& passage, const Structure& structure);
  static void prepare(Passage& passage, const Ask& what);
  void ask(Passage& passage, const Ask& what);
  void ask_about(Passage& passage, Ask what, std::string path);
  void begin(Passage& passage, const Request& request);
  void look_up(Passage& passage, std::string path);
  void get_attributes(Passage& passage);
  void resize(Passage& passage, const Request& request);
  void open(Passage& passage, const Request& request);
  void read(Passage& passage, const Request& request);
  void write(Passage& passage, const Request& request);
  void send_held();
  void flush(Passage& passage);
  void close(Passage& passage, const Request& request);
  void completed(Passage& passage);
  void made(Passage& passage);
  void opened(Passage& passage);
  void written(Passage& passage);

  Channel& channel_;
  std::unique_ptr<Link> link_;
  const bool as_nfs_;
  Passage* held_ = nullptr;  ///< a small WRITE that is sent when the next request needs it
  Names names_;
  std::vector<std::unique_ptr<Passage>> passages_;
  std::vector<Passage*> free_;
  std::size_t behind_ = 0;
  int late_error_ = 0;  ///< of one of those, until it is reported
};

}  // namespace nfsrdma::bench::relay
