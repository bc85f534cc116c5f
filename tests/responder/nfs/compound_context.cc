#include "tests/responder/nfs/compound_context.h"

#include "tests/responder/nfs/session/sequence.h"

namespace nfsrdma::responder {

using namespace nfs4;

CompoundContext::CompoundContext(ServerState& server_state, ServerCall& server_call)
    : server(server_state),
      call(server_call),
      in(server_call.arguments()),
      out(server_call.results()),
      who(identity_of(server_call.header(), server_state.config.anonymous_uid,
                      server_state.config.anonymous_gid)),
      principal{server_call.header().credential.flavor, who.uid} {}

void CompoundContext::set_current(FileRef file, std::optional<FileStat> stat) {
  current = std::move(file);
  current_stat_ = std::move(stat);
  current_stateid = kInvalidStateid;
}

Outcome<FileStat> CompoundContext::current_stat() {
  if (!current_stat_) {
    const auto stat = files().stat(current);
    if (!stat) return refuse(stat.error());
    current_stat_ = *stat;
  }
  return *current_stat_;
}

void CompoundContext::changed(const FileRef& file) {
  server.changes.bump(file->key());
  if (file == current) current_stat_.reset();
}

stateid4 CompoundContext::effective(const stateid4& stateid) const {
  return stateid == kCurrentStateid ? current_stateid : stateid;
}

std::uint64_t CompoundContext::identity() const {
  return fingerprint_of(*behind_sequence, client->id ^ (std::uint64_t{index} << 32));
}

std::size_t CompoundContext::reply_limit() const {
  if (!session) return SIZE_MAX;
  const channel_attrs4& limits = session->attributes;
  if (!cache_this) return limits.ca_maxresponsesize;
  return std::min(limits.ca_maxresponsesize, limits.ca_maxresponsesize_cached);
}

DirectoryChange::DirectoryChange(CompoundContext& context, FileRef directory)
    : context_(context), directory_(std::move(directory)), before_(read()) {}

changeid4 DirectoryChange::read() const {
  const auto stat = context_.files().stat(directory_);
  return stat ? context_.server.changes.value(*stat) : 0;
}

change_info4 DirectoryChange::finish() {
  context_.changed(directory_);
  return {context_.server.config.sole_writer, before_, read()};
}

}  // namespace nfsrdma::responder
