// Owners that the server sends, or wants, as user@domain (RFC 8881 section 5.9).
#include <gtest/gtest.h>

#include <map>

#include "client/files/setattr.h"
#include "client/names/id_map.h"
#include "client/names/name_service.h"
#include "client/requests/getattr.h"
#include "client/requests/readdir.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using namespace std::chrono_literals;

/// Knows what a test has told it, and answers when the test likes.
class FakeNames final : public NameService {
 public:
  void find_number(OwnerKind, const std::string& name, GetNumber answer) override {
    ++asked[name];
    const auto reply = [this, name, answer = std::move(answer)] {
      const auto found = numbers.find(name);
      answer(found == numbers.end() ? std::nullopt : std::optional(found->second));
    };
    silent ? waiting.push_back(reply) : reply();
  }
  void find_name(OwnerKind, std::uint32_t number, GetName answer) override {
    if (silent) return;
    for (const auto& [name, its] : numbers) {
      if (its == number) return answer(name);
    }
    answer({});
  }
  void speak() {
    silent = false;
    for (const auto& reply : std::exchange(waiting, {})) reply();
  }

  std::map<std::string, std::uint32_t> numbers;
  std::map<std::string, int> asked;
  bool silent = false;
  std::vector<std::function<void()>> waiting;
};

class OwnerNamesTest : public FakeMount {
 protected:
  OwnerNamesTest() {
    MountConfig config;
    config.names = &names_;
    configure(config);
    server_.on<GETATTR4args, GETATTR4res>(
        [this](const GETATTR4args& args, GETATTR4res& result) { answer(args, result); });
    server_.on<SETATTR4args, SETATTR4res>([this](const SETATTR4args& args, SETATTR4res& result) {
      auto attributes = decode_attributes(args.obj_attributes);
      ASSERT_TRUE(attributes);
      const Owner& owner = attributes->owner;
      wanted_.push_back(owner.numeric ? std::to_string(owner.id) : std::string(owner.name));
      if (!owner.numeric ? refuses_names_ : refuses_numbers_) result.status = NFS4ERR_BADOWNER;
    });
  }

  void answer(const GETATTR4args& args, GETATTR4res& result) {
    static thread_local std::array<std::byte, 2048> memory;
    Attributes attributes;
    attributes.present = args.attr_request & known_attributes();
    attributes.type = NF4DIR;
    attributes.lease_time = 90;
    attributes.maxread = attributes.maxwrite = 1 << 20;
    attributes.owner = owner_.empty() ? Owner{7, true, {}} : Owner{0, false, owner_};
    attributes.owner_group = Owner{8, true, {}};
    xdr::Encoder out(memory);
    encode_attributes(out, attributes.present, attributes);
    xdr::Decoder in(out.encoded());
    decode(in, result.resok4.obj_attributes);
  }
  Attributes get() {
    auto attributes = run(getattr(mount(), {}, handle(1)));
    EXPECT_TRUE(attributes) << attributes.error().message();
    return *attributes;
  }
  Result<Changed> chown(std::uint32_t uid) {
    SetAttributes change;
    change.uid = uid;
    return run(setattr(mount(), {}, handle(1), {}, change));
  }

  FakeNames names_;
  std::string owner_;  ///< empty: a number
  std::vector<std::string> wanted_;
  bool refuses_numbers_ = false;
  bool refuses_names_ = false;
};

TEST_F(OwnerNamesTest, NumbersAreAskedOfNobody) {
  start();
  const Attributes found = get();
  EXPECT_EQ(found.owner, (Owner{7, true, {}}));
  EXPECT_EQ(found.owner_group, (Owner{8, true, {}}));
  EXPECT_TRUE(names_.asked.empty());
}

TEST_F(OwnerNamesTest, NothingIsShownBeforeTheNameIsKnown) {
  names_.numbers["bin@x"] = 2;
  start();
  owner_ = "bin@x";
  names_.silent = true;
  Pending<Result<Attributes>> asking(getattr(mount(), {}, handle(1)));
  reactor_.advance(4s);
  EXPECT_FALSE(asking.done());
  // Another operation is not held up.
  owner_.clear();
  EXPECT_EQ(get().owner.id, 7U);
  names_.speak();
  reactor_.settle();
  ASSERT_TRUE(asking.done());
  EXPECT_EQ(asking.value()->owner, (Owner{2, true, {}}));
}

TEST_F(OwnerNamesTest, TheMountsRootWaitsToo) {
  names_.numbers["bin@x"] = 2;
  owner_ = "bin@x";
  start();
  EXPECT_EQ(mount().root_attributes().owner, (Owner{2, true, {}}));
}

