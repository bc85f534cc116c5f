#include "tests/hostile/over.h"

namespace nfsrdma::hostile {

const Over kTransport = Over::HOSTILE_TRANSPORT;

}  // namespace nfsrdma::hostile
