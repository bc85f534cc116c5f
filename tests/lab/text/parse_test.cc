// Parse is the inverse of Print for the arguments and results of every operation.
#include "tests/lab/text/parse.h"

#include <gtest/gtest.h>

#include "tests/lab/text/operations.h"
#include "tests/oracle/random.h"
#include "tests/proto/print.h"
#include "tests/support/unreduced.h"

namespace nfsrdma::lab {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes encoded(const T& value) {
  Bytes memory(64 * 1024);
  xdr::Encoder out(memory);
  nfs4::encode(out, value);
  EXPECT_TRUE(out.ok());
  return testing_support::unreduced(out);
}

/// Random values, their text, and what is read from that text.
template <class T>
void round_trip(std::string_view name) {
  oracle::Random random(4711);
  for (int i = 0; i < 100; ++i) {
    T value;
    random.fill(value);
    const std::string text = nfs4::print(value, nfs4::kMaxData);
    const auto node = read_node(text);
    ASSERT_TRUE(node) << name << ' ' << text << ' ' << node.error().detail;
    EXPECT_EQ(to_text(*node), text) << name;
    T again;
    TextMemory memory;
    const auto parsed = parse(*node, again, memory);
    ASSERT_TRUE(parsed) << name << ' ' << text << ' ' << parsed.error().detail;
    EXPECT_EQ(encoded(again), encoded(value)) << name << ' ' << text;
  }
}

TEST(ParseTest, IsTheInverseOfPrintForEveryOperation) {
  nfs4::Operations::for_each([]<class Op>(Op) {
    round_trip<typename Op::Args>(nfs4::operation_name(Op::Args::opnum));
    round_trip<typename Op::Res>(nfs4::operation_name(Op::Res::opnum));
  });
}

TEST(ParseTest, IsTheInverseOfPrintForEveryCallback) {
  nfs4::CallbackOperations::for_each([]<class Op>(Op) {
    round_trip<typename Op::Args>(nfs4::operation_name(Op::Args::opnum));
    round_trip<typename Op::Res>(nfs4::operation_name(Op::Res::opnum));
  });
}

template <class T>
std::string printed(std::string_view text) {
  T value;
  TextMemory memory;
  const auto parsed = parse(*read_node(text), value, memory);
  return parsed ? nfs4::print(value) : parsed.error().detail;
}

TEST(ParseTest, TakesWhatPeopleWrite) {
  EXPECT_EQ(printed<nfs4::LOOKUP4args>("\"f\""), "{objname=\"f\"}");
  EXPECT_EQ(printed<nfs4::READ4args>("{count=4K}"),
            "{stateid={seqid=0 other=0x000000000000000000000000} offset=0 count=4096}");
  EXPECT_EQ(printed<nfs4::GETATTR4args>("[size mode 0x80000000]"), "{attr_request=[2147483664 2]}");
  EXPECT_EQ(printed<nfs4::ACCESS4args>("ACCESS4_READ|ACCESS4_EXECUTE"), "{access=33}");
  EXPECT_EQ(printed<nfs4::READLINK4res>("NFS4ERR_IO"), "{status=NFS4ERR_IO}");
  EXPECT_EQ(printed<nfs4::PUTFH4args>("\"ab\""), "{object=0x6162}");
  EXPECT_EQ(printed<nfs4::verifier4>("0x01"), "0x0100000000000000");
  EXPECT_EQ(printed<nfs4::WRITE4args>("{data={length=3 fill=0xab}}"),
            "{stateid={seqid=0 other=0x000000000000000000000000} offset=0 stable=0 data=0xababab}");
}

TEST(ParseTest, AttributesHaveNames) {
  const auto named = [](const char* text) {
    auto node = read_node(text);
    name_attributes(*node);
    return to_text(*node);
  };
  EXPECT_EQ(named("{attr_request=[26 2]}"), "{attr_request=[type change size mode]}");
  EXPECT_EQ(named("{obj_attributes={attrmask=[16] attr_vals=0x}}"),
            "{obj_attributes={attrmask=[size] attr_vals=0x}}");
  // No attribute of NFSv4.1; no bitmap of attributes.
  EXPECT_EQ(named("{attr_request=[16 2 0x80000000]}"), "{attr_request=[size mode 0 0 2147483648]}");
  EXPECT_EQ(named("{spo_must_allow=[26 2]}"), "{spo_must_allow=[26 2]}");
  for (const char* text : {"[26 2]", "[16 2 2147483648]", "[0 0 1]", "[]"}) {
    auto node = read_node("{attr_request=" + std::string(text) + "}");
    const auto before = printed<nfs4::GETATTR4args>(to_text(*node));
    name_attributes(*node);
    EXPECT_EQ(printed<nfs4::GETATTR4args>(to_text(*node)), before);
  }
}

TEST(ParseTest, SaysWhatIsWrong) {
  EXPECT_EQ(printed<nfs4::READ4args>("{count=4096\nsize=1}"), "1: size is no field here");
  EXPECT_EQ(printed<nfs4::READ4args>("{count=many}"), "1: many is no number, and no name of one");
  EXPECT_EQ(printed<nfs4::READLINK4res>("ENOSPC"),
            "1: ENOSPC is no number, and no name of one: did you mean NFS4ERR_NOSPC?");
  EXPECT_EQ(printed<nfs4::READ4args>("{count=0x100000000}"), "1: 0x100000000 is too large");
  EXPECT_EQ(printed<nfs4::PUTROOTFH4args>("7"), "1: 7 is no record {FIELD=VALUE ...}");
  EXPECT_EQ(printed<nfs4::verifier4>("0x010203040506070809"),
            "1: 0x010203040506070809 is too long");
  EXPECT_EQ(printed<nfs4::LOOKUP4args>("{objname=f}"),
            "1: f must be 0xHEX, \"TEXT\" or {length=N fill=BYTE}");
  EXPECT_EQ(printed<nfs4::READ4res>("{status=NFS4_OK resok4={eof=yes}}"),
            "1: yes must be true or false");
  EXPECT_EQ(printed<nfs4::GETATTR4args>("[1 2 3 4]"),
            "1: [1 2 3 4] has more words than NFSv4.1 has attributes");
}

/// What an operation's text is on the wire, as hexadecimal, or the error.
std::string on_the_wire(std::string_view text) {
  const auto tokens = read_tokens(text);
  Tokens at(*tokens);
  auto operation = read_operation(at);
  if (!operation) return operation.error().detail;
  Bytes bytes(64 * 1024);
  xdr::Encoder out(bytes);
  TextMemory memory;
  const auto done = encode_operation(out, *operation, memory);
  return done ? to_hex(testing_support::unreduced(out)) : done.error().detail;
}

TEST(OperationsTest, EncodesByName) {
  EXPECT_EQ(on_the_wire("PUTROOTFH"), "0x00000018");
  EXPECT_EQ(on_the_wire("PUTROOTFH LOOKUP \"f\""), "0x00000018");
  EXPECT_EQ(on_the_wire("LOOKUP \"f\""), "0x0000000f0000000166000000");
  EXPECT_EQ(on_the_wire("OP {number=77 body=0x01020304}"), "0x0000004d01020304");
  EXPECT_EQ(on_the_wire("FROBNICATE"), "1: there is no operation FROBNICATE");
  EXPECT_EQ(on_the_wire("write"), "1: there is no operation write: did you mean WRITE?");
  EXPECT_EQ(on_the_wire("LOKUP"), "1: there is no operation LOKUP: did you mean LOOKUP?");
  EXPECT_EQ(on_the_wire("LOOKUP {objname={length=5000}}"),
            "1: LOOKUP is too long, or a value is none of the protocol");
}

TEST(OperationsTest, DecodesResultsOfACompound) {
  const auto bytes = to_bytes(
      "0x00000000"
      "00000000"
      "00000003"
      "00000018"
      "00000000"
      "0000273c"
      "0000273c"
      "00000019"
      "00000000"
      "00000001"
      "00000002"
      "61620000");
  xdr::Decoder in(*bytes);
  EXPECT_EQ(to_text(decode_results(in)),
            "{status=NFS4_OK tag=\"\" PUTROOTFH={status=NFS4_OK} "
            "ILLEGAL={status=NFS4ERR_OP_ILLEGAL} "
            "READ={status=NFS4_OK resok4={eof=true data=0x6162}}}");
}

TEST(OperationsTest, TellsWhereResultsCannotBeRead) {
  const auto cut = to_bytes(
      "0x00000000"
      "00000000"
      "00000002"
      "00000018"
      "00000000");
  xdr::Decoder in(*cut);
  EXPECT_EQ(
      to_text(decode_results(in)),
      "{status=NFS4_OK tag=\"\" PUTROOTFH={status=NFS4_OK} malformed=\"opnum at offset 20\"}");
  const auto unknown = to_bytes(
      "0x00000000"
      "00000000"
      "00000001"
      "0000004d"
      "00000000"
      "ffffffff");
  xdr::Decoder other(*unknown);
  EXPECT_EQ(to_text(decode_results(other)), "{status=NFS4_OK tag=\"\" 77=0x00000000ffffffff}");
}

}  // namespace
}  // namespace nfsrdma::lab
