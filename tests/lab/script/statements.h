// What a script consists of. See nfsrdma-lab(1) for the language.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tests/lab/text/node.h"
#include "tests/lab/text/operations.h"
#include "transport/base/reactor.h"

namespace nfsrdma::lab::script {

/// "seg SIZE [claims=N] [times=N]", or "seg {handle=H length=N offset=N}" for memory that
/// no side has exposed.
struct SegmentText {
  Node size;
  std::optional<Node> claims;
  std::optional<Node> times;
};
using ChunkText = std::vector<SegmentText>;

/// "pos=N seg ... seg ...", or "payload" for each DDP-eligible item of the message, in one segment
/// or in those that follow; "payload-padded" takes their pads along.
struct ReadChunkText {
  bool payload = false;
  bool padded = false;
  Node position;
  ChunkText segments;
};

/// "connect iwarp HOST:PORT private-data={R=1 send=4096 recv=4096} as NAME"
struct Connect {
  std::string carrier;  ///< iwarp, verbs, tcp, socket, or empty: that of the command line
  std::string server;   ///< or empty
  std::string name;
  Node options;
};
struct Reconnect {};
/// "disconnect [reset] [after-send|after-read N|after-write N]"
struct Disconnect {
  bool reset = false;
  std::string phase;
  std::uint64_t count = 1;
};
struct Use {
  std::string name;
};
/// "let NAME = VALUE", or the results of one operation: "let NAME = OPERATION ARGUMENTS"
struct Let {
  std::string name;
  std::optional<OperationText> operation;
  Node value;
};
/// "session [owner=TEXT] [slots=N] [back=true] [as NAME]"
struct OpenSession {
  Node options;
  std::string name;
};
/// "compound OPTIONS { OPERATIONS } -> NAME" waits for the reply; "send ..." does not.
struct Send {
  bool wait = false;
  Node options;
  std::vector<ReadChunkText> reads;
  std::vector<ChunkText> writes;
  std::optional<ChunkText> reply;
  bool null_procedure = false;
  std::vector<OperationText> operations;
  std::string name;
};
/// "send raw HEX..."
struct SendRaw {
  std::vector<std::byte> bytes;
};
struct Resend {
  std::optional<Node> xid;
};
struct Expect {
  bool negated = false;
  std::string subject;  ///< disconnect, alive, server, or a path: reply.credits
  std::string comparison;
  Node value;
  std::optional<Node> xid;
  std::optional<Duration> within;
  std::string text;  ///< as it stands in the script
};
struct Statement;
struct Repeat {
  Node times;
  std::vector<Statement> body;
  std::optional<Node> seed;
};
struct Pause {
  Duration time{0};
};
struct Print {
  Node value;
};

struct Statement {
  int line = 0;
  std::variant<Connect, Reconnect, Disconnect, Use, Let, OpenSession, Send, SendRaw, Resend, Expect,
               Repeat, Pause, Print>
      what;
};

using Script = std::vector<Statement>;

/// Reads a whole script. An error names the line.
Result<Script> read_script(std::string_view text);

}  // namespace nfsrdma::lab::script
