// The parts of reading that reader.cc and reader_send.cc share.
#pragma once

#include <optional>

#include "tests/lab/script/statements.h"

namespace nfsrdma::lab::script {

/// "NAME=VALUE NAME=VALUE ...", as a record.
Result<Node> read_options(Tokens& tokens);
/// Statements up to the end or a '}', which is left. `depth` counts the blocks around them.
Result<std::vector<Statement>> read_statements(Tokens& tokens, std::size_t depth);
/// send, compound and resend, whose word has been taken.
Result<Statement> read_sending(Tokens& tokens, const Token& word);
/// "100ms", "2s"
std::optional<Duration> to_duration(std::string_view word);

}  // namespace nfsrdma::lab::script
