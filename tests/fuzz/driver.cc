// Runs a fuzz target without libFuzzer: replays a corpus, then mutates it for a bounded time.
//
//   fuzz_NAME [--seed N] [--seconds N] [--iterations N] [--current FILE] FILE-OR-FOLDER...
//
// With --current every input is in FILE before it is run, so that FILE holds the failing input
// after a crash: `fuzz_NAME --iterations 0 FILE` runs it again.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "tests/fuzz/mutate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace nfsrdma::fuzz {
namespace {

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t seconds = 5;
  std::uint64_t iterations = std::numeric_limits<std::uint64_t>::max();
  std::string current;
  std::vector<std::filesystem::path> sources;
};

/// The file of --current, mapped: what is stored there survives every kind of crash.
class CurrentInput {
 public:
  explicit CurrentInput(const std::string& path) {
    if (path.empty()) return;
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd_ < 0 || ::ftruncate(fd_, kMaxInput) != 0) return;
    void* memory = ::mmap(nullptr, kMaxInput, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory != MAP_FAILED) memory_ = static_cast<std::uint8_t*>(memory);
  }
  CurrentInput(const CurrentInput&) = delete;
  CurrentInput& operator=(const CurrentInput&) = delete;
  ~CurrentInput() {
    if (memory_) ::munmap(memory_, kMaxInput);
    if (fd_ >= 0) ::close(fd_);
  }

  /// Trailing bytes of longer inputs before it are left in place as zeros.
  void store(const Input& input) {
    if (!memory_) return;
    std::copy(input.begin(), input.end(), memory_);
    if (input.size() < stored_) std::memset(memory_ + input.size(), 0, stored_ - input.size());
    stored_ = input.size();
  }

 private:
  int fd_ = -1;
  std::uint8_t* memory_ = nullptr;
  std::size_t stored_ = 0;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      options.sources.emplace_back(word);
      continue;
    }
    if (++i == argc) return false;
    if (word == "--seed") {
      options.seed = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--seconds") {
      options.seconds = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--iterations") {
      options.iterations = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--current") {
      options.current = argv[i];
    } else {
      return false;
    }
  }
  return !options.sources.empty();
}

Input read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Input input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  input.resize(std::min(input.size(), kMaxInput));
  return input;
}

/// In the order of the names, so that a seed always gives the same inputs.
std::vector<Input> read_corpus(const std::vector<std::filesystem::path>& sources) {
  std::vector<std::filesystem::path> files;
  for (const auto& source : sources) {
    if (!std::filesystem::is_directory(source)) {
      files.push_back(source);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(source)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<Input> corpus;
  for (const auto& file : files) corpus.push_back(read_file(file));
  return corpus;
}

void run(const Input& input, CurrentInput& current) {
  current.store(input);
  // A copy of just that size, so that a read beyond it is seen by the address sanitizer.
  const Input exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

std::uint64_t run_mutations(const std::vector<Input>& corpus, const Options& options,
                            CurrentInput& current) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  std::mt19937_64 engine(options.seed);
  std::uint64_t done = 0;
  while (done < options.iterations && std::chrono::steady_clock::now() < end) {
    Input input = corpus[engine() % corpus.size()];
    mutate(input, corpus[engine() % corpus.size()], engine);
    run(input, current);
    ++done;
  }
  return done;
}

int fuzz(const Options& options) {
  const std::vector<Input> corpus = read_corpus(options.sources);
  if (corpus.empty()) {
    std::fprintf(stderr, "no corpus in %s\n", options.sources.front().c_str());
    return EXIT_FAILURE;
  }
  CurrentInput current(options.current);
  for (const auto& input : corpus) run(input, current);
  const std::uint64_t mutated = run_mutations(corpus, options, current);
  std::printf("%zu inputs replayed, %llu mutated\n", corpus.size(),
              static_cast<unsigned long long>(mutated));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace nfsrdma::fuzz

int main(int argc, char** argv) {
  nfsrdma::fuzz::Options options;
  if (!nfsrdma::fuzz::parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: %s [--seed N] [--seconds N] [--iterations N] [--current FILE] "
                 "FILE-OR-FOLDER...\n",
                 argv[0]);
    return EXIT_FAILURE;
  }
  return nfsrdma::fuzz::fuzz(options);
}
