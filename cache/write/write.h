// What becomes of one write(2): whether it is answered before its bytes are sent, and in which
// order and to which place they go.
#pragma once

#include <cstddef>

#include "cache/write/write_back.h"

namespace nfsrdma::cache {

/// The data of one write(2): its bytes lie in `slot` until they are kept elsewhere.
struct Incoming {
  FileWrite what;  ///< of an append the offset is where its caller takes the end of the file to be
  Buffer slot;
  bool may_be_sent_later = false;  ///< after the answer
  bool durable = false;            ///< its caller waits until they are
  bool whole = false;              ///< a part of them is a failure

  bool appends() const { return what.place == WriteOrder::Place::at_end; }
};

/// The caller of a write(2), which has to answer it. It calls nothing here meanwhile.
class Writer {
 public:
  /// The write has its place in the order, and READs that come later wait for it. Before its bytes
  /// are sent.
  virtual void on_placed() = 0;
  /// The same, and the write may be answered, although its bytes are not copied yet: nothing can
  /// fail. Returns whether it has been.
  virtual bool on_taken() = 0;
  /// Its caller has had an error while it waited (soft, or killed).
  virtual bool given_up() const = 0;

 protected:
  ~Writer() = default;
};

/// Has the bytes sent after the answer, of which `writer` is told. Of a large write `slot` is
/// taken. False: nothing was done, and write() is to be called.
bool take_write(WriteBack& writes, const FileRef& file, const Incoming& incoming, Buffer& slot,
                Writer& writer);

/// Waits for what the write needs: memory, the end of the file, earlier writes of the same bytes,
/// the server. Returns how many bytes were written, and leaves in `incoming` to which offset; or
/// were taken to be sent after the answer, if there was room for them at last. Nothing is written
/// for a writer that gave up before the write had its place: it would come behind changes that were
/// made since.
Task<Result<std::size_t>> write(WriteBack& writes, FileRef file, Incoming& incoming,
                                Writer& writer);

}  // namespace nfsrdma::cache
