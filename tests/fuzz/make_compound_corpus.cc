// Writes the seed corpus of compound_fuzz.cc: real encodings of random values of every operation.
//
//   fuzz_make_compound_corpus FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "client/proto/attributes.h"
#include "tests/fuzz/compound_inputs.h"
#include "tests/oracle/random.h"
#include "tests/oracle/wire_type.h"
#include "tests/proto/operations.h"

namespace nfsrdma::fuzz {
namespace {

constexpr std::uint32_t kSeed = 1;
constexpr std::uint32_t kOperationsInOneInput = 6;
constexpr int kAttributeInputs = 4;

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void add(const std::string& name, CompoundInput kind, const oracle::Bytes& bytes) {
    std::ofstream file(folder_ / name, std::ios::binary);
    file.put(static_cast<char>(kind));
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path folder_;
};

/// Inputs of some operations each, together all of the list.
template <class List, class Header, bool kResults>
void add_compounds(Corpus& corpus, const std::string& name, CompoundInput kind) {
  oracle::Random random(kSeed);
  oracle::Bytes operations;
  std::uint32_t in_this_input = 0;
  int inputs = 0;
  const auto flush = [&] {
    Header header;
    random.fill(header);
    header.operations = in_this_input;
    oracle::Bytes whole = oracle::bytes_of(header);
    whole.insert(whole.end(), operations.begin(), operations.end());
    corpus.add(name + "-" + std::to_string(inputs++), kind, whole);
    operations.clear();
    in_this_input = 0;
  };
  List::for_each([&](auto operation) {
    using Op = decltype(operation);
    std::conditional_t<kResults, typename Op::Res, typename Op::Args> value;
    random.fill(value);
    oracle::Bytes memory(oracle::kMostBytesOfAValue);
    xdr::Encoder out(memory);
    nfs4::encode_operation(out, value);
    const oracle::Bytes bytes = testing_support::unreduced(out);
    operations.insert(operations.end(), bytes.begin(), bytes.end());
    if (++in_this_input == kOperationsInOneInput) flush();
  });
  if (in_this_input > 0) flush();
}

void add_attributes(Corpus& corpus) {
  oracle::Random random(kSeed);
  for (int i = 0; i < kAttributeInputs; ++i) {
    nfs4::Attributes values;
    random.fill(values.present);
    if (i == 0) values.present = nfs4::known_attributes();
    nfs4::Attributes::attributes(
        values, [&](std::uint32_t, const char* name, auto& field) { random(name, field); });
    oracle::Bytes memory(oracle::kMostBytesOfAValue);
    xdr::Encoder out(memory);
    nfs4::encode_attributes(out, values.present, values);
    corpus.add("attributes-" + std::to_string(i), CompoundInput::attributes,
               testing_support::unreduced(out));
  }
}

void write_corpus(Corpus corpus) {
  using namespace nfs4;
  add_compounds<Operations, COMPOUND4args_header, false>(corpus, "arguments",
                                                         CompoundInput::arguments);
  add_compounds<Operations, COMPOUND4res_header, true>(corpus, "results", CompoundInput::results);
  add_compounds<CallbackOperations, CB_COMPOUND4args_header, false>(
      corpus, "callback-arguments", CompoundInput::callback_arguments);
  add_compounds<CallbackOperations, CB_COMPOUND4res_header, true>(corpus, "callback-results",
                                                                  CompoundInput::callback_results);
  add_attributes(corpus);
}

}  // namespace
}  // namespace nfsrdma::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 1;
  }
  nfsrdma::fuzz::write_corpus(nfsrdma::fuzz::Corpus(argv[1]));
  return 0;
}
