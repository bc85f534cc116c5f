// One request to a daemon, which may be hostile, too busy or gone.
#include "fuse/ctl/ask.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "transport/base/unique_fd.h"

namespace nfsrdma::ctl {
namespace {

class AskTest : public ::testing::Test {
 protected:
  AskTest() {
    char directory[] = "/tmp/nfsrdma_control_XXXXXX";
    directory_ = ::mkdtemp(directory);
    path_ = directory_ + "/1.sock";
    listener_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
  }
  ~AskTest() override {
    if (daemon_.joinable()) daemon_.join();
    std::filesystem::remove_all(directory_);
  }

  /// Answers one request.
  void answer_with(std::string answer) {
    daemon_ = std::thread([this, answer = std::move(answer)] {
      const UniqueFd asker(::accept(listener_.get(), nullptr, nullptr));
      char request[256];
      const ssize_t got = ::recv(asker.get(), request, sizeof request, 0);
      request_.assign(request, static_cast<std::size_t>(got > 0 ? got : 0));
      std::string_view rest = answer;
      while (!rest.empty()) {
        const ssize_t sent = ::send(asker.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) return;
        rest.remove_prefix(static_cast<std::size_t>(sent));
      }
    });
  }

  std::string directory_;
  std::string path_;
  UniqueFd listener_;
  std::string request_;
  std::thread daemon_;
};

TEST_F(AskTest, GivesTheAnswer) {
  answer_with("ok\none 1\ntwo 2\n");
  EXPECT_EQ(ask(path_, "counters").value(), "one 1\ntwo 2\n");
  daemon_.join();
  EXPECT_EQ(request_, "counters\n");
}

TEST_F(AskTest, GivesTheDaemonsError) {
  answer_with("error: log level: Invalid argument\n");
  const auto answer = ask(path_, "log x");
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message().find("log level: Invalid argument"), std::string::npos);
}

TEST_F(AskTest, TakesOutWhatATerminalWouldObey) {
  answer_with("ok\na\x1b[2Jb\rc\x7f\n");
  EXPECT_EQ(ask(path_, "requests").value(), "a?[2Jb?c?\n");
}

TEST_F(AskTest, AnEndWithoutAWordIsTooManyAskers) {
  answer_with("");
  EXPECT_TRUE(ask(path_, "identity").error().is(Layer::local, EBUSY));
}

TEST_F(AskTest, AnAnswerWithoutEndIsGivenUp) {
  constexpr std::size_t kLongest = 256 * 1024;
  answer_with("ok\n" + std::string(2 * kLongest, 'a'));
  EXPECT_TRUE(ask(path_, "counters", kLongest).error().is(Layer::system, EMSGSIZE));
}

TEST_F(AskTest, NobodyThere) {
  listener_.reset();
  EXPECT_TRUE(ask(path_, "identity").error().is(Layer::system, ECONNREFUSED));
  EXPECT_TRUE(ask(directory_ + "/2.sock", "identity").error().is(Layer::system, ENOENT));
}

// The process that was looked at and the one that is asked are the same.
TEST_F(AskTest, AnotherProcessThanTheMountsIsNotAsked) {
  Mount mount{.socket = path_, .identity = {}, .peer = {}, .proved = true};
  mount.peer.user = ::geteuid();
  mount.peer.process = ::getpid();
  EXPECT_TRUE(ask(mount, "counters").error().is(Layer::local, EPERM)) << "it began at another time";
}

TEST_F(AskTest, NoFileGoesToAMountThatIsNotProved) {
  const Mount mount{.socket = path_, .identity = {}, .peer = {}, .proved = false};
  const int file = 2;
  EXPECT_TRUE(ask(mount, "capture on", {&file, 1}).error().is(Layer::local, EPERM));
}

// More than are in use at once, and each has its own answer.
TEST_F(AskTest, EachQuestionHasItsAnswer) {
  answer_with("ok\none 1\n");
  std::vector<Question> questions;
  for (int i = 0; i < 600; ++i) questions.push_back({directory_ + "/none.sock", "counters"});
  questions.push_back({path_, "counters"});
  questions.push_back({std::string(200, 'a'), "counters"});
  const auto answers = ask_all(questions);
  ASSERT_EQ(answers.size(), 602u);
  for (int i = 0; i < 600; ++i) {
    ASSERT_FALSE(answers[i].text);
    EXPECT_TRUE(answers[i].text.error().is(Layer::system, ENOENT));
  }
  EXPECT_EQ(answers[600].text.value(), "one 1\n");
  EXPECT_EQ(answers[600].peer.process, ::getpid());
  EXPECT_TRUE(answers[601].text.error().is(Layer::system, ENAMETOOLONG));
}

TEST_F(AskTest, AMountIsFoundByItsSocket) {
  answer_with("ok\npid 12\nmount_point /a\\012b\nstate mounted\nnonsense\n");
  const auto mount = find_mount(path_);
  ASSERT_TRUE(mount) << mount.error().message();
  EXPECT_EQ(mount->get("pid"), "12");
  EXPECT_EQ(mount->get("mount_point"), "/a\nb");
  EXPECT_EQ(mount->get("nothing"), "");
  EXPECT_EQ(mount->socket, path_);
  EXPECT_EQ(mount->peer.process, ::getpid());
  EXPECT_TRUE(mount->proved) << "the user's own process";
}

}  // namespace
}  // namespace nfsrdma::ctl
