// Scripts of nfsrdma-lab: any text is read or refused, and what was read is encoded or refused. As
// parts that can be left out, a script is the same script.
#include <cstdlib>

#include "tests/lab/script/message.h"
#include "tests/lab/shrink/parts.h"

namespace nfsrdma::fuzz {
namespace {

using namespace lab;
using namespace lab::script;

void encode_all(const Script& statements) {
  for (const Statement& statement : statements) {
    if (const auto* repeat = std::get_if<Repeat>(&statement.what)) encode_all(repeat->body);
    const auto* send = std::get_if<Send>(&statement.what);
    if (!send) continue;
    (void)encode_compound({}, &send->operations);
    for (const ChunkText& chunk : send->writes) (void)resolve_chunk(chunk, {}, statement.line);
  }
}

/// What is written can be read again, and says the same.
void read_value(std::string_view text) {
  const auto node = read_node(text);
  if (!node) return;
  const std::string written = to_text(*node);
  const auto again = read_node(written);
  if (!again || to_text(*again) != written) std::abort();
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  nfsrdma::fuzz::read_value(text);
  const auto script = nfsrdma::lab::script::read_script(text);
  if (script) nfsrdma::fuzz::encode_all(*script);
  const std::string again = nfsrdma::lab::shrink::to_text(nfsrdma::lab::shrink::read_parts(text));
  if (!script) return 0;
  const auto same = nfsrdma::lab::script::read_script(again);
  if (!same || same->size() != script->size()) std::abort();
  return 0;
}
