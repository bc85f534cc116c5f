// The command nfsrdma, from argv to exit code.
#pragma once

namespace nfsrdma::fs {

int run(int argc, char** argv);

}  // namespace nfsrdma::fs
