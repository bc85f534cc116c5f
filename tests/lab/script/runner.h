// Runs a script against a server.
//
// Threading: all on the caller's thread; run() turns the network's reactor while it waits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/lab/script/connection.h"
#include "tests/lab/script/message.h"
#include "tests/lab/script/statements.h"

namespace nfsrdma::lab::script {

struct RunnerOptions {
  std::string server;  ///< of the command line; goes before what the script names
  std::string carrier;
  std::vector<std::string> path;  ///< components of the directory that `session` makes $root
  Duration patience = std::chrono::seconds(5);  ///< what an expectation waits for by itself
  bool verbose = false;                         ///< prints each message
  bool keep_going = false;                      ///< an expectation that fails is noted only
};

/// Something that came from the server, or the outcome of an expectation.
struct Event {
  int line = 0;
  std::string what;
  Node content;
};

/// The last messages of a run, and their packets in the capture (0: there is none). Before the
/// first message of a connection: the packets with which it has begun, from and to.
struct Proof {
  Bytes sent;
  Bytes came;
  std::uint64_t sent_frame = 0;
  std::uint64_t came_frame = 0;
};

/// Why a run has ended early: see exit_status().
inline constexpr const char* kScriptStep = "script";
inline constexpr const char* kExpectStep = "expect";
inline constexpr const char* kConnectStep = "connection";

/// The status that a program ends with for an error of the runner.
int exit_status(const Error& error);

class Runner {
 public:
  Runner(Network& network, RunnerOptions options);

  /// The error's detail begins with the line.
  Result<void> run(const Script& script);

  std::uint64_t expectations() const { return expectations_; }
  std::uint64_t failed() const { return failed_; }
  const std::vector<Event>& events() const { return events_; }
  const Bindings& bindings() const { return bindings_; }
  /// Gives a name a value before the script runs.
  void bind(const std::string& name, Node value) { bindings_[name] = std::move(value); }
  /// Drops events and what `resend` could send: for callers that run one statement after the other.
  void forget() {
    events_.clear();
    sent_.clear();
  }
  const Proof& proof() const { return proof_; }
  /// The present connection, or null.
  Connection* connection() { return now_; }

 private:
  struct Session {
    Node id;
    std::uint64_t slots = 1;
    std::map<std::uint32_t, std::uint32_t> next_sequence;
  };

  Result<void> run_all(const std::vector<Statement>& statements);
  Result<void> execute(const Statement& statement);
  Result<void> execute(int line, const Connect& what);
  Result<void> execute(int line, const Reconnect& what);
  Result<void> execute(int line, const Disconnect& what);
  Result<void> execute(int line, const Use& what);
  Result<void> execute(int line, const Let& what);
  Result<void> execute(int line, const OpenSession& what);
  Result<void> execute(int line, const Send& what);
  Result<void> execute(int line, const SendRaw& what);
  Result<void> execute(int line, const Resend& what);
  Result<void> execute(int line, const Expect& what);
  Result<void> execute(int line, const Repeat& what);
  Result<void> execute(int line, const Pause& what);
  Result<void> execute(int line, const Print& what);

  // Connections
  Result<PeerOptions> peer_options(int line, const Connect& what);
  Result<void> open(int line, Connection& connection);
  Result<void> need_connection(int line) const;

  // Calls
  Result<std::uint64_t> option(const Node& options, const char* name, std::uint64_t otherwise);
  Result<Recipe> make_recipe(int line, const Send& what);
  Result<std::vector<OperationText>> resolve_operations(int line, const Send& what,
                                                        std::optional<std::uint32_t>& slot);
  Result<OperationText> make_sequence(int line, const Node& options, std::uint32_t slot);
  /// The name of the session that a call is made in.
  std::string session_of(const Node& options) const;
  Result<void> resolve_chunks(const Send& what, const Encoded& encoded, Recipe& recipe);
  /// Chunks that `compound` needs on this connection and does not name.
  void add_usual_chunks(const std::vector<OperationText>& operations, const Encoded& encoded,
                        Recipe& recipe) const;
  Result<void> transmit(const Recipe& recipe);
  Result<const Reply*> await_reply(int line, std::uint32_t xid, Duration patience);
  /// The results of a COMPOUND of these operations, all of which must succeed.
  Result<Node> call(int line, std::vector<OperationText> operations);
  /// What comes next proves what the server makes of this message.
  void note_sent(const Bytes& message);
  void note_reply(const Reply& reply);
  Result<void> find_root(int line);

  // Expectations
  Result<void> expect_disconnect(int line, const Expect& what);
  Result<void> expect_alive(int line, const Expect& what, Connection& connection);
  Result<void> expect_server(int line, const Expect& what);
  Result<void> expect_silence(int line, const Expect& what, std::uint32_t xid);
  Result<void> expect_value(int line, const Expect& what);
  Result<std::vector<Node>> values_of(const Expect& what, std::uint32_t xid);
  Result<void> judge(int line, const Expect& what, bool holds, const std::string& came);

  Network& network_;
  const RunnerOptions options_;
  Bindings bindings_;
  std::map<std::string, std::unique_ptr<Connection>> connections_;
  Connection* now_ = nullptr;
  std::map<std::string, Session> sessions_;
  std::string session_;  ///< the name of the one made last
  std::uint32_t next_xid_;
  std::uint32_t last_xid_ = 0;
  std::map<std::uint32_t, Recipe> sent_;
  std::uint64_t statements_ = 0;
  std::uint64_t expectations_ = 0;
  std::uint64_t failed_ = 0;
  std::vector<Event> events_;
  Proof proof_;
};

/// Whether `left COMPARISON right` holds; numbers as numbers, a text and hexadecimal
/// digits as bytes, all else as text.
bool compare(const Node& left, std::string_view comparison, const Node& right);

}  // namespace nfsrdma::lab::script
