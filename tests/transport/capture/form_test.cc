// Rings, snap length, comments, and what a file says of where it was made.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "transport/capture/sink.h"

namespace nfsrdma::capture {
namespace {

namespace files = std::filesystem;

struct Block {
  std::uint32_t type = 0;
  std::string body;
};

class FormTest : public ::testing::Test {
 protected:
  FormTest() {
    std::string name = ::testing::TempDir() + "form-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    local_.sin_family = peer_.sin_family = AF_INET;
    local_.sin_port = htons(1000);
    peer_.sin_port = htons(2049);
  }
  ~FormTest() override { files::remove_all(folder_); }

  void create(const Form& form) {
    auto made = Sink::create(path(), form);
    ASSERT_TRUE(made) << made.error().message();
    sink_ = std::move(*made);
  }
  std::unique_ptr<Flow> open(Carried carried = Carried::messages) {
    return sink_->open_flow(reinterpret_cast<sockaddr&>(local_), reinterpret_cast<sockaddr&>(peer_),
                            true, carried);
  }
  static void say(Flow& flow, const std::string& bytes) {
    const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
    flow.sent({&piece, 1}, bytes.size());
  }
  std::string path() const { return folder_ + "/wire.pcapng"; }

  /// All blocks, whose lengths must fit.
  static std::vector<Block> blocks(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    const std::string bytes = text.str();
    std::vector<Block> found;
    for (std::size_t at = 0; at < bytes.size();) {
      std::uint32_t head[2] = {0, 0};
      std::uint32_t end = 0;
      std::memcpy(head, bytes.data() + at, sizeof head);
      EXPECT_EQ(head[1] % 4, 0u);
      if (head[1] < 12 || at + head[1] > bytes.size()) {
        ADD_FAILURE() << "a block at " << at << " of " << head[1] << " bytes";
        break;
      }
      std::memcpy(&end, bytes.data() + at + head[1] - 4, sizeof end);
      EXPECT_EQ(end, head[1]);
      found.push_back({head[0], bytes.substr(at + 8, head[1] - 12)});
      at += head[1];
    }
    return found;
  }
  static std::uint32_t word(const Block& block, std::size_t index) {
    std::uint32_t value = 0;
    std::memcpy(&value, block.body.data() + index * 4, sizeof value);
    return value;
  }
  static bool has(const Block& block, const std::string& text) {
    return block.body.find(text) != std::string::npos;
  }