TEST_F(OwnerNamesTest, ASilentNameServiceIsWaitedForOnceAndHeardLater) {
  names_.numbers["bin@x"] = 2;
  start();
  owner_ = "bin@x";
  names_.silent = true;
  const TimePoint before = reactor_.now();
  Pending<Result<Attributes>> asking(getattr(mount(), {}, handle(1)));
  reactor_.advance(IdMap::kPatience);
  ASSERT_TRUE(asking.done());
  EXPECT_EQ(asking.value()->owner.id, IdMap::kNobody);
  EXPECT_FALSE(asking.value()->owner.numeric) << "it is not to be kept";
  const Attributes again = get();
  EXPECT_FALSE(again.owner.numeric);
  EXPECT_LE(reactor_.now() - before, IdMap::kPatience + 1s) << "no operation waits a second time";
  names_.speak();
  EXPECT_EQ(get().owner, (Owner{2, true, {}})) << "the answer counts when it comes";
  EXPECT_EQ(names_.asked["bin@x"], 1);
}

TEST_F(OwnerNamesTest, AnswersAreBelievedForAWhile) {
  start();
  owner_ = "late@x";
  EXPECT_EQ(get().owner, (Owner{IdMap::kNobody, true, {}}));
  names_.numbers["late@x"] = 1001;
  reactor_.advance(IdMap::kMissTime - 1s);
  EXPECT_EQ(get().owner.id, IdMap::kNobody);
  reactor_.advance(1s);
  EXPECT_EQ(get().owner.id, 1001U) << "a miss does not stay";
  names_.numbers["late@x"] = 1002;
  reactor_.advance(IdMap::kHitTime - 1s);
  EXPECT_EQ(get().owner.id, 1001U);
  reactor_.advance(1s);
  EXPECT_EQ(get().owner.id, 1002U);
  EXPECT_EQ(names_.asked["late@x"], 3);
}

TEST_F(OwnerNamesTest, TheLastAnswerHoldsWhileTheNameServiceIsAway) {
  names_.numbers["bin@x"] = 2;
  start();
  owner_ = "bin@x";
  EXPECT_EQ(get().owner.id, 2U);
  names_.silent = true;
  reactor_.advance(IdMap::kHitTime);
  EXPECT_EQ(get().owner, (Owner{2, true, {}}));
}

TEST_F(OwnerNamesTest, MoreNamesThanAreRemembered) {
  start();
  const auto look = [this](std::size_t i) {
    owner_ = "u" + std::to_string(i) + "@x";
    names_.numbers[owner_] = static_cast<std::uint32_t>(10000 + i);
    return get().owner.id;
  };
  constexpr std::size_t kMany = IdMap::kMostNames + 200;
  for (std::size_t i = 0; i < kMany; ++i) ASSERT_EQ(look(i), 10000 + i);
  ASSERT_EQ(look(kMany - 1), 10000 + kMany - 1);
  EXPECT_EQ(names_.asked[owner_], 1) << "the newest are remembered";
  ASSERT_EQ(look(0), 10000U);
  EXPECT_EQ(names_.asked["u0@x"], 2) << "the oldest are not";
}

