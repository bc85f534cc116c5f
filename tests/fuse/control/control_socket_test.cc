// The control socket: real sockets, and a clock that the test moves.
#include "fuse/control/control_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace nfsrdma::fuse {
namespace {

namespace files = std::filesystem;

/// Descriptors as poll(2) has them, and no time of its own.
class SteppedReactor final : public Reactor {
 public:
  TimePoint now() const override { return now_; }
  Result<void> watch(int fd, std::uint32_t events, FdHandler& handler) override {
    watched_[fd] = {events, &handler};
    return {};
  }
  Result<void> modify(int fd, std::uint32_t events, FdHandler& handler) override {
    return watch(fd, events, handler);
  }
  void unwatch(int fd) override { watched_.erase(fd); }
  void wake_from_other_thread(std::function<void()>) override {}

  void advance(Duration time) {
    now_ += time;
    settle();
  }
  /// Until nothing is ready; says how much was done. Bounded: what stays ready would go on for
  /// ever.
  int settle() {
    constexpr int kMany = 1000;
    int rounds = 0;
    while (rounds < kMany && run_once(Duration::zero())) ++rounds;
    EXPECT_LT(rounds, kMany) << "something stays ready";
    return rounds;
  }

 protected:
  bool wait(Duration) override {
    bool any = false;
    const auto watched = watched_;
    for (const auto& [fd, interest] : watched) {
      const short wanted = (interest.first & EPOLLIN) != 0 ? POLLIN : POLLOUT;
      pollfd state{fd, wanted, 0};
      if (::poll(&state, 1, 0) != 1 || !watched_.contains(fd)) continue;
      interest.second->on_ready(static_cast<std::uint32_t>(state.revents));
      any = true;
    }
    return any;
  }

 private:
  TimePoint now_{1};
  std::map<int, std::pair<std::uint32_t, FdHandler*>> watched_;
};

class ControlSocketTest : public ::testing::Test {
 protected:
  ControlSocketTest() {
    char directory[] = "/tmp/nfsrdma_control_XXXXXX";
    directory_ = ::mkdtemp(directory);
    path_ = directory_ + "/1.sock";
  }
  ~ControlSocketTest() override {
    socket_.reset();
    files::remove_all(directory_);
  }

