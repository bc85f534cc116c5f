// Writes recordings of this build's client: fuzz_make_recording_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/lab/rerun/samples.h"
#include "transport/base/log.h"

namespace {

using nfsrdma::lab::rerun::test::Bytes;

bool write(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  nfsrdma::log::set_level(nfsrdma::log::Level::off);
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  using namespace nfsrdma::lab::rerun::test;
  const bool written = write(folder / "writes", record_writes()) &&
                       write(folder / "names", record_names()) &&
                       write(folder / "recall", record_recall());
  return written ? 0 : 1;
}