TEST_F(OwnerNamesTest, TheEndOfTheMountWaitsForNoName) {
  start();
  owner_ = "bin@x";
  names_.silent = true;
  Pending<Result<Attributes>> asking(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  Pending<Result<void>> stopping(mount().stop());
  reactor_.settle();
  EXPECT_TRUE(asking.done());
  EXPECT_TRUE(stopping.done());
  stopped_ = true;
}

/// The next entry of a directory, named as its owner; `memory` holds its attributes.
void add_entry(READDIR4res& result, std::span<std::byte> memory, std::string_view owner,
               std::string_view group) {
  constexpr std::uint64_t kFirstCookie = 3;
  auto& entries = result.resok4.reply.entries;
  Attributes attributes;
  attributes.present = {FATTR4_OWNER, FATTR4_OWNER_GROUP, FATTR4_FILEID};
  attributes.owner = Owner{0, false, owner};
  attributes.owner_group = Owner{0, false, group};
  xdr::Encoder out(memory);
  encode_attributes(out, attributes.present, attributes);
  xdr::Decoder in(out.encoded());
  entry4 entry;
  entry.cookie = kFirstCookie + entries.size();
  entry.name = owner;
  decode(in, entry.attrs);
  entries.push_back(entry);
}

TEST_F(OwnerNamesTest, DirectoriesWaitForAllTheirNames) {
  names_.numbers = {{"a@x", 1}, {"b@x", 2}};
  server_.on<READDIR4args, READDIR4res>([](const READDIR4args&, READDIR4res& result) {
    static thread_local std::array<std::array<std::byte, 512>, 3> memory;
    static constexpr std::string_view kOwners[] = {"a@x", "b@x", "c@x"};
    for (std::size_t i = 0; i < memory.size(); ++i) {
      add_entry(result, memory[i], kOwners[i], kOwners[i]);
    }
    result.resok4.reply.eof = true;
  });
  start();
  names_.silent = true;
  Pending<Result<DirectoryPage>> asking(
      readdir(mount(), {}, handle(1), 0, {}, 65536, /*with_attributes=*/true));
  reactor_.advance(1s);
  EXPECT_FALSE(asking.done());
  names_.speak();
  reactor_.settle();
  ASSERT_TRUE(asking.done());
  ASSERT_TRUE(asking.value()) << asking.value().error().message();
  const std::uint32_t expected[] = {1, 2, IdMap::kNobody};
  ASSERT_EQ(asking.value()->entries.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const Attributes& attributes = asking.value()->entries[i].attributes;
    EXPECT_EQ(attributes.owner, (Owner{expected[i], true, {}}));
    EXPECT_EQ(attributes.owner_group, (Owner{expected[i], true, {}}));
  }
}

TEST_F(OwnerNamesTest, APageMayHaveAsManyOwnersAsAreRemembered) {
  static constexpr std::uint32_t kOwners = 4000;
  std::vector<std::string> owners;
  for (std::uint32_t i = 0; i < kOwners; ++i) {
    owners.push_back("u" + std::to_string(i) + "@x");
    names_.numbers[owners.back()] = 10000 + i;
  }
  names_.numbers["all@x"] = 7;
  std::vector<std::array<std::byte, 128>> memory(kOwners);
  server_.on<READDIR4args, READDIR4res>([&](const READDIR4args&, READDIR4res& result) {
    for (std::uint32_t i = 0; i < kOwners; ++i) {
      add_entry(result, memory[i], owners[i], "all@x");
    }
    result.resok4.reply.eof = true;
  });
  start();
  names_.silent = true;
  Pending<Result<DirectoryPage>> asking(
      readdir(mount(), {}, handle(1), 0, {}, 1 << 20, /*with_attributes=*/true));
  reactor_.settle();
  EXPECT_EQ(names_.waiting.size(), kOwners + 1) << "each is asked for once";
  names_.speak();
  reactor_.settle();
  ASSERT_TRUE(asking.done());
  ASSERT_TRUE(asking.value()) << asking.value().error().message();
  ASSERT_EQ(asking.value()->entries.size(), kOwners);
  for (std::uint32_t i = 0; i < kOwners; ++i) {
    const Attributes& attributes = asking.value()->entries[i].attributes;
    ASSERT_EQ(attributes.owner, (Owner{10000 + i, true, {}}));
    ASSERT_EQ(attributes.owner_group, (Owner{7, true, {}}));
  }
}

TEST_F(OwnerNamesTest, OwnersAreSetByNumberWhereThatIsTaken) {
  start();
  ASSERT_TRUE(chown(123));
  EXPECT_EQ(wanted_, std::vector<std::string>{"123"});
}

TEST_F(OwnerNamesTest, AServerThatRefusesNumbersGetsNames) {
  names_.numbers["bin@x"] = 2;
  refuses_numbers_ = true;
  start();
  ASSERT_TRUE(chown(2));
  EXPECT_EQ(wanted_, (std::vector<std::string>{"2", "bin@x"}));
  ASSERT_TRUE(chown(2));
  EXPECT_EQ(wanted_.back(), "bin@x");
  EXPECT_EQ(wanted_.size(), 3U) << "from then on at once";
  refuses_numbers_ = false;
  refuses_names_ = true;
  ASSERT_TRUE(chown(2)) << "the server has changed its mind";
  EXPECT_EQ(wanted_.back(), "2");
}

TEST_F(OwnerNamesTest, AnOwnerTheServerTakesInNoFormIsRefused) {
  names_.numbers["bin@x"] = 2;
  refuses_numbers_ = refuses_names_ = true;
  start();
  auto changed = chown(2);
  ASSERT_FALSE(changed);
  EXPECT_TRUE(changed.error().is(Layer::nfs, NFS4ERR_BADOWNER));
  EXPECT_NE(changed.error().message().find("bin@x"), std::string::npos)
      << changed.error().message();
  EXPECT_EQ(wanted_.size(), 2U);
  EXPECT_FALSE(chown(4242));
  EXPECT_EQ(wanted_.size(), 3U) << "without a name there is nothing else to try";
}

}  // namespace
}  // namespace nfsrdma::client::test
