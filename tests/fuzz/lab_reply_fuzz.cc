// What a server sends to nfsrdma-lab: any message is described, and what was described can be read.
#include <cstdlib>

#include "tests/lab/script/connection.h"
#include "tests/lab/wire/exchange.h"

namespace nfsrdma::fuzz {
namespace {

using namespace lab;

void describe(const Arrived& message, Carrier carrier) {
  // Memory for two Write chunks and a Reply chunk, shorter than what a server may claim.
  static Bytes longer(64), shorter(5), whole(4096);
  static Exposed first{{}, longer, {}}, second{{}, shorter, {}}, reply{{}, whole, {}};
  const SentCall call{0, {}, {{&first, nullptr}, {&second}}, {&reply}};
  const Sorted sorted = sort_message(message.bytes, carrier);
  Node node;
  if (sorted.kind == MessageKind::call) {
    node = describe_callback(message, carrier);
    (void)answer_callback(message, carrier);
  } else {
    node = describe_reply(message, &call, carrier);
  }
  if (!read_node(to_text(node))) std::abort();
}

}  // namespace
}  // namespace nfsrdma::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  nfsrdma::lab::Arrived message;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  message.bytes.assign(bytes.begin(), bytes.end());
  const bool rdma = data[0] % 2 == 0;
  nfsrdma::fuzz::describe(message,
                          rdma ? nfsrdma::lab::Carrier::iwarp : nfsrdma::lab::Carrier::tcp);
  (void)nfsrdma::lab::script::describe_private_data(bytes);
  return 0;
}