  std::string folder_;
  sockaddr_in local_{};
  sockaddr_in peer_{};
  std::unique_ptr<Sink> sink_;
};

constexpr std::uint32_t kPacket = 6;
constexpr std::size_t kPacketWords = 5;  // before its bytes
constexpr std::size_t kHeaders = 40;     // of IPv4 and TCP

TEST(FileNames, ANumberBeforeTheEnding) {
  EXPECT_EQ(file_names("/a/b.pcapng", 1), (std::vector<std::string>{"/a/b.pcapng"}));
  EXPECT_EQ(file_names("/a.d/b", 2), (std::vector<std::string>{"/a.d/b-0", "/a.d/b-1"}));
  EXPECT_EQ(file_names("w.x.pcapng", 11)[3], "w.x-03.pcapng");
  EXPECT_EQ(file_names("/a/.hidden", 2)[1], "/a/.hidden-1");
}

TEST_F(FormTest, SaysWhereItWasMade) {
  create({.snap = 96, .what = "for a test"});
  sink_->flush();
  const auto all = blocks(path());
  ASSERT_EQ(all.size(), 2u);
  utsname system{};
  ::uname(&system);
  EXPECT_TRUE(has(all[0], system.machine) && has(all[0], system.release));
  EXPECT_TRUE(has(all[0], "capture_test"));
  EXPECT_EQ(word(all[1], 1), 96u);
  EXPECT_TRUE(has(all[1], "for a test"));
}

// Whoever looks at the capture of a program that goes on, hangs or was killed finds all of it.
TEST_F(FormTest, AfterEachTurnTheFileIsWhole) {
  const auto reactor = make_epoll_reactor();
  create({});
  sink_->flush_after_turns(*reactor);
  EXPECT_EQ(blocks(path()).size(), 2u) << "what the file begins with";
  const auto flow = open();
  for (const std::string text : {"one", "two"}) {
    say(*flow, text);
    EXPECT_FALSE(has(blocks(path()).back(), text)) << "written by itself";
    reactor->run_once(Duration::zero());
    EXPECT_TRUE(has(blocks(path()).back(), text));
  }
}

TEST_F(FormTest, ASinkMayEndBeforeTheTurn) {
  const auto reactor = make_epoll_reactor();
  create({});
  sink_->flush_after_turns(*reactor);
  say(*open(), "one");
  sink_.reset();
  reactor->run_once(Duration::zero());
  EXPECT_EQ(blocks(path()).size(), 2u + 3 + 1 + 3);
}

TEST_F(FormTest, AFileThatIsBeingRecordedIntoIsRefused) {
  create({});
  const auto flow = open();
  say(*flow, "one");
  sink_->flush();
  const std::size_t before = files::file_size(path());
  const auto second = Sink::create(path());
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().is(Layer::local, EBUSY)) << second.error().message();
  EXPECT_NE(second.error().message().find("another program records into it"), std::string::npos);
  EXPECT_EQ(files::file_size(path()), before);
  say(*flow, "two");
  sink_->flush();
  EXPECT_TRUE(has(blocks(path()).back(), "two"));
}

TEST_F(FormTest, WhoRecordsEmptiesTheFile) {
  std::ofstream(path()) << std::string(5000, 'x');
  auto opened = open_capture_files(path(), 1);
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ(files::file_size(path()), 5000u) << "emptied before it is known to be wanted";
  auto made = Sink::create(std::move(*opened), {});
  ASSERT_TRUE(made) << made.error().message();
  (*made)->flush();
  EXPECT_EQ(blocks(path()).size(), 2u);
}

TEST_F(FormTest, APacketIsCutAtTheSnapLength) {
  create({.snap = 64, .what = {}});
  {
    const auto flow = open();
    say(*flow, std::string(101, 'x'));
  }
  const auto all = blocks(path());
  const Block& data = all.at(2 + 3);
  EXPECT_EQ(data.type, kPacket);
  EXPECT_EQ(word(data, 3), 64u);
  EXPECT_EQ(word(data, 4), kHeaders + 101);
  EXPECT_EQ(data.body.size(), kPacketWords * 4 + 64);
}

TEST_F(FormTest, ACommentIsOfOnePacket) {
  create({});
  {
    const auto flow = open();
    flow->comment("sent again");
    say(*flow, "one");
    say(*flow, "two");
  }
  const auto all = blocks(path());
  EXPECT_TRUE(has(all.at(5), "one") && has(all.at(5), "sent again"));
  EXPECT_TRUE(has(all.at(6), "two"));
  EXPECT_FALSE(has(all.at(6), "sent again"));
}

TEST_F(FormTest, ARingKeepsTheNewest) {
  create({.files = 3, .file_bytes = 2000, .what = {}});
  {
    const auto flow = open();
    for (int i = 0; i < 100; ++i)
      say(*flow, "message " + std::to_string(i) + std::string(100, ' '));
  }
  EXPECT_FALSE(files::exists(path()));
  std::vector<int> seen;
  for (const std::string& name : file_names(path(), 3)) {
    struct stat status {};
    ASSERT_EQ(::stat(name.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
    EXPECT_LT(status.st_size, 2600);
    for (const Block& block : blocks(name)) {
      const std::size_t at = block.body.find("message ");
      if (block.type == kPacket && at != std::string::npos)
        seen.push_back(std::atoi(block.body.c_str() + at + 8));
    }
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen.back(), 99);
  EXPECT_EQ(seen.back() - seen.front() + 1, static_cast<int>(seen.size())) << "a gap";
}

// The message that was begun in a file ends there, and the next file begins with one.
TEST_F(FormTest, AFileOfARingBeginsWithAMessage) {
  create({.files = 4, .file_bytes = 1500, .what = {}});
  {
    const auto flow = open(Carried::records);
    const std::string record = std::string("\x80\0\x02\x00", 4) + std::string(512, 'r');
    std::string stream;
    for (int i = 0; i < 12; ++i) stream += record;
    for (std::size_t at = 0; at < stream.size(); at += 200) say(*flow, stream.substr(at, 200));
  }
  for (const std::string& name : file_names(path(), 4)) {
    std::size_t bytes = 0;
    for (const Block& block : blocks(name)) {
      if (block.type != kPacket) continue;
      const std::size_t length = word(block, 3) - kHeaders;
      const char* payload = block.body.data() + kPacketWords * 4 + kHeaders;
      if (bytes == 0 && length != 0) {
        EXPECT_EQ(payload[0], '\x80') << name;
      }
      bytes += length;
    }
    EXPECT_EQ(bytes % 516, 0u) << name;
  }
}

TEST_F(FormTest, AStartupFrameStandsInEachFileOfARing) {
  create({.files = 4, .file_bytes = 1500, .what = {}});
  {
    const auto flow = open(Carried::mpa);
    say(*flow, std::string("MPA ID Req Frame\0\x01\0\x02pp", 22));
    const std::string fpdu = std::string("\0\x64", 2) + std::string(106, 'f');
    for (int i = 0; i < 60; ++i) say(*flow, fpdu);
  }
  int begun = 0;
  for (const std::string& name : file_names(path(), 4)) {
    const auto all = blocks(name);
    if (all.size() == 2) continue;  // the last packet ended the file before
    ++begun;
    ASSERT_GT(all.size(), 6u);
    EXPECT_TRUE(has(all.at(2), "added for dissectors")) << name;
    EXPECT_TRUE(has(all.at(5), "MPA ID Req Frame")) << name;
    EXPECT_EQ(all.at(6).body[kPacketWords * 4 + kHeaders + 1], '\x64') << name;
  }
  EXPECT_GE(begun, 3);
}

}  // namespace
}  // namespace nfsrdma::capture
