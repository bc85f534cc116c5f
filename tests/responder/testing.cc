#include "tests/responder/testing.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>

namespace nfsrdma::responder {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "TestResponder: %s\n", why.c_str());
  std::abort();
}

std::string make_temporary_directory() {
  const auto base = std::filesystem::temp_directory_path() / "nfsrdma-export-XXXXXX";
  std::string path = base.string();
  if (!::mkdtemp(path.data())) give_up("no temporary directory");
  return path;
}

class OneCounter final : public CounterVisitor {
 public:
  explicit OneCounter(const std::string& name) : name_(name) {}
  void visit(std::string_view name, std::uint64_t value) override {
    if (name == name_) found = value;
  }
  std::uint64_t found = 0;

 private:
  const std::string& name_;
};

}  // namespace

TestResponder::TestResponder(ServerOptions options) : reactor_(make_epoll_reactor()) {
  owns_directory_ = options.service.directory.empty();
  if (owns_directory_) options.service.directory = make_temporary_directory();
  directory_ = options.service.directory;
  if (options.port == kDefaultPort) options.port = 0;
  std::promise<void> started;
  thread_ = std::thread([&] { run(options, [&] { started.set_value(); }); });
  started.get_future().wait();
}

void TestResponder::run(const ServerOptions& options, const std::function<void()>& started) {
  auto server = Server::create(*reactor_, options);
  if (!server) give_up(server.error().message());
  server_ = std::move(*server);
  address_ = server_->address();
  tcp_address_ = server_->tcp_address().value_or(fabric::Address{});
  port_ = server_->port();
  started();
  reactor_->run();
  server_.reset();
}

TestResponder::~TestResponder() {
  reactor_->wake_from_other_thread([this] { reactor_->stop(); });
  thread_.join();
  if (owns_directory_) {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
}

void TestResponder::on_its_thread(const std::function<void(Server&)>& work) {
  std::promise<void> done;
  reactor_->wake_from_other_thread([&] {
    work(*server_);
    done.set_value();
  });
  done.get_future().wait();
}

std::string TestResponder::command(const std::string& line) {
  std::string answer;
  on_its_thread([&](Server& server) { answer = server.run_command(line); });
  return answer;
}

std::uint64_t TestResponder::counter(const std::string& name) {
  OneCounter visitor(name);
  on_its_thread([&](Server& server) { server.visit_counters(visitor); });
  return visitor.found;
}

}  // namespace nfsrdma::responder
