// RPC-over-RDMA headers of versions 1 and 2 against libtirpc, and against damage.
#include <gtest/gtest.h>

#include <random>

#include "tests/oracle/rdma_text.h"
#include "tests/oracle/recode.h"

namespace nfsrdma::oracle {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kSeed = 8166;
constexpr int kHeaders = 500;
constexpr int kDamagedHeaders = 20;
constexpr std::size_t kRoom = 16 * 1024;

/// Random headers of version 1.
struct VersionOne {
  using Header = rdma::Header;
  static constexpr const char* kType = "rdma_msg";
  static constexpr std::uint32_t kNumber = rdma::kVersionOne;

  static void choose_kind(Header& header, std::mt19937_64& engine) {
    constexpr rdma::rdma_proc kKinds[] = {rdma::RDMA_MSG, rdma::RDMA_NOMSG, rdma::RDMA_ERROR};
    header.proc = kKinds[engine() % std::size(kKinds)];
    header.error = {engine() % 2 ? rdma::ERR_VERS : rdma::ERR_CHUNK, 0, 0};
    if (header.error.err == rdma::ERR_CHUNK) return;
    header.error.rdma_vers_low = static_cast<std::uint32_t>(engine());
    header.error.rdma_vers_high = static_cast<std::uint32_t>(engine());
  }
  static bool decode(xdr::Decoder& in, Header& header) {
    return decode_header(in, header) == rdma::HeaderFault::none;
  }
};

/// Random headers of version 2.
struct VersionTwo {
  using Header = rdma::Header;
  static constexpr const char* kType = "rpcrdma2_xprt_hdr";
  static constexpr std::uint32_t kNumber = rdma::kVersionTwo;

  static void choose_kind(Header& header, std::mt19937_64& engine) {
    constexpr rdma::rdma_proc kKinds[] = {rdma::RDMA_MSG, rdma::RDMA_NOMSG, rdma::RDMA_ERROR,
                                          rdma::RDMA_OPTIONAL};
    static constexpr std::array<std::byte, 64> kInfo = [] {
      std::array<std::byte, 64> bytes{};
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
      return bytes;
    }();
    header.proc = kKinds[engine() % std::size(kKinds)];
    header.error = {static_cast<rdma::rpc_rdma_errcode>(1 + engine() % 3), 0, 0};
    header.optional.rdma_opttype = static_cast<std::uint32_t>(engine());
    header.optional.rdma_optinfo = std::span(kInfo).first(engine() % (kInfo.size() + 1));
    if (header.error.err != rdma::ERR_VERS) return;
    header.error.rdma_vers_low = static_cast<std::uint32_t>(engine());
    header.error.rdma_vers_high = static_cast<std::uint32_t>(engine());
  }
  static bool decode(xdr::Decoder& in, Header& header) {
    return decode_header(in, header, {kNumber, kNumber}) == rdma::HeaderFault::none;
  }
};

fabric::Segment random_segment(std::mt19937_64& engine) {
  return {static_cast<std::uint32_t>(engine()), static_cast<std::uint32_t>(engine()), engine()};
}

void fill_chunk(rdma::WriteChunk& chunk, std::mt19937_64& engine) {
  chunk.count = 0;
  for (auto i = engine() % (rdma::kMaxSegments + 1); i > 0; --i) chunk.add(random_segment(engine));
}

/// Lists of 0 to 3 entries each, with chunks of 0 to 16 segments.
void fill_lists(rdma::ChunkLists& lists, std::mt19937_64& engine) {
  constexpr std::uint64_t kMostEntries = 3;
  constexpr std::uint32_t kPositions = 1000;
  lists.reset();
  for (auto i = engine() % (kMostEntries + 1); i > 0; --i) {
    const auto position = static_cast<std::uint32_t>(engine() % kPositions * xdr::kUnit);
    lists.add_read(position, random_segment(engine));
  }
  for (auto i = engine() % (kMostEntries + 1); i > 0; --i) fill_chunk(*lists.add_write(), engine);
  lists.has_reply = engine() % 2 == 1;
  if (lists.has_reply) fill_chunk(lists.rdma_reply, engine);
}

template <class Version>
class RdmaHeader : public testing::Test {
 protected:
  using Header = typename Version::Header;

  /// A random header that a receiver accepts (RDMA_NOMSG has at least one chunk).
  Bytes next() {
    header_ = std::make_unique<Header>();
    header_->rdma_vers = Version::kNumber;
    header_->rdma_xid = static_cast<std::uint32_t>(engine_());
    header_->rdma_credit = static_cast<std::uint32_t>(engine_());
    Version::choose_kind(*header_, engine_);
    do {
      fill_lists(header_->chunks, engine_);
    } while (header_->chunks.all_absent());
    return encoded(*header_);
  }
  static Bytes encoded(const Header& header) {
    Bytes memory(kRoom);
    xdr::Encoder out(memory);
    encode_header(out, header);
    EXPECT_TRUE(out.ok());
    memory.resize(out.size());
    return memory;
  }

