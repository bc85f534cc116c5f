// A row of the probe: one rule of an RFC, and the script that finds out what a server makes of it.
#pragma once

#include <span>
#include <string>

#include "tests/lab/script/runner.h"

namespace nfsrdma::lab::probe {

enum class Needs : std::uint8_t { any, rdma, tcp };

/// What the bound values, and the connection, say when the script has run to its end.
using Reader = std::string (*)(script::Runner& runner);

struct Row {
  const char* section;  ///< "RFC 8166 3.3.1"
  const char* rule;     ///< what the answer is about
  Needs needs;
  /// Run on a new connection. $dir and $file are handles of a directory and of a file of 64 KiB.
  const char* script;
  /// The answer; null: that of $answer, or yes. What the script expects in vain is no.
  Reader read = nullptr;
  /// The report of a server that went down of it: run only when asked for (--risky).
  const char* risk = nullptr;
};

/// All rows, in the order of the table.
std::span<const std::span<const Row>> all_rows();

// Each group in a file of its own.
std::span<const Row> credit_and_header_rows();
std::span<const Row> chunk_rows();
std::span<const Row> connection_rows();
std::span<const Row> session_rows();
std::span<const Row> file_system_rows();

/// Connects, and makes a session.
#define LAB_SESSION "connect\nsession\n"
/// The file, open for reading and writing: $open has the reply.
#define LAB_OPEN                                                                  \
  LAB_SESSION                                                                     \
  "compound slot=0 { PUTFH $dir OPEN {share_access=OPEN4_SHARE_ACCESS_BOTH\n"     \
  " owner={clientid=$client.eir_clientid owner=\"lab\"} claim={claim=CLAIM_NULL " \
  "file=\"lab-probe\"}} }\n"                                                      \
  "expect reply.status = NFS4_OK\nlet open = $reply\nlet id = $open.OPEN.resok4.stateid\n"

}  // namespace nfsrdma::lab::probe
