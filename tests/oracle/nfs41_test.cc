// Every NFSv4.1 type against libtirpc, and against damage. Each test runs once for each type.
#include <gtest/gtest.h>

#include "tests/oracle/recode.h"
#include "tests/oracle/wire_type.h"

namespace nfsrdma::oracle {
namespace {

constexpr std::uint32_t kSeed = 5662;
constexpr int kValues = 300;        // of each type, for comparison
constexpr int kDamagedValues = 25;  // of each type, each damaged at every byte

class Nfs41 : public testing::TestWithParam<std::shared_ptr<const WireType>> {
 protected:
  const WireType& type() const { return *GetParam(); }

  /// Calls check(bytes, text) for `count` random values.
  template <class Check>
  void for_random_values(int count, Check&& check) {
    for (int i = 0; i < count && !HasFailure(); ++i) {
      std::string text;
      const Bytes bytes = type().random(random_, text);
      SCOPED_TRACE(text);
      check(bytes, text);
    }
  }

  Random random_{kSeed};
};

// Names, order, numbers and bytes are those of the .x file: libtirpc reads our bytes to the end,
// finds the same values under the same names, and writes the same bytes.
TEST_P(Nfs41, LibtirpcFindsOurValuesInOurBytes) {
  for_random_values(kValues, [&](const Bytes& bytes, const std::string& text) {
    const Recoded theirs = recode(type().name(), bytes);
    ASSERT_TRUE(theirs.decoded);
    EXPECT_EQ(theirs.consumed, bytes.size());
    EXPECT_EQ(theirs.text, text);
    EXPECT_EQ(theirs.encoded, bytes);
  });
  EXPECT_EQ(random_.arms_not_taken(), std::vector<std::string>{}) << "shapes without a test";
}

// What libtirpc writes, we read: the equal value, consuming exactly what was written, for each
// shape of each union and optional.
TEST_P(Nfs41, WeFindTheSameValueInLibtirpcsBytes) {
  for_random_values(kValues, [&](const Bytes& bytes, const std::string& text) {
    const Recoded theirs = recode(type().name(), bytes);
    ASSERT_TRUE(theirs.decoded);
    Bytes with_more = theirs.encoded;
    with_more.resize(with_more.size() + xdr::kUnit, std::byte{0xff});
    const Decoded ours = type().decode(with_more);
    ASSERT_TRUE(ours.ok) << ours.error.message();
    EXPECT_EQ(ours.consumed, theirs.encoded.size());
    EXPECT_EQ(ours.text, text);
    EXPECT_EQ(ours.encoded_again, theirs.encoded);
  });
  EXPECT_EQ(random_.arms_not_taken(), std::vector<std::string>{}) << "shapes without a test";
}

TEST_P(Nfs41, EveryTruncationIsAFault) {
  for_random_values(kDamagedValues, [&](const Bytes& bytes, const std::string&) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      // A copy of just that size, so that a read beyond it is seen by the address sanitizer.
      const Bytes shorter(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
      ASSERT_FALSE(type().decode(shorter).ok) << "cut to " << length;
    }
  });
}

// A damaged byte gives a fault, or another value that is whole: it can be written and read again.
TEST_P(Nfs41, EveryDamagedByteGivesAFaultOrAValue) {
  for_random_values(kDamagedValues, [&](const Bytes& bytes, const std::string&) {
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const auto flip : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
        Bytes damaged = bytes;
        damaged[at] ^= flip;
        const Decoded ours = type().decode(damaged);
        if (!ours.ok) continue;
        ASSERT_LE(ours.consumed, damaged.size());
        const Decoded again = type().decode(ours.encoded_again);
        ASSERT_TRUE(again.ok) << "byte " << at << ": " << again.error.message();
        ASSERT_EQ(again.text, ours.text) << "byte " << at;
        ASSERT_EQ(again.consumed, ours.encoded_again.size()) << "byte " << at;
      }
    }
  });
}

// Random values keep their open-ended parts, and their one payload, below these sizes.
TEST_P(Nfs41, NoValueIsLargerThanItsMaximum) {
  constexpr std::size_t kOpenEnded = 4096;
  const std::size_t most = type().max_size(kOpenEnded) + Random::kLongBytes;
  for_random_values(kValues,
                    [&](const Bytes& bytes, const std::string&) { EXPECT_LE(bytes.size(), most); });
}

WireTypes all_types() {
  WireTypes types;
  add_basic_types(types);
  add_arguments(types);
  add_results(types);
  add_callbacks(types);
  return types;
}

INSTANTIATE_TEST_SUITE_P(Types, Nfs41, testing::ValuesIn(all_types()),
                         [](const auto& type) { return type.param->name(); });

}  // namespace
}  // namespace nfsrdma::oracle
