// The transport that a program's attacks go over: each table is compiled once, and two programs are
// linked of it, so that neither takes long under a sanitizer.
#pragma once

namespace nfsrdma::hostile {

enum class Over { tcp, iwarp };

/// This program's; over.cc.
extern const Over kTransport;

}  // namespace nfsrdma::hostile
