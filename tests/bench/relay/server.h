// The server behind the relay: files of one folder, one connection at a time.
#pragma once

namespace nfsrdma::bench::relay {

/// Listens on a free port of 127.0.0.1, says "listening on 127.0.0.1:PORT", and serves one
/// connection after another until it is killed. Returns what main() does.
/// `in_segments`: as iWARP wants it (segment.h). `as_nfs`: Orders.
int serve(const char* folder, bool in_segments, bool as_nfs);

}  // namespace nfsrdma::bench::relay
