// Attribute values against libtirpc, which knows each one's type as fattr4_<name> of nfs41.x.
#include <gtest/gtest.h>

#include "tests/oracle/random.h"
#include "tests/oracle/recode.h"
#include "tests/proto/print.h"
#include "tests/transport/base/allocations.h"

namespace nfsrdma::oracle {
namespace {

using nfs4::Attributes;
using nfs4::bitmap4;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kSeed = 8881;
constexpr int kValues = 300;
constexpr std::size_t kRoom = 16 * 1024;

Attributes random_attributes(Random& random, const bitmap4& present) {
  Attributes value;
  value.present = present;
  Attributes::attributes(value, [&](std::uint32_t number, const char* name, auto& field) {
    if (present.test(number)) random(name, field);
  });
  return value;
}

bitmap4 random_subset(Random& random) {
  bitmap4 bits;
  random("", bits);
  return bits & nfs4::known_attributes();
}

/// A whole fattr4, as bytes.
Bytes encoded(const Attributes& value, const bitmap4& wanted) {
  Bytes memory(kRoom);
  xdr::Encoder out(memory);
  EXPECT_TRUE(nfs4::encode_attributes(out, wanted, value));
  memory.resize(out.size());
  return memory;
}

/// Views `bytes`.
nfs4::fattr4 as_fattr4(const Bytes& bytes) {
  xdr::Decoder in(bytes);
  nfs4::fattr4 values;
  nfs4::decode(in, values);
  EXPECT_TRUE(in.finish("fattr4"));
  return values;
}

bitmap4 only(std::uint32_t number) { return bitmap4{number}; }

TEST(AttributesOracle, EachValueIsWhatLibtirpcWrites) {
  Random random(kSeed);
  for (int i = 0; i < kValues; ++i) {
    const Attributes value = random_attributes(random, nfs4::known_attributes());
    Attributes::attributes(value, [&](std::uint32_t number, const char* name, auto& field) {
      SCOPED_TRACE(name);
      const Bytes whole = encoded(value, only(number));
      const auto vals = as_fattr4(whole).attr_vals;
      const Recoded theirs = recode(std::string("fattr4_") + name, vals);
      ASSERT_TRUE(theirs.decoded);
      EXPECT_EQ(theirs.consumed, vals.size());
      EXPECT_TRUE(std::ranges::equal(theirs.encoded, vals));
      if constexpr (!std::is_same_v<decltype(field), const nfs4::Owner&>) {
        EXPECT_EQ(theirs.text, nfs4::print(field, kRoom));
      }
    });
  }
  EXPECT_EQ(random.arms_not_taken(), std::vector<std::string>{});
}

// Values of several attributes stand in ascending order of their numbers (RFC 8881 section 3.3.12).
TEST(AttributesOracle, ValuesStandInAscendingOrder) {
  Random random(kSeed);
  for (int i = 0; i < kValues; ++i) {
    const bitmap4 present = random_subset(random);
    const Bytes whole = encoded(random_attributes(random, present), present);
    const auto values = as_fattr4(whole);
    EXPECT_EQ(values.attrmask, present);
    std::size_t at = 0;
    for (std::uint32_t number = 0; number < bitmap4::kBits; ++number) {
      if (!present.test(number)) continue;
      const std::string type = std::string("fattr4_") + nfs4::attribute_name(number);
      const Recoded theirs = recode(type, values.attr_vals.subspan(at));
      ASSERT_TRUE(theirs.decoded) << type;
      at += theirs.consumed;
    }
    EXPECT_EQ(at, values.attr_vals.size());
  }
}

TEST(AttributesOracle, DecodingGivesBackWhatWasEncodedWithoutAllocating) {
  Random random(kSeed);
  for (int i = 0; i < kValues; ++i) {
    const bitmap4 present = random_subset(random);
    const Bytes whole = encoded(random_attributes(random, present), present);
    const auto values = as_fattr4(whole);
    const std::size_t before = testing_support::allocations();
    const auto decoded = nfs4::decode_attributes(values);
    EXPECT_EQ(testing_support::allocations(), before);
    ASSERT_TRUE(decoded) << decoded.error().message();
    EXPECT_EQ(decoded->present, present);
    EXPECT_EQ(encoded(*decoded, present), whole);
    EXPECT_LE(whole.size(), nfs4::max_attributes_size(present));
  }
}

TEST(Attributes, OnlyWhatIsWantedAndPresentIsEncoded) {
  Attributes value;
  value.present = {nfs4::FATTR4_TYPE, nfs4::FATTR4_SIZE};
  const Bytes whole = encoded(value, {nfs4::FATTR4_SIZE, nfs4::FATTR4_MODE});
  EXPECT_EQ(as_fattr4(whole).attrmask, only(nfs4::FATTR4_SIZE));
}

TEST(Attributes, ThatDoNotFitAreNotEncoded) {
  Attributes value;
  value.present = {nfs4::FATTR4_SIZE};
  Bytes memory(encoded(value, value.present).size() - 1);
  xdr::Encoder out(memory);
  EXPECT_FALSE(nfs4::encode_attributes(out, value.present, value));
}

TEST(Attributes, WithoutAFieldAreAFaultThatNamesTheirNumber) {
  const bitmap4 known = nfs4::known_attributes();
  int unknown = 0;
  for (std::uint32_t number = 0; number < bitmap4::kBits; ++number) {
    if (known.test(number)) continue;
    ++unknown;
    const auto decoded = nfs4::decode_attributes({only(number), {}});
    ASSERT_FALSE(decoded) << number;
    EXPECT_EQ(decoded.error().layer, Layer::decode);
    EXPECT_NE(decoded.error().message().find("attribute " + std::to_string(number)),
              std::string::npos)
        << decoded.error().message();
  }
  EXPECT_GT(unknown, 0);
}

TEST(Attributes, ValuesCutShortOrWithMoreBehindThemAreFaults) {
  Random random(kSeed);
  const bitmap4 known = nfs4::known_attributes();
  const Bytes whole = encoded(random_attributes(random, known), known);
  const auto values = as_fattr4(whole);
  for (std::size_t length = 0; length < values.attr_vals.size(); ++length) {
    const Bytes shorter(values.attr_vals.begin(),
                        values.attr_vals.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_FALSE(nfs4::decode_attributes({known, shorter})) << "cut to " << length;
  }
  Bytes longer(values.attr_vals.begin(), values.attr_vals.end());
  longer.resize(longer.size() + xdr::kUnit);
  const auto decoded = nfs4::decode_attributes({known, longer});
  ASSERT_FALSE(decoded);
  EXPECT_TRUE(decoded.error().is(Layer::decode, static_cast<int>(xdr::Fault::trailing)));
}

TEST(Attributes, EveryDamagedByteGivesAFaultOrValues) {
  Random random(kSeed);
  const bitmap4 known = nfs4::known_attributes();
  const Bytes whole = encoded(random_attributes(random, known), known);
  const auto values = as_fattr4(whole);
  int faults = 0;
  for (std::size_t at = 0; at < values.attr_vals.size(); ++at) {
    Bytes damaged(values.attr_vals.begin(), values.attr_vals.end());
    damaged[at] ^= std::byte{0x80};
    const auto decoded = nfs4::decode_attributes({known, damaged});
    faults += decoded ? 0 : 1;
    if (decoded) {
      EXPECT_EQ(decoded->present, known);
    }
  }
  EXPECT_GT(faults, 0);
}

struct OwnerCase {
  const char* text;
  bool numeric;
  std::uint32_t id;
};

// RFC 8881 section 5.9: decimal digits without leading zeros are an id, all else is a name.
TEST(Attributes, OwnersAreNumbersOrNames) {
  constexpr OwnerCase kCases[] = {
      {"0", true, 0},    {"1000", true, 1000},     {"4294967295", true, 4294967295U},
      {"007", false, 0}, {"4294967296", false, 0}, {"-1", false, 0},
      {"", false, 0},    {"10x", false, 0},        {"root@example.org", false, 0},
  };
  for (const auto& expected : kCases) {
    SCOPED_TRACE(expected.text);
    Bytes memory(kRoom);
    xdr::Encoder out(memory);
    out.string(expected.text);
    xdr::Decoder in(out.encoded());
    nfs4::Owner owner;
    owner.decode_from(in, "owner");
    ASSERT_TRUE(in.finish("owner"));
    EXPECT_EQ(owner.numeric, expected.numeric);
    if (expected.numeric) {
      EXPECT_EQ(owner.id, expected.id);
    }
    if (!expected.numeric) {
      EXPECT_EQ(owner.name, expected.text);
    }
  }
}

}  // namespace
}  // namespace nfsrdma::oracle
