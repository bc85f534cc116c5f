#include "tests/lab/text/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "tests/proto/print.h"
#include "transport/base/similar.h"

namespace nfsrdma::lab {
namespace {

template <class F>
bool by_name(std::string_view name, F&& f) {
  bool found = false;
  nfs4::Operations::for_each([&]<class Op>(Op) {
    if (found || nfs4::operation_name(Op::Args::opnum) != name) return;
    found = true;
    f(Op{});
  });
  return found;
}

/// What is written behind OP.
struct AnyOperation {
  std::uint32_t number = 0;
  std::span<const std::byte> body;

  static void fields(auto& self, auto& visit) {
    visit("number", self.number);
    visit("body", self.body);
  }
};

Result<void> encode_unknown(xdr::Encoder& out, const Node& arguments, TextMemory& memory) {
  AnyOperation any;
  TRY(parse(arguments, any, memory));
  out.u32(any.number);
  if (std::byte* place = out.reserve(any.body.size())) {
    std::copy(any.body.begin(), any.body.end(), place);
  }
  return {};
}

template <class T>
Node as_node(const T& value) {
  auto node = read_node(nfs4::print(value, nfs4::kMaxData));
  return node ? std::move(*node) : Node::word("unreadable");
}

std::string why(const xdr::Decoder& in) { return in.error("decode").detail; }

/// The rest of the message, behind which nothing can be found.
void add_unknown(Node& all, xdr::Decoder& in, std::uint32_t number) {
  all.add(std::to_string(number), Node::word(to_hex(in.raw(in.remaining(), "unknown"))));
}

Node decode_result_of(xdr::Decoder& in, auto operation) {
  typename decltype(operation)::Res result;
  nfs4::decode(in, result);
  return as_node(result);
}

Node decode_arguments_of(xdr::Decoder& in, auto operation) {
  typename decltype(operation)::Args arguments;
  nfs4::decode(in, arguments);
  return as_node(arguments);
}

/// `one` decodes the body of an operation that is known; Opnum numbers those of List.
template <class List, class Opnum>
void decode_operations(Node& all, xdr::Decoder& in, std::uint32_t count, auto&& one) {
  for (std::uint32_t i = 0; i < count && i < nfs4::kMaxOperations && in.ok(); ++i) {
    const std::uint32_t number = in.u32("opnum");
    if (!in.ok()) break;
    if (number == nfs4::OP_ILLEGAL) {
      const std::uint32_t status = in.u32("status");
      const auto name = nfs4::status_name(static_cast<nfs4::nfsstat4>(status));
      Node illegal;
      illegal.add("status", name.empty() ? Node::number(status) : Node::word(std::string(name)));
      all.add("ILLEGAL", std::move(illegal));
      continue;
    }
    const auto opnum = static_cast<Opnum>(number);
    const bool known = List::dispatch(opnum, [&](auto operation) {
      Node body = one(in, operation);
      if (in.ok()) all.add(std::string(nfs4::operation_name(opnum)), std::move(body));
    });
    if (!known) return add_unknown(all, in, number);
  }
  if (in.ok()) (void)in.finish("COMPOUND");
  if (!in.ok()) all.add("malformed", Node::quoted(why(in)));
}

/// Names are written in capitals; empty: none is near.
std::string similar_operation(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  std::vector<std::string_view> names;
  nfs4::Operations::for_each(
      [&names]<class Op>(Op) { names.push_back(nfs4::operation_name(Op::Args::opnum)); });
  return std::string(most_similar(name, names));
}

}  // namespace

bool is_operation(std::string_view name) {
  return name == "OP" || by_name(name, [](auto) {});
}

Result<OperationText> read_operation(Tokens& tokens) {
  const Token name = tokens.take();
  if (name.kind != Token::Kind::word) {
    return wrong(name.line, "an operation's name is missing before " + name_of(name));
  }
  OperationText operation{name.text, {}, name.line};
  operation.arguments.line = name.line;
  if (!is_operation(name.text)) {
    const std::string meant = similar_operation(name.text);
    return wrong(name.line, "there is no operation " + name.text +
                                (meant.empty() ? "" : ": did you mean " + meant + "?"));
  }
  const Token& next = tokens.next();
  const bool has_value = next.kind == Token::Kind::text || next.is("{") || next.is("[") ||
                         (next.kind == Token::Kind::word && !is_operation(next.text));
  if (!has_value) return operation;
  auto arguments = read_node(tokens);
  if (!arguments) return fail_from(arguments);
  operation.arguments = std::move(*arguments);
  return operation;
}

Result<void> encode_operation(xdr::Encoder& out, const OperationText& operation,
                              TextMemory& memory) {
  Result<void> done;
  if (operation.name == "OP") {
    done = encode_unknown(out, operation.arguments, memory);
  } else {
    by_name(operation.name, [&]<class Op>(Op) {
      typename Op::Args arguments;
      done = parse(operation.arguments, arguments, memory);
      if (done) nfs4::encode_operation(out, arguments);
    });
  }
  if (done && !out.ok()) {
    return wrong(operation.line,
                 operation.name + " is too long, or a value is none of the protocol");
  }
  return done;
}

Node decode_results(xdr::Decoder& in) {
  Node all;
  nfs4::COMPOUND4res_header header;
  nfs4::decode(in, header);
  if (in.ok()) {
    all.add("status", Node::word(std::string(nfs4::status_name(header.status))));
    all.add("tag", Node::quoted(std::string(header.tag)));
  }
  decode_operations<nfs4::Operations, nfs4::nfs_opnum4>(
      all, in, header.operations,
      [](xdr::Decoder& from, auto op) { return decode_result_of(from, op); });
  return all;
}

Node decode_arguments(xdr::Decoder& in) {
  Node all;
  nfs4::COMPOUND4args_header header;
  nfs4::decode(in, header);
  if (in.ok()) {
    all.add("tag", Node::quoted(std::string(header.tag)));
    all.add("minorversion", Node::number(header.minorversion));
  }
  decode_operations<nfs4::Operations, nfs4::nfs_opnum4>(
      all, in, header.operations,
      [](xdr::Decoder& from, auto op) { return decode_arguments_of(from, op); });
  return all;
}

Node decode_callback_arguments(xdr::Decoder& in) {
  Node all;
  nfs4::CB_COMPOUND4args_header header;
  nfs4::decode(in, header);
  if (in.ok()) all.add("minorversion", Node::number(header.minorversion));
  decode_operations<nfs4::CallbackOperations, nfs4::nfs_cb_opnum4>(
      all, in, header.operations,
      [](xdr::Decoder& from, auto op) { return decode_arguments_of(from, op); });
  return all;
}

}  // namespace nfsrdma::lab
