// The version 1 header and its chunk lists, byte by byte.
#include "transport/rdma/header.h"

#include <gtest/gtest.h>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::rdma {
namespace {

using test::Bytes;
using test::encode;
using test::parse;
using test::words;

const fabric::Segment kSegment{.handle = 0xAABBCCDD, .length = 5, .offset = 0xFFFFFFFFFFFFF000};

Bytes fixed_words(rdma_proc proc) { return words({7, 1, 32, proc}); }

Bytes joined(Bytes head, const Bytes& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

Bytes with_lists(rdma_proc proc, std::initializer_list<std::uint32_t> lists) {
  return joined(fixed_words(proc), words(lists));
}

// V1-4.7-3, V1-4.3-1, V1-4-1, V1-4.1-1: three zero words after the fixed fields.
TEST(Header, NoChunksAre28Bytes) {
  Header header;
  header.rdma_xid = 7;
  header.rdma_credit = 32;
  EXPECT_EQ(encode(header), with_lists(RDMA_MSG, {0, 0, 0}));
  EXPECT_EQ(kMinHeader, 28u);
  EXPECT_EQ(header_size(header.chunks), 28u);
}

// V1-4.7-1, V1-3.4.5-1, V1-3.4.3-1, V1-2.3.2-1: 1 PHLOO 1 PHLOO 0.
TEST(Header, ReadListVector) {
  Header header;
  header.rdma_xid = 7;
  header.rdma_credit = 32;
  header.chunks.add_read(132, kSegment);
  header.chunks.add_read(132, {.handle = 2, .length = 7, .offset = 3});
  const Bytes wire = with_lists(RDMA_MSG, {1, 132, 0xAABBCCDD, 5, 0xFFFFFFFF, 0xFFFFF000,  //
                                           1, 132, 2, 7, 0, 3,                             //
                                           0, 0, 0});
  EXPECT_EQ(encode(header), wire);
  EXPECT_EQ(header_size(header.chunks), wire.size());
  const auto seen = parse(wire);
  ASSERT_EQ(seen->fault, HeaderFault::none);
  EXPECT_EQ(seen->header.chunks.read_chunk_length(132), 12u);
  EXPECT_EQ(seen->header.chunks.rdma_reads()[0].target.offset, kSegment.offset);
}

// V1-4.7-2, V1-3.4.6-1, V1-4.1-1: 1 n HLOO.. 1 m HLOO.. 0; Reply chunk 1 n HLOO.
TEST(Header, WriteListAndReplyChunkVector) {
  Header header;
  header.rdma_xid = 7;
  header.rdma_credit = 32;
  header.proc = RDMA_NOMSG;
  WriteChunk* first = header.chunks.add_write();
  first->add(kSegment);
  first->add({.handle = 1, .length = 2, .offset = 3});
  header.chunks.add_write();  // an empty chunk
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add({.handle = 4, .length = 5, .offset = 6});
  const Bytes wire = with_lists(RDMA_NOMSG, {0,                                            //
                                             1, 2, 0xAABBCCDD, 5, 0xFFFFFFFF, 0xFFFFF000,  //
                                             1, 2, 0,          3,                          //
                                             1, 0,                                         //
                                             0,                                            //
                                             1, 1, 4,          5, 0,          6});
  EXPECT_EQ(encode(header), wire);
  EXPECT_EQ(header_size(header.chunks), wire.size());
  const auto seen = parse(wire);
  ASSERT_EQ(seen->fault, HeaderFault::none);
  ASSERT_EQ(seen->header.chunks.write_count, 2u);
  EXPECT_EQ(seen->header.chunks.write_entries[0].length(), 7u);
  EXPECT_EQ(seen->header.chunks.write_entries[1].count, 0u);
}

// V1-3.4.6-6: an empty and an unused chunk are different things.
TEST(Header, EmptyAndUnusedChunksStayApart) {
  const auto seen = parse(with_lists(RDMA_MSG, {0, 1, 0, 1, 1, 9, 0, 0, 0, 0, 0}));
  ASSERT_EQ(seen->fault, HeaderFault::none);
  EXPECT_EQ(seen->header.chunks.write_entries[0].count, 0u);
  EXPECT_EQ(seen->header.chunks.write_entries[1].count, 1u);
  EXPECT_EQ(seen->header.chunks.write_entries[1].length(), 0u);
}

// V1-4.2.4-2, B4-5.1-2: all eight combinations of lists parse, and the Payload follows directly.
TEST(Header, AllCombinationsOfListsRoundTrip) {
  for (int present = 0; present < 8; ++present) {
    Header header;
    if (present & 1) header.chunks.add_read(8, kSegment);
    if (present & 2) header.chunks.add_write()->add(kSegment);
    header.chunks.has_reply = (present & 4) != 0;
    if (header.chunks.has_reply) header.chunks.rdma_reply.add(kSegment);
    const auto seen = parse(encode(header, words({0x1234})));
    ASSERT_EQ(seen->fault, HeaderFault::none) << present;
    EXPECT_EQ(seen->payload, words({0x1234})) << present;
    EXPECT_EQ(encode(seen->header), encode(header)) << present;
  }
}

// V1-4.5-2, V1-4.2.4-4, F-3: the shortest message depends on its kind.
TEST(Header, ShortestMessageDependsOnTheKind) {
  const Bytes whole = with_lists(RDMA_MSG, {0, 0, 0});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(parse(Bytes(whole.begin(), whole.begin() + static_cast<long>(length)))->fault,
              HeaderFault::too_short)
        << length;
  }
  EXPECT_EQ(parse(with_lists(RDMA_ERROR, {ERR_CHUNK}))->fault, HeaderFault::none);
  EXPECT_EQ(parse(fixed_words(RDMA_ERROR))->fault, HeaderFault::too_short);
  EXPECT_EQ(parse(with_lists(RDMA_ERROR, {ERR_VERS, 1}))->fault, HeaderFault::too_short);
  const auto versions = parse(with_lists(RDMA_ERROR, {ERR_VERS, 1, 2}));
  ASSERT_EQ(versions->fault, HeaderFault::none);
  EXPECT_EQ(versions->header.error.rdma_vers_low, 1u);
  EXPECT_EQ(versions->header.error.rdma_vers_high, 2u);
}

// D05-4.2-1: the old form of ERR_CHUNK has eight more words.
TEST(Header, BytesAfterErrChunkAreIgnored) {
  const auto seen = parse(with_lists(RDMA_ERROR, {ERR_CHUNK, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(seen->fault, HeaderFault::none);
  EXPECT_EQ(seen->header.error.err, ERR_CHUNK);
}

// V1-4.2-1, V1-7-2, D05-5.3-1, F-20: fixed words and ERR_VERS are the same in every version.
TEST(Header, ErrorsParseWhateverTheirVersion) {
  const auto seen = parse(words({7, 99, 1, RDMA_ERROR, ERR_VERS, 3, 4}));
  ASSERT_EQ(seen->fault, HeaderFault::none);
  EXPECT_EQ(seen->header.rdma_vers, 99u);
  EXPECT_EQ(seen->header.error.rdma_vers_low, 3u);
}

// V1-4.2.2-1, V1-4.2-1
TEST(Header, OtherVersionsAreToldApart) {
  for (std::uint32_t version : {0u, 2u, 99u}) {
    const Bytes message = words({7, version, 1, RDMA_MSG, 0, 0, 0});
    xdr::Decoder in(message);
    Header header;
    EXPECT_EQ(decode_header(in, header), HeaderFault::version) << "takes version 1 alone";
    EXPECT_EQ(header.rdma_xid, 7u);
    EXPECT_EQ(header.rdma_vers, version);
  }
}

// V1-4.2.4-1, V1-7-1, F-10
TEST(Header, UndefinedKindsAreRejected) {
  EXPECT_EQ(parse(words({7, 1, 1, 5, 0, 0, 0}))->fault, HeaderFault::undefined_proc);
  EXPECT_EQ(parse(words({7, 1, 1, 0xFFFFFFFF, 0, 0, 0}))->fault, HeaderFault::undefined_proc);
  EXPECT_EQ(parse(words({7, 1, 1, RDMA_MSGP, 0, 0, 0, 0, 0}))->fault, HeaderFault::withdrawn_proc);
  EXPECT_EQ(parse(words({7, 1, 1, RDMA_DONE}))->fault, HeaderFault::withdrawn_proc);
}

// V1-4.2.4-3
TEST(Header, LongMessageWithoutListsIsMalformed) {
  EXPECT_EQ(parse(with_lists(RDMA_NOMSG, {0, 0, 0}))->fault, HeaderFault::malformed);
  EXPECT_EQ(parse(with_lists(RDMA_NOMSG, {0, 0, 1, 0}))->fault, HeaderFault::none);
}

// V1-4.5-7: an error code that is not defined.
TEST(Header, UndefinedErrorCodeIsMalformed) {
  EXPECT_EQ(parse(with_lists(RDMA_ERROR, {9}))->fault, HeaderFault::malformed);
}

// V1-3.4.5-3
TEST(Header, PositionsAreMultiplesOfFour) {
  EXPECT_EQ(parse(with_lists(RDMA_MSG, {1, 6, 1, 1, 0, 1, 0, 0, 0}))->fault,
            HeaderFault::malformed);
  EXPECT_EQ(parse(with_lists(RDMA_MSG, {1, 8, 1, 1, 0, 1, 0, 0, 0}))->fault, HeaderFault::none);
}

// V1-4.5-1: presence words are booleans.
TEST(Header, PresenceWordsAreBooleans) {
  EXPECT_EQ(parse(with_lists(RDMA_MSG, {2, 0, 0}))->fault, HeaderFault::malformed);
  EXPECT_EQ(parse(with_lists(RDMA_MSG, {0, 2, 0}))->fault, HeaderFault::malformed);
  EXPECT_EQ(parse(with_lists(RDMA_MSG, {0, 0, 2}))->fault, HeaderFault::malformed);
}

// V1-4.5-1, V1-3.5.3-9: lists are bounded, and nothing is read past the end.
TEST(Header, ListsAreBounded) {
  Header header;
  WriteChunk* chunk = header.chunks.add_write();
  for (std::size_t i = 0; i < kMaxSegments; ++i) EXPECT_TRUE(chunk->add(kSegment));
  EXPECT_FALSE(chunk->add(kSegment));
  EXPECT_EQ(parse(encode(header))->fault, HeaderFault::none);

  Bytes one_more = encode(header);
  one_more[kMinHeader - kChunkListsMin + 11] = std::byte{kMaxSegments + 1};  // the segment count
  EXPECT_EQ(parse(one_more)->fault, HeaderFault::malformed);

  Header reads;
  for (std::size_t i = 0; i < kMaxReadSegments; ++i)
    EXPECT_TRUE(reads.chunks.add_read(4, kSegment));
  EXPECT_FALSE(reads.chunks.add_read(4, kSegment));
  const Bytes full = encode(reads);
  EXPECT_EQ(parse(full)->fault, HeaderFault::none);
  Bytes too_long(full.begin(), full.end() - kChunkListsMin);
  too_long = joined(too_long, words({1, 4, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(parse(too_long)->fault, HeaderFault::malformed);
}

// V1-4.5-1: every truncation and every flipped byte of a full header is survived.
TEST(Header, SurvivesTruncationAndFlippedBytes) {
  Header header;
  header.chunks.add_read(0, kSegment);
  header.chunks.add_write()->add(kSegment);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(kSegment);
  const Bytes whole = encode(header);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto seen = parse(Bytes(whole.begin(), whole.begin() + static_cast<long>(length)));
    EXPECT_NE(seen->fault, HeaderFault::none) << length;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes flipped = whole;
    flipped[at] ^= std::byte{0xFF};
    const auto seen = parse(flipped);
    EXPECT_LE(seen->header.chunks.write_count, kMaxWriteChunks);
    EXPECT_LE(seen->header.chunks.read_count, kMaxReadSegments);
  }
}

}  // namespace
}  // namespace nfsrdma::rdma
