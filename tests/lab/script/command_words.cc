#include "tests/lab/script/command_words.h"

#include <fmt/format.h>

#include <cstdio>
#include <vector>

namespace nfsrdma::lab::script {

namespace po = boost::program_options;

std::string read_words(std::span<char*> words, const po::options_description& shown,
                       const po::options_description& hidden,
                       const po::positional_options_description& positions) {
  po::options_description all;
  all.add(shown).add(hidden);
  try {
    po::variables_map values;
    po::store(po::command_line_parser(std::vector<std::string>(words.begin(), words.end()))
                  .options(all)
                  .positional(positions)
                  .run(),
              values);
    po::notify(values);
  } catch (const po::error& error) {
    return error.what();
  }
  return {};
}

int complain(const std::string& what, int status) {
  fmt::print(stderr, "nfsrdma-lab: {}\n", what);
  return status;
}

}  // namespace nfsrdma::lab::script
