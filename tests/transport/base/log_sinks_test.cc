// Where lines of the log end up: a file of its own, the journal, standard error that leads there.
#include "transport/base/log_sinks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "transport/base/log.h"
#include "transport/base/log_file.h"

namespace nfsrdma::log {
namespace {

class LogSinks : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/nfsrdma-log-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    configure(Sink::standard_error, Level::info, "test");
    std::filesystem::remove_all(folder_);
  }
  static std::string content(const std::filesystem::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_;
};

TEST_F(LogSinks, FileIsPrivateAppendedToAndOpenedAnew) {
  const auto file = folder_ / "log";
  ASSERT_TRUE(configure_file(file, Level::warning, "/mnt"));
  warning("first");
  std::filesystem::rename(file, folder_ / "log.1");
  warning("second");
  EXPECT_TRUE(reopen_file());
  warning("third");
  const auto old = content(folder_ / "log.1");
  EXPECT_NE(old.find(" W /mnt: first\n"), std::string::npos) << old;
  EXPECT_NE(old.find(" W /mnt: second\n"), std::string::npos) << old;
  EXPECT_NE(content(file).find(" W /mnt: third\n"), std::string::npos);
  EXPECT_EQ(old.find("third"), std::string::npos);
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_TRUE(configure_file(file, Level::warning, "/mnt"));
  warning("fourth");
  EXPECT_NE(content(file).find("third"), std::string::npos) << "appended to";
}

TEST_F(LogSinks, ALineStaysOneLine) {
  ASSERT_TRUE(configure_file(folder_ / "log", Level::warning, "/mnt"));
  warning("owner '{}'", "a\n12:00 E /mnt: forged\x1b[2J\xc3\xa9");
  const auto text = content(folder_ / "log");
  EXPECT_TRUE(text.ends_with(" W /mnt: owner 'a\\x0a12:00 E /mnt: forged\\x1b[2J\xc3\xa9'\n"))
      << text;
}

// The directory is gone, or its permissions: what is written is not lost as well.
TEST_F(LogSinks, AFileThatCannotBeOpenedAnewGoesOn) {
  std::filesystem::create_directory(folder_ / "d");
  ASSERT_TRUE(configure_file(folder_ / "d" / "log", Level::warning, "/mnt"));
  std::filesystem::rename(folder_ / "d", folder_ / "e");
  reopen_file();
  warning("a line");
  const auto text = content(folder_ / "e" / "log");
  EXPECT_NE(text.find("the log goes on here: log: No such file or directory"), std::string::npos);
  EXPECT_NE(text.find("a line"), std::string::npos);
}

TEST_F(LogSinks, OtherKindsOfFilesAreRefused) {
  std::ofstream(folder_ / "victim") << "precious";
  std::filesystem::create_symlink("victim", folder_ / "link");
  std::filesystem::create_hard_link(folder_ / "victim", folder_ / "name");
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  for (const char* name : {"link", "name", "fifo", "no/such/file", "."}) {
    EXPECT_FALSE(configure_file(folder_ / name, Level::info, "/mnt")) << name;
  }
  EXPECT_EQ(content(folder_ / "victim"), "precious");
}

TEST_F(LogSinks, WithoutAFileNothingIsOpenedAnew) {
  EXPECT_EXIT(std::_Exit(reopen_file() ? 1 : 0), ::testing::ExitedWithCode(0), "");
}

/// The value of a field in the binary form of the journal's protocol.
std::string field(const std::string& datagram, const std::string& name) {
  const auto at = datagram.find(name + '\n');
  if (at == std::string::npos) return "none";
  std::size_t size = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const auto byte = static_cast<unsigned char>(datagram[at + name.size() + 1 + i]);
    size |= static_cast<std::size_t>(byte) << 8 * i;
  }
  return datagram.substr(at + name.size() + 9, size);
}

TEST_F(LogSinks, JournalGetsFields) {
  const UniqueFd journal(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder_ / "socket";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_FALSE(JournalSink::open("nfsrdma", path.c_str())) << "no journal is there";
  ASSERT_EQ(::bind(journal.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  auto sink = JournalSink::open("nfsrdma", path.c_str());
  ASSERT_TRUE(sink);
  spdlog::logger("/mnt/a", *sink).warn("two\nPRIORITY=0");
  std::array<char, 1024> buffer;
  const auto size = ::recv(journal.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  ASSERT_GT(size, 0);
  const std::string datagram(buffer.data(), static_cast<std::size_t>(size));
  EXPECT_EQ(field(datagram, "MESSAGE"), "/mnt/a: two\nPRIORITY=0");
  EXPECT_EQ(field(datagram, "PRIORITY"), "4");
  EXPECT_EQ(field(datagram, "SYSLOG_IDENTIFIER"), "nfsrdma");
  EXPECT_EQ(field(datagram, "SYSLOG_FACILITY"), "3");
  EXPECT_EQ(field(datagram, "SYSLOG_PID"), std::to_string(::getpid()));
  EXPECT_EQ(field(datagram, "NFSRDMA_MOUNT_POINT"), "/mnt/a");
}

// A unit of systemd with -f: the journal has the time itself, and reads the priority.
TEST_F(LogSinks, StandardErrorThatIsTheJournalHasPriorities) {
  const std::string file = folder_ / "err";
  EXPECT_EXIT(
      {
        const int fd = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
        ::dup2(fd, STDERR_FILENO);
        struct stat status {};
        ::fstat(fd, &status);
        const auto stream = std::to_string(status.st_dev) + ':' + std::to_string(status.st_ino);
        ::setenv("JOURNAL_STREAM", stream.c_str(), 1);
        configure(Sink::standard_error, Level::info, "/mnt");
        warning("lost");
        info("known");
        error("wrong");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(content(file), "<4>/mnt: lost\n<6>/mnt: known\n<3>/mnt: wrong\n");
}

// While fusermount3 runs, descriptor 2 leads to memory that is thrown away.
TEST_F(LogSinks, LinesGoToTheStandardErrorOfTheBeginning) {
  const std::string file = folder_ / "err";
  const std::string other = folder_ / "other";
  EXPECT_EXIT(
      {
        ::dup2(::open(file.c_str(), O_RDWR | O_CREAT, 0600), STDERR_FILENO);
        configure(Sink::standard_error, Level::info, "/mnt");
        ::dup2(::open(other.c_str(), O_RDWR | O_CREAT, 0600), STDERR_FILENO);
        info("mounting");
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_TRUE(content(file).ends_with("/mnt: mounting\n")) << content(file);
  EXPECT_EQ(content(other), "");
}

}  // namespace
}  // namespace nfsrdma::log
