#include "tests/lab/import/operation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tests/lab/text/node.h"

namespace nfsrdma::lab::import {
namespace {

/// Data that goes inline beside header and arguments in a Send of 4096 bytes.
constexpr std::uint64_t kMostInline = 3400;
constexpr std::size_t kLongestName = 200;
constexpr std::string_view kOpen =
    R"(PUTFH $root OPEN {{share_access=0x403 owner={{clientid=$client.eir_clientid owner="{}"}} )"
    R"(openhow={{opentype=OPEN4_CREATE how={{mode=UNCHECKED4}}}} claim={{claim=CLAIM_NULL file={}}}}} GETFH)";
constexpr std::string_view kAttributes = "GETATTR [type change size fileid time_modify]";

std::string quoted(const std::string& name) {
  return to_text(Node::quoted("import." + name.substr(0, kLongestName)));
}

std::string file_name(std::size_t number) { return fmt::format("\"import-{}\"", number); }

std::string segments(const std::vector<std::uint64_t>& lengths) {
  std::string text;
  std::size_t i = 0;
  while (i < lengths.size()) {
    const auto same = std::find_if(lengths.begin() + static_cast<std::ptrdiff_t>(i), lengths.end(),
                                   [&](std::uint64_t each) { return each != lengths[i]; });
    const auto times = static_cast<std::size_t>(same - lengths.begin()) - i;
    text += fmt::format("{}seg {}", text.empty() ? "" : " ", std::min(lengths[i], kLongest));
    if (times > 1) text += fmt::format(" times={}", times);
    i += times;
  }
  return text;
}

std::uint64_t sum(const std::vector<std::uint64_t>& lengths) {
  std::uint64_t total = 0;
  for (const std::uint64_t each : lengths) total += std::min(each, kLongest);
  return total;
}

/// What the whole call offers may be more than a script may expose.
bool is_too_much(const Marshalled& rdma) {
  return sum(rdma.reads) > kLongest || sum(rdma.writes) > kLongest || sum(rdma.reply) > kLongest;
}

/// The options of "send".
std::string chunks(const Request& request) {
  const Marshalled& rdma = *request.rdma;
  std::string text;
  if (rdma.long_call) {
    text += fmt::format(" proc=NOMSG read=[pos=0 {} seg 4096]", segments(rdma.reads));
  } else if (request.procedure == "WRITE" && !rdma.reads.empty()) {
    text += fmt::format(" read=[payload {}]", segments(rdma.reads));
  } else if (request.procedure == "WRITE" && request.count > kMostInline) {
    text += " read=[payload]";
  }
  if (!rdma.writes.empty()) text += fmt::format(" write=[[{}]]", segments(rdma.writes));
  if (!rdma.reply.empty()) text += fmt::format(" reply=[{}]", segments(rdma.reply));
  return text;
}

std::string operations(const Request& request) {
  const std::string handle = fmt::format("PUTFH $f{}", request.file);
  const std::string stateid = fmt::format("stateid=$o{}.OPEN.resok4.stateid", request.file);
  const std::uint64_t count = std::min(request.count, kLongest);
  const std::string& call = request.procedure;
  if (call == "READ") {
    return fmt::format("{} READ {{{} offset={} count={}}}", handle, stateid, request.offset, count);
  }
  if (call == "WRITE") {
    return fmt::format("{} WRITE {{{} offset={} data={{length={} fill=0x41}}}} {}", handle, stateid,
                       request.offset, count, kAttributes);
  }
  if (call == "COMMIT") return fmt::format("{} COMMIT {{offset=0 count=0}}", handle);
  if (call == "GETATTR") return fmt::format("{} {}", handle, kAttributes);
  if (call == "ACCESS") return fmt::format("{} ACCESS 0x3f {}", handle, kAttributes);
  if (call == "OPEN" || call == "OPEN_NOATTR") {
    const std::string file = request.name.empty() ? file_name(request.file) : quoted(request.name);
    return fmt::format(fmt::runtime(kOpen), "import-open", file);
  }
  const std::string name = quoted(request.name.empty() ? "name" : request.name);
  if (call == "LOOKUP") return fmt::format("PUTFH $root LOOKUP {} GETFH {}", name, kAttributes);
  if (call == "READDIR") {
    return "PUTFH $root READDIR {dircount=32K maxcount=128K attr_request=[type fileid]}";
  }
  if (call == "CREATE") {
    return fmt::format("PUTFH $root CREATE {{objtype={{type=NF4DIR}} objname={}}} GETFH", name);
  }
  if (call == "SYMLINK") {
    return fmt::format(
        "PUTFH $root CREATE {{objtype={{type=NF4LNK linkdata={{length={} fill=0x61}}}} "
        "objname={}}}",
        std::clamp<std::uint64_t>(count, 1, kMostInline), name);
  }
  if (call == "READLINK") return fmt::format("PUTFH $root LOOKUP {} READLINK", name);
  if (call == "REMOVE") return fmt::format("PUTFH $root REMOVE {}", name);
  if (call == "RENAME") {
    const std::string to = quoted(request.new_name.empty() ? "renamed" : request.new_name);
    return fmt::format("PUTFH $root SAVEFH RENAME {{oldname={} newname={}}}", name, to);
  }
  if (call == "SEQUENCE" || call == "RENEW") return "PUTROOTFH";
  if (call == "STATFS" || call == "FSINFO" || call == "PATHCONF" || call == "SERVER_CAPS") {
    return "PUTFH $root GETATTR [supported_attrs maxread maxwrite maxname]";
  }
  return {};
}

}  // namespace

std::string make_file(std::size_t number, std::uint64_t size) {
  const std::string open =
      fmt::format(fmt::runtime(kOpen), fmt::format("import-{}", number), file_name(number));
  std::string text =
      fmt::format("compound slot=0 {{ {} }} -> o{}\nlet f{} = $o{}.GETFH.resok4.object\n", open,
                  number, number, number);
  if (size == 0) return text;
  return text + fmt::format(
                    "compound slot=0 {{ PUTFH $f{} WRITE {{stateid=$o{}.OPEN.resok4.stateid "
                    "offset={} stable=FILE_SYNC4 data=\"A\"}} }}\n",
                    number, number, size - 1);
}

std::string to_statement(const Request& request) {
  const std::string all = operations(request);
  if (all.empty()) return {};
  const bool rdma = request.rdma != nullptr && !is_too_much(*request.rdma);
  return fmt::format("{} slot=0{} {{ {} }}", rdma ? "send" : "compound",
                     rdma ? chunks(request) : std::string(), all);
}

std::string main_operation(const std::string& procedure) {
  if (procedure == "OPEN_NOATTR") return "OPEN";
  if (procedure == "SYMLINK") return "CREATE";
  constexpr std::array kSame = {"READ", "WRITE", "COMMIT", "GETATTR", "ACCESS", "OPEN", "READDIR"};
  return std::ranges::find(kSame, procedure) != kSame.end() ? procedure : std::string();
}

}  // namespace nfsrdma::lab::import
