#include "tests/lab/rerun/samples.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <tuple>

#include "fuse/options/command_line.h"
#include "tests/lab/rerun/recorded_mount.h"

namespace nfsrdma::lab::rerun::test {
namespace {

constexpr std::uint64_t kRoot = FUSE_ROOT_ID;

/// What answers have to say for the rest to make sense.
template <class Value>
Value read_answer(const Bytes& answer, std::size_t at = 0) {
  Value value{};
  if (answer.size() < at + sizeof value) throw std::runtime_error("a request has failed");
  std::memcpy(&value, answer.data() + at, sizeof value);
  return value;
}

Bytes bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A mount, and the file that it is recorded in.
class Sample {
 public:
  Sample(VirtualReactor& outside, rpc::ChannelFactory& server, const std::string& word)
      : path_(std::filesystem::temp_directory_path() /
              ("nfsrdma-" + word + "-" + std::to_string(::getpid()))) {
    const char* const words[] = {"nfsrdma", "-o", "config=none,acregmin=1", "127.0.0.1:/",
                                 "/proc/x"};
    const auto line = fuse::parse_command_line(std::size(words), words);
    recorder_ = *journal::Recorder::create(path_, fuse::recording_head(line->options));
    mount_ = std::make_unique<RecordedMount>(outside, server, line->options, *recorder_);
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
  ~Sample() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  /// Ends the mount.
  Bytes end() {
    mount_.reset();
    recorder_.reset();
    return bytes_of(path_);
  }

  Bytes ask(std::uint32_t opcode, std::uint64_t node, std::string_view names = {}) {
    return mount_->ask(opcode, node, nullptr, 0, names);
  }
  template <class Arguments>
  Bytes ask(std::uint32_t opcode, std::uint64_t node, const Arguments& arguments,
            std::string_view behind = {}) {
    return mount_->ask(opcode, node, &arguments, sizeof arguments, behind);
  }

  template <class Arguments>
  void begin(std::uint32_t opcode, std::uint64_t node, const Arguments& arguments,
             std::string_view behind = {}) {
    mount_->begin(opcode, node, &arguments, sizeof arguments, behind);
  }

  /// A file of the root, made: its inode, and the number it is open by.
  std::pair<std::uint64_t, std::uint64_t> create(std::string_view name, int flags = 0) {
    fuse_create_in create{};
    create.flags = O_CREAT | O_RDWR | flags;
    create.mode = S_IFREG | 0644;
    const Bytes made = ask(FUSE_CREATE, kRoot, create, name);
    return {read_answer<fuse_entry_out>(made).nodeid,
            read_answer<fuse_open_out>(made, sizeof(fuse_entry_out)).fh};
  }
  void write(std::uint64_t node, std::uint64_t file, std::string_view text) {
    fuse_write_in write{};
    write.fh = file;
    write.size = static_cast<std::uint32_t>(text.size());
    ask(FUSE_WRITE, node, write, text);
  }
  Bytes read(std::uint32_t opcode, std::uint64_t node, std::uint64_t file) {
    fuse_read_in read{};
    read.fh = file;
    read.size = 4096;
    return ask(opcode, node, read);
  }
  void release(std::uint32_t opcode, std::uint64_t node, std::uint64_t file) {
    fuse_release_in release{};
    release.fh = file;
    ask(opcode, node, release);
  }

 private:
  const std::string path_;
  std::unique_ptr<journal::Recorder> recorder_;
  std::unique_ptr<RecordedMount> mount_;
};

/// What happens to a few files, as a seed decides.
class Workload {
 public:
  explicit Workload(Sample& mount) : mount_(mount) {
    for (std::size_t i = 0; i < files_.size(); ++i) make(i);
  }

  void step() {
    File& file = files_[below(files_.size())];
    switch (below(8)) {
      case 0:
      case 1:
      case 2: return write(file);
      case 3: return read(file);
      case 4: return replace();
      case 5: return list();
      case 6: return static_cast<void>(mount_.ask(FUSE_LOOKUP, kRoot, {"none\0", 5}));
      default: return sync(file);
    }
  }
  void end() {
    for (const File& file : files_) mount_.release(FUSE_RELEASE, file.node, file.number);
  }

 private:
  static constexpr std::size_t kFiles = 5;
  static constexpr std::size_t kMostBytes = 2000;
  /// Written by itself, and not gathered.
  static constexpr std::size_t kLarge = 300000;
  struct File {
    std::uint64_t node = 0;
    std::uint64_t number = 0;
    std::uint64_t size = 0;
    bool appends = false;
  };

  std::size_t below(std::size_t bound) { return random_() % bound; }
  static std::string name_of(std::size_t place) { return "file" + std::to_string(place) + '\0'; }

  void make(std::size_t place) {
    File& file = files_[place];
    file = {.appends = place % 2 != 0};
    std::tie(file.node, file.number) = mount_.create(name_of(place), file.appends ? O_APPEND : 0);
  }

