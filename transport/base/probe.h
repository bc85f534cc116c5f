// Places in the program that bpftrace, perf and SystemTap can attach to (USDT). A probe that is not
// attached costs one nop, and a note in the program's file.
//
// Names are those of the kernel's trace events (sunrpc, rpcrdma, nfs4) where they mean the same;
// man/nfsrdma-tracing.7 lists all with their arguments, and tests/mount/tracing.sh compares.
#pragma once

#if __has_include(<sys/sdt.h>)
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
/// A probe of the provider `nfsrdma`. Arguments are integers, twelve at most, and must be cheap:
/// they are evaluated whether the probe is attached or not.
#define NFSRDMA_PROBE(name, ...) STAP_PROBEV(nfsrdma, name, __VA_ARGS__)
#else
/// Built without systemtap-sdt-dev: arguments are checked and nothing is left of them.
#define NFSRDMA_PROBE(name, ...) ((void)sizeof(::nfsrdma::no_probe(__VA_ARGS__)))
namespace nfsrdma {
/// Never defined: what makes arguments used.
template <class... Arguments>
char no_probe(const Arguments&...);
}  // namespace nfsrdma
#endif
