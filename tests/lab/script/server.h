// How the command line names a server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/lab/wire/peer.h"

namespace nfsrdma::lab::script {

/// "[iwarp:|verbs:|tcp:]HOST[:PORT][/DIRECTORY]"
struct Server {
  std::string text;  ///< as it was given
  std::string carrier;
  std::string address;            ///< HOST[:PORT]
  std::vector<std::string> path;  ///< components of the directory to work in
};

/// What is wrong with a --transport; empty: nothing. None at all is right.
std::string carrier_fault(std::string_view carrier);
inline constexpr const char* kCarrierHelp = "iwarp (default), verbs or tcp";

/// The carrier of that name; iwarp of any other word.
Carrier carrier_of(std::string_view name);

/// `carrier` is that of a text that names none.
Server read_server(const std::string& text, const std::string& carrier);

}  // namespace nfsrdma::lab::script
