#include "tests/lab/rerun/words.h"

#include <fmt/format.h>
#include <linux/fuse.h>

#include <algorithm>

#include "fuse/channel/opcode.h"
#include "tests/lab/rerun/recorded_calls.h"
#include "tests/lab/text/node.h"
#include "tests/lab/text/operations.h"
#include "transport/rpc/message.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {
namespace {

using journal::Kind;

/// Of bytes that no other words are known for.
constexpr std::size_t kMostBytes = 64;
/// Of a message's operations.
constexpr std::size_t kMostWords = 2000;

std::string cut(std::string text) {
  if (text.size() > kMostWords) text.replace(kMostWords, std::string::npos, "...");
  return text;
}

std::string place_words(xdr::Decoder& in, const char* what) {
  const std::uint32_t connection = in.u32("connection");
  return fmt::format("{} {} of connection {}", what, in.u32("number"), connection);
}

std::string call_words(std::span<const std::byte> body) {
  xdr::Decoder in(body);
  std::string words = place_words(in, "call");
  in.opaque(SIZE_MAX, "message");
  const auto call = read_call(body, /*whole=*/true);
  if (!call) return words;
  words += fmt::format(": XID {:#010x}, user {}, {}", call->xid, call->uid, cut(call->words));
  const std::uint32_t items = in.u32("items");
  for (std::uint32_t i = 0; i < items && in.ok(); ++i) {
    in.u64("offset");
    const std::uint64_t size = in.u64("size");
    words += fmt::format(", {} bytes of data with hash {:016x}", size, in.u64("hash"));
  }
  const std::uint64_t sink = in.u64("sink");
  return words +
         fmt::format(", room for {} bytes of data and a reply of {}", sink, in.u64("reply"));
}

std::string call_done_words(xdr::Decoder& in) {
  std::string words = place_words(in, "end of call");
  for (const char* loss : {"total", "same fault", "last fault"}) in.u32(loss);
  if (in.u32("answered") == 0) {
    in.u32("layer");
    in.u32("code");
    words += fmt::format(": {}", in.string(SIZE_MAX, "step"));
    return words + fmt::format(" failed {}", in.string(SIZE_MAX, "detail"));
  }
  xdr::Decoder message(in.opaque(SIZE_MAX, "message"));
  message.raw(std::min(message.remaining(), rpc::kAcceptedReplyHeader), "header");
  return words + ": " + cut(to_text(decode_results(message)));
}

std::string request_words(xdr::Decoder& in) {
  const auto bytes = in.opaque(SIZE_MAX, "message");
  fuse_in_header header{};
  const auto begin = bytes.first(std::min(bytes.size(), sizeof header));
  std::ranges::copy(begin, std::as_writable_bytes(std::span(&header, 1)).begin());
  return fmt::format("request {}: {} of inode {} by process {} of user {}, {} bytes", header.unique,
                     fuse::opcode_name(header.opcode), header.nodeid, header.pid, header.uid,
                     bytes.size());
}

std::string answer_words(xdr::Decoder& in) {
  const std::uint64_t unique = in.u64("unique");
  const auto error = static_cast<std::int32_t>(in.u32("error"));
  const std::uint64_t size = in.u64("size");
  std::string words = fmt::format("answer to request {}: errno {}, {} bytes with hash {:016x}",
                                  unique, error, size, in.u64("hash"));
  if (in.remaining() == 0) return words;
  const auto body = in.opaque(SIZE_MAX, "body");
  return words + " " + to_hex(body.first(std::min(body.size(), 2 * kMostBytes)));
}

std::string seen_words(xdr::Decoder& in) {
  const std::string what(in.string(SIZE_MAX, "what"));
  const auto bytes = in.opaque(SIZE_MAX, "bytes");
  return fmt::format("look outside: {}: {}", what,
                     to_hex(bytes.first(std::min(bytes.size(), kMostBytes))));
}

}  // namespace

std::string to_words(const Entry& entry) {
  xdr::Decoder in(entry.body);
  switch (entry.kind) {
    case Kind::call: return call_words(entry.body);
    case Kind::call_done: return call_done_words(in);
    case Kind::request: return request_words(in);
    case Kind::answer: return answer_words(in);
    case Kind::seen: return seen_words(in);
    case Kind::entered:
      return fmt::format("{}: {}", kind_name(entry.kind), in.string(SIZE_MAX, "word"));
    case Kind::callback: return place_words(in, "callback");
    case Kind::callback_answer: return place_words(in, "answer to callback");
    default: break;
  }
  std::string words(kind_name(entry.kind));
  if (entry.body.empty()) return words;
  return words + ": " + to_hex(entry.body.first(std::min(entry.body.size(), kMostBytes)));
}

}  // namespace nfsrdma::lab::rerun
