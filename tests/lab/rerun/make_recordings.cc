// Writes recordings of this build's client, the samples: lab_make_recordings FOLDER [NAME...]
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/lab/rerun/samples.h"
#include "transport/base/log.h"

namespace {

using namespace nfsrdma::lab::rerun::test;

struct Kind {
  const char* name;
  Bytes (*record)();
};
constexpr Kind kKinds[] = {{"names", record_names},
                           {"recall", record_recall},
                           {"workload", record_workload},
                           {"writes", record_writes}};

bool write(const std::filesystem::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FOLDER [NAME...]\n", argv[0]);
    return 2;
  }
  nfsrdma::log::set_level(nfsrdma::log::Level::off);
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  for (const Kind& kind : kKinds) {
    const bool wanted =
        argc == 2 || std::find(argv + 2, argv + argc, std::string(kind.name)) != argv + argc;
    if (wanted && !write(folder / kind.name, kind.record())) return 1;
  }
  return 0;
}
