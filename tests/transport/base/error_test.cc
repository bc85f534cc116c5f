#include "transport/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "transport/base/result.h"

namespace nfsrdma {
namespace {

TEST(Error, SpellsOutErrnoValues) {
  EXPECT_EQ(Error::from_errno(ECONNREFUSED, "connect", "127.0.0.1:20049").message(),
            "connect: Connection refused (127.0.0.1:20049)");
  EXPECT_EQ(Error::local(ENOTDIR, "mount").message(), "mount: Not a directory");
}

TEST(Error, NamesTheLayerOfACodeNobodySpells) {
  const Error error{Layer::fabric, 77, "connect", {}};
  EXPECT_EQ(error.message(), "connect: fabric error 77");
}

TEST(Error, UsesTheNamesALayerRegistered) {
  register_code_namer(Layer::transport, [](int code) {
    return code == 2 ? std::string_view("ERR_CHUNK") : std::string_view();
  });
  EXPECT_EQ((Error{Layer::transport, 2, "READ", "slot 3"}).message(), "READ: ERR_CHUNK (slot 3)");
  EXPECT_EQ((Error{Layer::transport, 9, "READ", {}}).message(), "READ: transport error 9");
  register_code_namer(Layer::transport, nullptr);
}

TEST(Error, WithoutACodeOrStepSaysWhatThereIs) {
  EXPECT_EQ(Error::local(0, "stopped", "by the user").message(), "stopped (by the user)");
  EXPECT_EQ(Error::local(EIO, "").message(), "Input/output error");
}

TEST(Error, IsComparedByLayerAndCode) {
  const Error error{Layer::rpc, 3, "call", {}};
  EXPECT_TRUE(error.is(Layer::rpc, 3));
  EXPECT_FALSE(error.is(Layer::rpc, 4));
  EXPECT_FALSE(error.is(Layer::nfs, 3));
}

TEST(Error, EveryLayerHasItsOwnName) {
  EXPECT_EQ(layer_name(Layer::system), "system");
  EXPECT_EQ(layer_name(Layer::nfs), "nfs");
  EXPECT_EQ(layer_name(Layer::local), "local");
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(Error::local(EDOM, "half"));
  return value / 2;
}

Result<int> quarter(int value) {
  TRY(half(value));
  return *half(value) / 2;
}

TEST(Result, TryLeavesWithTheErrorAndElseGoesOn) {
  EXPECT_EQ(quarter(8).value(), 2);
  const auto failed = quarter(7);
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().is(Layer::local, EDOM));
}

}  // namespace
}  // namespace nfsrdma
