#include "fuse/daemon/run.h"

int main(int argc, char** argv) { return nfsrdma::fuse::run(argc, argv); }