  std::mt19937_64 engine_{kSeed};
  std::unique_ptr<Header> header_;  // of the last next()
};

using Versions = testing::Types<VersionOne, VersionTwo>;
TYPED_TEST_SUITE(RdmaHeader, Versions);

// V1-4-1, V1-4.1-1, V1-4.2-1, V2-4.2-1, V2-4.2-2
TYPED_TEST(RdmaHeader, LibtirpcFindsOurValuesInOurBytes) {
  for (int i = 0; i < kHeaders; ++i) {
    const Bytes bytes = this->next();
    const Recoded theirs = recode(TypeParam::kType, bytes);
    ASSERT_TRUE(theirs.decoded);
    ASSERT_EQ(theirs.consumed, bytes.size());
    ASSERT_EQ(theirs.text, text_of(*this->header_));
    ASSERT_EQ(theirs.encoded, bytes);
  }
}

// The decoder stops exactly behind the header, where the Payload stream starts.
TYPED_TEST(RdmaHeader, WeFindTheSameValueInLibtirpcsBytes) {
  for (int i = 0; i < kHeaders; ++i) {
    const Recoded theirs = recode(TypeParam::kType, this->next());
    Bytes with_payload = theirs.encoded;
    with_payload.resize(with_payload.size() + xdr::kUnit, std::byte{0xff});
    xdr::Decoder in(with_payload);
    const auto ours = std::make_unique<typename TypeParam::Header>();
    ASSERT_TRUE(TypeParam::decode(in, *ours)) << in.error("header").message();
    ASSERT_EQ(in.offset(), theirs.encoded.size());
    ASSERT_EQ(text_of(*ours), text_of(*this->header_));
  }
}

TYPED_TEST(RdmaHeader, EveryTruncationIsAFault) {
  for (int i = 0; i < kDamagedHeaders; ++i) {
    const Bytes bytes = this->next();
    const auto ours = std::make_unique<typename TypeParam::Header>();
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const Bytes shorter(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      xdr::Decoder in(shorter);
      ASSERT_FALSE(TypeParam::decode(in, *ours)) << "cut to " << length;
    }
  }
}

TYPED_TEST(RdmaHeader, EveryDamagedByteGivesAFaultOrAHeader) {
  int faults = 0;
  for (int i = 0; i < kDamagedHeaders; ++i) {
    const Bytes bytes = this->next();
    const auto ours = std::make_unique<typename TypeParam::Header>();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      Bytes damaged = bytes;
      damaged[at] ^= std::byte{0xff};
      xdr::Decoder in(damaged);
      const bool accepted = TypeParam::decode(in, *ours);
      faults += accepted ? 0 : 1;
      ASSERT_LE(in.offset(), damaged.size());
    }
  }
  EXPECT_GT(faults, 0);
}

// V1-4.3-1: absent lists are one zero word each.
TEST(RdmaHeaderSizes, AreThoseOfTheStandard) {
  auto header = std::make_unique<rdma::Header>();
  header->chunks.reset();
  Bytes memory(kRoom);
  const auto size = [&] {
    xdr::Encoder out(memory);
    encode_header(out, *header);
    return out.size();
  };
  EXPECT_EQ(size(), 28U);
  header->proc = rdma::RDMA_ERROR;
  header->error = {rdma::ERR_VERS, 1, 1};
  EXPECT_EQ(size(), 28U);
  header->error = {rdma::ERR_CHUNK, 0, 0};
  EXPECT_EQ(size(), 20U);
}

/// A CONNPROP with the three basic properties, word by word.
constexpr std::uint32_t kConnprop[] = {
    0x01020304, 2,  32,   5,  // xid, vers, credit, RDMA_OPTIONAL
    1,          48,           // ROPT_CONNPROP, bytes of optinfo
    3,                        // properties
    1,          4,  4096,     // PROP_RBSIZ
    2,          4,  1,        // PROP_REQREMINV: true
    3,          4,  1,        // PROP_BRS: BKREQSUP_INLINE
    1,          7,            // opticonnpr_nochg: one word, all three
};

Bytes words(std::span<const std::uint32_t> values) {
  Bytes memory(values.size() * xdr::kUnit);
  xdr::Encoder out(memory);
  for (const std::uint32_t value : values) out.u32(value);
  return memory;
}

// XP-2.1-1, XP-2.1-8, XP-5-1, V2-3.2-2, V2-4.2-3, F-21: the layout of optinfo, by rpcgen from the
// XDR of both drafts in one file, repaired: opttype and optinfo are those of version-two-00.
TEST(RdmaProperties, ConnpropIs72BytesWithItsOptinfoInside) {
  const Bytes message = words(kConnprop);
  EXPECT_EQ(message.size(), 72U);
  xdr::Decoder in(message);
  rdma::Header header;
  ASSERT_EQ(decode_header(in, header, {rdma::kVersionTwo, rdma::kVersionTwo}),
            rdma::HeaderFault::none);
  ASSERT_TRUE(in.finish("CONNPROP"));
  const Recoded info = recode("optinfo_connprop", header.optional.rdma_optinfo);
  ASSERT_TRUE(info.decoded);
  EXPECT_EQ(info.consumed, header.optional.rdma_optinfo.size());
  EXPECT_EQ(info.text,
            "{opticonnpr_start=[{pv_which=1 pv_data=0x00001000} {pv_which=2 pv_data=0x00000001} "
            "{pv_which=3 pv_data=0x00000001}] opticonnpr_nochg=[7]}");
}

}  // namespace
}  // namespace nfsrdma::oracle
