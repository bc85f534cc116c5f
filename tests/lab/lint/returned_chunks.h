// Write and Reply chunks of a reply compared with what its call has offered and what was written.
#pragma once

#include <optional>
#include <string>

#include "tests/lab/lint/message_rules.h"

namespace nfsrdma::lab {

// Checks of replies to open calls; what was seen, when something is wrong.
std::optional<std::string> missing_write_chunks(const MessageEvent& event);
std::optional<std::string> changed_segments(const MessageEvent& event);
std::optional<std::string> longer_than_offered(const MessageEvent& event);
std::optional<std::string> other_than_written(const MessageEvent& event);
std::optional<std::string> holes_between_segments(const MessageEvent& event);
std::optional<std::string> reply_chunk_not_returned(const MessageEvent& event);

}  // namespace nfsrdma::lab
