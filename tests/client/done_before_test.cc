// Changes whose reply was lost together with the session: they are made again, and what the server
// says then may be the doing of the first time (client/requests/done_before.h).
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "client/requests/create.h"
#include "client/requests/errno.h"
#include "client/requests/link.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

constexpr std::uint32_t kMode = 0750;

/// What the name leads to is `found_` with `attributes_`.
class DoneBefore : public FakeMount {
 protected:
  DoneBefore() {
    attributes_.type = NF4DIR;
    attributes_.mode = kMode;
    attributes_.numlinks = 2;
    server_.on<LINK4args, LINK4res>([this](const LINK4args&, LINK4res& result) {
      if (made_++ > 0) result.status = NFS4ERR_EXIST;
    });
    server_.on<CREATE4args, CREATE4res>([this](const CREATE4args&, CREATE4res& result) {
      if (made_++ > 0) result.status = NFS4ERR_EXIST;
    });
    server_.on<GETFH4args, GETFH4res>(
        [this](const GETFH4args&, GETFH4res& result) { result.resok4.object = found_; });
    server_.fate = [this](const Arrival& arrival) {
      if (made_ == 0) {
        const bool change = arrival.has(OP_LINK) || arrival.has(OP_CREATE);
        return change ? Fate::disconnect_after : Fate::answer;
      }
      if (!std::exchange(forgotten_, true)) server_.forget(/*client_too=*/false);
      return Fate::answer;
    };
  }

  void begin() {
    start();
    server_.on<GETATTR4args, GETATTR4res>([this](const GETATTR4args& args, GETATTR4res& result) {
      attributes_.present = args.attr_request & known_attributes();
      xdr::Encoder out(memory_);
      encode_attributes(out, attributes_.present, attributes_);
      xdr::Decoder in(out.encoded());
      decode(in, result.resok4.obj_attributes);
    });
  }
  /// 0, or the errno of link(2).
  int link_again() {
    begin();
    auto linked = run(link(mount(), Credential{}, handle(2), handle(1), "name"));
    EXPECT_EQ(made_, 2);
    return linked ? 0 : to_errno(linked.error());
  }
  /// 0, or the errno of mkdir(2).
  int make_again() {
    begin();
    auto made = run(make_directory(mount(), Credential{}, handle(1), "name", kMode));
    EXPECT_EQ(made_, 2);
    return made ? 0 : to_errno(made.error());
  }

  FileHandle found_ = handle(2);
  Attributes attributes_;
  int made_ = 0;

 private:
  bool forgotten_ = false;
  std::array<std::byte, 1024> memory_{};
};

TEST_F(DoneBefore, ALinkToTheSameFileIsTheOneMade) { EXPECT_EQ(link_again(), 0); }

TEST_F(DoneBefore, AnotherFileOfTheNameIsNotTheLink) {
  found_ = handle(3);
  EXPECT_EQ(link_again(), EEXIST);
}

TEST_F(DoneBefore, ADirectoryThatIsAsItWasMadeIsTheOneMade) { EXPECT_EQ(make_again(), 0); }

TEST_F(DoneBefore, ADirectoryWithAnotherModeIsNotTheOneMade) {
  attributes_.mode = kMode | 07;
  EXPECT_EQ(make_again(), EEXIST);
}

TEST_F(DoneBefore, ADirectoryWithDirectoriesInItIsNotTheOneMade) {
  attributes_.numlinks = 3;
  EXPECT_EQ(make_again(), EEXIST);
}

TEST_F(DoneBefore, AFileOfTheNameIsNotTheDirectory) {
  attributes_.type = NF4REG;
  EXPECT_EQ(make_again(), EEXIST);
}

}  // namespace
}  // namespace nfsrdma::client::test