  /// Several, of which none waits for the one before; not always behind each other.
  void write(File& file) {
    for (std::size_t left = 1 + below(5); left > 0; --left) {
      const std::size_t length = below(24) == 0 ? kLarge : 1 + below(kMostBytes);
      const std::string text(length, static_cast<char>('a' + below(26)));
      if (file.appends) file.size += below(2) * kMostBytes;
      fuse_write_in write{};
      write.fh = file.number;
      write.offset = file.appends ? file.size : below(file.size + 1);
      write.size = static_cast<std::uint32_t>(text.size());
      write.flags = file.appends ? O_RDWR | O_APPEND : O_RDWR;
      file.size = std::max(file.size, write.offset + text.size());
      mount_.begin(FUSE_WRITE, file.node, write, text);
    }
    if (below(4) == 0) read(file);
  }
  void read(const File& file) {
    fuse_read_in read{};
    read.fh = file.number;
    read.offset = below(file.size + 1);
    read.size = kMostBytes;
    mount_.ask(FUSE_READ, file.node, read);
  }
  void sync(const File& file) {
    fuse_fsync_in fsync{};
    fsync.fh = file.number;
    mount_.ask(FUSE_FSYNC, file.node, fsync);
  }
  /// One file takes the name of another one, which is open.
  void replace() {
    const std::size_t from = below(kFiles);
    const std::size_t to = (from + 1 + below(kFiles - 1)) % kFiles;
    mount_.ask(FUSE_RENAME2, kRoot, fuse_rename2_in{kRoot, 0, 0}, name_of(from) + name_of(to));
    mount_.release(FUSE_RELEASE, files_[to].node, files_[to].number);
    files_[to] = files_[from];
    make(from);
  }
  void list() {
    const auto listed =
        read_answer<fuse_open_out>(mount_.ask(FUSE_OPENDIR, kRoot, fuse_open_in{})).fh;
    mount_.read(FUSE_READDIRPLUS, kRoot, listed);
    mount_.release(FUSE_RELEASEDIR, kRoot, listed);
  }

  Sample& mount_;
  std::mt19937 random_{1};
  std::array<File, kFiles> files_;
};

}  // namespace

Bytes record_writes() {
  VirtualReactor outside;
  client::test::ServedDirectory server(outside);
  Sample mount(outside, server, "writes");
  const auto [node, file] = mount.create({"file\0", 5});
  mount.write(node, file, "hello");
  server.disconnect();
  fuse_fsync_in fsync{};
  fsync.fh = file;
  mount.ask(FUSE_FSYNC, node, fsync);
  mount.read(FUSE_READ, node, file);
  mount.release(FUSE_RELEASE, node, file);
  if (server.read_file("file") != "hello") throw std::runtime_error("nothing was written");
  return mount.end();
}

Bytes record_names() {
  VirtualReactor outside;
  client::test::ServedDirectory server(outside);
  server.write_file("old", "text");
  Sample mount(outside, server, "names");
  const fuse_mkdir_in mkdir{S_IFDIR | 0755, 0};
  const auto folder =
      read_answer<fuse_entry_out>(mount.ask(FUSE_MKDIR, kRoot, mkdir, {"folder\0", 7})).nodeid;
  mount.ask(FUSE_SYMLINK, folder, {"link\0target\0", 12});
  const auto old = read_answer<fuse_entry_out>(mount.ask(FUSE_LOOKUP, kRoot, {"old\0", 4})).nodeid;
  mount.ask(FUSE_LOOKUP, kRoot, {"none\0", 5});
  const auto listed = read_answer<fuse_open_out>(mount.ask(FUSE_OPENDIR, kRoot, fuse_open_in{})).fh;
  mount.read(FUSE_READDIRPLUS, kRoot, listed);
  mount.read(FUSE_READDIR, kRoot, listed);
  mount.release(FUSE_RELEASEDIR, kRoot, listed);
  mount.ask(FUSE_RENAME2, kRoot, fuse_rename2_in{folder, 0, 0}, {"old\0new\0", 8});
  mount.ask(FUSE_LINK, kRoot, fuse_link_in{old}, {"second\0", 7});
  fuse_setattr_in size{};
  size.valid = FATTR_SIZE;
  size.size = 2;
  mount.ask(FUSE_SETATTR, old, size);
  fuse_open_in open{};
  open.flags = O_RDWR;
  const auto file = read_answer<fuse_open_out>(mount.ask(FUSE_OPEN, old, open)).fh;
  fuse_lk_in lock{};
  lock.fh = file;
  lock.owner = 1;
  lock.lk = {0, 9, F_WRLCK, 1};
  mount.ask(FUSE_SETLK, old, lock);
  mount.ask(FUSE_GETLK, old, lock);
  mount.release(FUSE_RELEASE, old, file);
  mount.ask(FUSE_UNLINK, kRoot, {"second\0", 7});
  mount.ask(FUSE_STATFS, kRoot);
  return mount.end();
}

Bytes record_recall() {
  VirtualReactor outside;
  client::test::ServedDirectory server(outside, 0, responder::DelegationKind::write);
  server.write_file("shared", "text");
  Sample mount(outside, server, "recalled");
  Sample other(outside, server, "other");
  fuse_open_in open{};
  open.flags = O_RDWR;
  const auto opened = [&open](Sample& one) {
    const auto node =
        read_answer<fuse_entry_out>(one.ask(FUSE_LOOKUP, kRoot, {"shared\0", 7})).nodeid;
    return std::pair{node, read_answer<fuse_open_out>(one.ask(FUSE_OPEN, node, open)).fh};
  };
  const auto [node, file] = opened(mount);
  mount.write(node, file, "mine");
  const auto [other_node, other_file] = opened(other);
  other.write(other_node, other_file, "theirs");
  other.release(FUSE_RELEASE, other_node, other_file);
  mount.read(FUSE_READ, node, file);
  mount.release(FUSE_RELEASE, node, file);
  if (server.callbacks() == 0) throw std::runtime_error("nothing was recalled");
  other.end();
  return mount.end();
}

Bytes record_workload() {
  constexpr int kSteps = 300;
  VirtualReactor outside;
  client::test::ServedDirectory server(outside);
  Sample mount(outside, server, "workload");
  Workload workload(mount);
  for (int i = 0; i < kSteps; ++i) workload.step();
  workload.end();
  return mount.end();
}

}  // namespace nfsrdma::lab::rerun::test
