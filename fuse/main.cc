#include "fuse/daemon/run.h"

int main(int argc, char** argv) { return nfsrdma::fs::run(argc, argv); }
