// The command nfsrdma, from argv to exit code.
#pragma once

namespace nfsrdma::fuse {

int run(int argc, char** argv);

}  // namespace nfsrdma::fuse