  Result<std::unique_ptr<ControlSocket>> create() {
    return ControlSocket::create(reactor_, path_,
                                 [this](std::string_view request, AskersFiles files) {
                                   requests_.emplace_back(request);
                                   files_.clear();
                                   for (auto& file : files) files_.push_back(file.take());
                                   return answer_;
                                 });
  }
  void listen() {
    auto made = create();
    ASSERT_TRUE(made) << made.error().message();
    socket_ = std::move(*made);
  }
  UniqueFd connect() {
    UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    reactor_.settle();
    return client;
  }
  void send(const UniqueFd& client, std::string_view text) {
    EXPECT_EQ(::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
    reactor_.settle();
  }
  /// What there is to read now; ends with "<end>" when the other side has closed.
  std::string received(const UniqueFd& client) {
    std::string text;
    char piece[4096];
    for (;;) {
      const ssize_t got = ::recv(client.get(), piece, sizeof piece, 0);
      if (got == 0 || (got < 0 && errno == ECONNRESET)) return text + "<end>";
      if (got < 0) return text;
      text.append(piece, static_cast<std::size_t>(got));
      reactor_.settle();
    }
  }
  std::string asked(std::string_view request) {
    const UniqueFd client = connect();
    send(client, request);
    return received(client);
  }

  std::string directory_;
  std::string path_;
  SteppedReactor reactor_;
  std::vector<std::string> requests_;
  std::vector<UniqueFd> files_;
  Result<std::string> answer_ = std::string("answer\n");
  std::unique_ptr<ControlSocket> socket_;
};

TEST_F(ControlSocketTest, AnswersALineAndHangsUp) {
  listen();
  EXPECT_EQ(asked("identity\n"), "ok\nanswer\n<end>");
  EXPECT_EQ(requests_, std::vector<std::string>{"identity"});
  EXPECT_EQ(socket_->connections(), 0u);
}

TEST_F(ControlSocketTest, SaysWhatIsWrong) {
  listen();
  answer_ = fail(Error::local(EINVAL, "control request", "not this"));
  EXPECT_EQ(asked("x\n"), "error: control request: Invalid argument (not this)\n<end>");
}

TEST_F(ControlSocketTest, IsForTheUserAloneAndGoneAtTheEnd) {
  listen();
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777u, 0600u);
  socket_.reset();
  EXPECT_FALSE(files::exists(path_));
}

TEST_F(ControlSocketTest, TakesARequestInPieces) {
  listen();
  const UniqueFd client = connect();
  send(client, "iden");
  EXPECT_EQ(received(client), "");
  send(client, "tity\nand more");
  EXPECT_EQ(received(client), "ok\nanswer\n<end>");
  EXPECT_EQ(requests_, std::vector<std::string>{"identity"});
}

TEST_F(ControlSocketTest, TakesFilesWithTheRequest) {
  listen();
  const UniqueFd client = connect();
  int pair[2];
  ASSERT_EQ(::pipe(pair), 0);
  const UniqueFd from(pair[0]);
  UniqueFd to(pair[1]);
  char line[] = "capture on\n";
  iovec piece{line, sizeof line - 1};
  alignas(cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int both[] = {to.get(), to.get()};
  std::memcpy(CMSG_DATA(rights), both, sizeof both);
  ASSERT_GT(::sendmsg(client.get(), &message, 0), 0);
  to.reset();
  reactor_.settle();
  EXPECT_EQ(received(client), "ok\nanswer\n<end>");
  ASSERT_EQ(files_.size(), 2u);
  char byte = 0;
  for (const UniqueFd& file : files_) {
    EXPECT_EQ(::write(file.get(), "x", 1), 1);
    EXPECT_EQ(::read(from.get(), &byte, 1), 1);
  }
  files_.clear();
  EXPECT_EQ(::read(from.get(), &byte, 1), 0) << "a descriptor was left open";
}

/// Closing may wait for the thread that serves the file.
TEST_F(ControlSocketTest, AFileThatIsNotWantedIsClosedElsewhere) {
  int pair[2];
  ASSERT_EQ(::pipe(pair), 0);
  const UniqueFd from(pair[0]);
  { const AskersFile file{UniqueFd(pair[1])}; }
  char byte = 0;
  EXPECT_EQ(::read(from.get(), &byte, 1), 0);
}

TEST_F(ControlSocketTest, AnyBytesAreARequest) {
  listen();
  EXPECT_EQ(asked(std::string_view("\0\xff\r\x1b\n", 5)), "ok\nanswer\n<end>");
  EXPECT_EQ(asked("\n"), "ok\nanswer\n<end>");
}

TEST_F(ControlSocketTest, ALongRequestIsRefused) {
  listen();
  const std::string longest(ControlSocket::kLongestRequest - 1, 'a');
  EXPECT_EQ(asked(longest + "\n"), "ok\nanswer\n<end>");
  EXPECT_EQ(asked(longest + "a").substr(0, 6), "error:");
  EXPECT_EQ(requests_.size(), 1u);
}

TEST_F(ControlSocketTest, WhoHangsUpIsForgotten) {
  listen();
  UniqueFd client = connect();
  EXPECT_EQ(socket_->connections(), 1u);
  client.reset();
  reactor_.settle();
  EXPECT_EQ(socket_->connections(), 0u);
  EXPECT_TRUE(requests_.empty());
}

TEST_F(ControlSocketTest, ASlowReaderHoldsUpNobodyAndIsLetGo) {
  constexpr std::size_t kMoreThanASocketTakes = 4 << 20;
  listen();
  answer_ = std::string(kMoreThanASocketTakes, 'a');
  const UniqueFd slow = connect();
  send(slow, "counters\n");
  EXPECT_EQ(socket_->connections(), 1u);
  answer_ = std::string("short");
  EXPECT_EQ(asked("identity\n"), "ok\nshort<end>");
  reactor_.advance(ControlSocket::kPatience);
  EXPECT_EQ(socket_->connections(), 0u);
  EXPECT_LT(received(slow).size(), kMoreThanASocketTakes);
}

TEST_F(ControlSocketTest, AReaderThatGetsOnHasAllOfIt) {
  constexpr std::size_t kMoreThanASocketTakes = 4 << 20;
  listen();
  answer_ = std::string(kMoreThanASocketTakes, 'a');
  EXPECT_EQ(asked("counters\n").size(), kMoreThanASocketTakes + std::strlen("ok\n<end>"));
}

TEST_F(ControlSocketTest, WhoAsksNothingIsLetGo) {
  listen();
  const UniqueFd silent = connect();
  reactor_.advance(ControlSocket::kPatience - std::chrono::seconds(1));
  EXPECT_EQ(socket_->connections(), 1u);
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_EQ(received(silent), "<end>");
  EXPECT_EQ(reactor_.timers_armed(), 0u);
}

TEST_F(ControlSocketTest, NoMoreThanEightAtATime) {
  listen();
  std::vector<UniqueFd> clients;
  for (std::size_t i = 0; i < ControlSocket::kMostConnections; ++i) clients.push_back(connect());
  const UniqueFd one_more = connect();
  EXPECT_EQ(received(one_more), "<end>");
  EXPECT_EQ(socket_->connections(), ControlSocket::kMostConnections);
  clients.pop_back();
  reactor_.settle();
  EXPECT_EQ(asked("identity\n"), "ok\nanswer\n<end>");
}

// A level-triggered listener would be ready for ever, and the shard would do nothing else.
TEST_F(ControlSocketTest, WithoutAFreeDescriptorItWaits) {
  listen();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<UniqueFd> clients;
  UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const rlimit none{static_cast<rlim_t>(client.get()) + 1, before.rlim_max};
  std::vector<UniqueFd> gaps;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  for (;;) {
    UniqueFd gap(::dup(client.get()));
    if (!gap) break;
    gaps.push_back(std::move(gap));
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_LE(reactor_.settle(), 2);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  send(client, "identity\n");
  EXPECT_EQ(received(client), "");
  reactor_.advance(ControlSocket::kPause);
  EXPECT_EQ(received(client), "ok\nanswer\n<end>");
}

TEST_F(ControlSocketTest, ReplacesASocketThatADeadProcessLeft) {
  listen();
  const std::string kept = directory_ + "/kept";
  files::rename(path_, kept);
  socket_.reset();
  files::rename(kept, path_);
  ASSERT_TRUE(files::exists(path_));
  listen();
  EXPECT_EQ(asked("identity\n"), "ok\nanswer\n<end>");
}

TEST_F(ControlSocketTest, ReplacesNothingElse) {
  std::ofstream(path_) << "precious";
  auto made = create();
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().is(Layer::local, EEXIST)) << made.error().message();
  std::ifstream in(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "precious");
  files::remove(path_);
  listen();
  made = create();
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().is(Layer::local, EADDRINUSE)) << made.error().message();
  EXPECT_EQ(asked("identity\n"), "ok\nanswer\n<end>");
}

TEST_F(ControlSocketTest, RefusesAPathThatDoesNotFitOrIsNotThere) {
  path_ = directory_ + "/" + std::string(120, 'a') + ".sock";
  EXPECT_FALSE(create());
  path_ = directory_ + "/none/1.sock";
  EXPECT_FALSE(create());
}

// What was mounted over the directory must not be asked at the end: it may be the own mount.
TEST_F(ControlSocketTest, IsRemovedWhereItWasMade) {
  listen();
  const std::string moved = directory_ + "-moved";
  files::rename(directory_, moved);
  files::create_directory(directory_);
  std::ofstream(path_) << "another's";
  socket_.reset();
  EXPECT_TRUE(files::exists(path_));
  EXPECT_FALSE(files::exists(moved + "/1.sock"));
  files::remove_all(moved);
}

TEST_F(ControlSocketTest, EndsWithConnectionsOpen) {
  listen();
  const UniqueFd client = connect();
  socket_.reset();
  reactor_.settle();
  EXPECT_EQ(received(client), "<end>");
}

// A connection that has ended is disposed of after its owner.
TEST_F(ControlSocketTest, EndsWithWhatWasEnded) {
  listen();
  const UniqueFd client = connect();
  ASSERT_EQ(::send(client.get(), "a\n", 2, MSG_NOSIGNAL), 2);
  reactor_.post([this] { socket_.reset(); });
  reactor_.settle();
  EXPECT_TRUE(received(client).ends_with("<end>"));
}

TEST_F(ControlSocketTest, OthersAreNotAnswered) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  constexpr uid_t kNobody = 65534;
  listen();
  // With the right to connect, which the directory and the mode withhold.
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  ASSERT_EQ(::seteuid(kNobody), 0);
  UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
  const int connected =
      ::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(connected, 0);
  reactor_.settle();
  EXPECT_EQ(received(client), "<end>");
  EXPECT_EQ(socket_->connections(), 0u);
}

}  // namespace
}  // namespace nfsrdma::fuse
