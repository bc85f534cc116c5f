// For tests of everything a peer may send that it must not: the answer is a Terminate message with
// the right code, a readable reason, a count, and no byte changed outside leased memory.
#pragma once

#include <string>

#include "tests/transport/fabric/iwarp/hostile_fixture.h"

namespace nfsrdma::fabric::testing {

class ViolationTest : public HostileTest {
 protected:
  void send_segment(const wire::Segment& segment) { peer.send(wire::fpdu(segment)); }

  wire::Segment plain_send() {
    wire::Segment segment;
    segment.msn = next_msn;
    segment.payload = pattern(20);
    return segment;
  }
  wire::Segment plain_write(std::size_t size = 100) {
    wire::Segment segment;
    segment.tagged = true;
    segment.opcode = wire::kWrite;
    segment.stag = write_lease.segment.handle;
    segment.to = write_lease.segment.offset;
    segment.payload = pattern(size, 9);
    return segment;
  }
  wire::Read plain_read(std::uint32_t size = 100) {
    wire::Read read;
    read.size = size;
    read.source_stag = read_lease.segment.handle;
    read.source_to = read_lease.segment.offset;
    return read;
  }
  /// Opens, and sends a segment that `change` has spoiled: of a Send, or of an RDMA Write to the
  /// lease.
  template <class Change>
  void open_and_send(Change change) {
    open_with_leases();
    wire::Segment segment = plain_send();
    change(segment);
    send_segment(segment);
  }
  template <class Change>
  void open_and_write(Change change) {
    open_with_leases();
    wire::Segment segment = plain_write();
    change(segment);
    send_segment(segment);
  }
  void expect_untouched(unsigned code, Fault fault, const std::string& words) {
    expect_terminated(code, fault, words);
    EXPECT_TRUE(writable.untouched());
  }
};

}  // namespace nfsrdma::fabric::testing
