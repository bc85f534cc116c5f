#include "cache/file/failure_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <optional>

#include "client/requests/errno.h"

namespace nfsrdma::cache {
namespace {

constexpr nfs4::nfsstat4 kEverydayStatus[] = {
    nfs4::NFS4ERR_PERM,      nfs4::NFS4ERR_NOENT,   nfs4::NFS4ERR_NXIO,
    nfs4::NFS4ERR_ACCESS,    nfs4::NFS4ERR_EXIST,   nfs4::NFS4ERR_XDEV,
    nfs4::NFS4ERR_NOTDIR,    nfs4::NFS4ERR_ISDIR,   nfs4::NFS4ERR_INVAL,
    nfs4::NFS4ERR_FBIG,      nfs4::NFS4ERR_ROFS,    nfs4::NFS4ERR_MLINK,
    nfs4::NFS4ERR_NOTEMPTY,  nfs4::NFS4ERR_SYMLINK, nfs4::NFS4ERR_NAMETOOLONG,
    nfs4::NFS4ERR_BADCHAR,   nfs4::NFS4ERR_BADNAME, nfs4::NFS4ERR_NOTSUPP,
    nfs4::NFS4ERR_DENIED,    nfs4::NFS4ERR_LOCKED,  nfs4::NFS4ERR_DEADLOCK,
    nfs4::NFS4ERR_LOCK_RANGE};

constexpr int kEverydayErrno[] = {EPERM,  ENOENT, EACCES,    EEXIST,       EXDEV,   ENOTDIR, EISDIR,
                                  EINVAL, EROFS,  ENOTEMPTY, ENAMETOOLONG, ENODATA, ELOOP,   EINTR,
                                  EAGAIN, EFBIG,  EDEADLK,   EOPNOTSUPP,   EBUSY};

/// Operations whose requests hold nothing of the program's own: NFS4ERR_INVAL is no answer to it,
/// and repeating them does not help.
constexpr std::string_view kWithoutWords[] = {"getattr", "opendir", "readdir", "readdirplus",
                                              "statfs"};

bool is_unexplained(std::string_view operation, const Error& error) {
  return error.is(Layer::nfs, nfs4::NFS4ERR_INVAL) &&
         std::ranges::find(kWithoutWords, operation) != std::end(kWithoutWords);
}

/// Quoted, for a line: what would end it, or change the terminal that shows it, becomes \\xHH.
std::string quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::iscntrl(byte) != 0 || c == '\'' || c == '\\') {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

/// The name of the code, as a part of a counter's name.
std::string code_name(Layer layer, int code) {
  std::string name = Error{layer, code, "", {}}.message();
  const std::string_view prefix = layer_name(layer);
  if (layer != Layer::nfs && !name.starts_with(prefix)) name = std::string(prefix) + ' ' + name;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace

bool is_everyday(const Error& error) {
  if (error.layer == Layer::nfs) {
    const auto status = static_cast<nfs4::nfsstat4>(error.code);
    return std::ranges::find(kEverydayStatus, status) != std::end(kEverydayStatus);
  }
  if (error.layer != Layer::local) return false;
  return std::ranges::find(kEverydayErrno, error.code) != std::end(kEverydayErrno);
}

// "mkdir of 'd' in inode 12 '/mnt/a' for process 34 at server.example: CREATE: NFS4ERR_IO (op 3 of
// 5) (XID 0x0000001f, slot 3)"
std::string FailureLog::sentence(const Failed& failed, const Error& error) const {
  std::string text(failed.operation);
  if (!failed.name.empty()) text += " of " + quoted(failed.name);
  if (failed.fileid != 0) {
    text += fmt::format(" {} inode {}", failed.name.empty() ? "of" : "in", failed.fileid);
  }
  const std::string path = path_of_ ? path_of_(failed) : std::string();
  if (!path.empty()) text += ' ' + quoted(path);
  if (failed.caller != 0) text += fmt::format(" for process {}", failed.caller);
  if (!server_.empty()) text += " at " + server_;
  return text + ": " + error.message() + error.request_text();
}

FailureLog::Kind& FailureLog::kind_of(std::string_view operation, const Error& error) {
  const Key key(operation, error.layer, error.code);
  const auto known = kinds_.find(key);
  if (known != kinds_.end()) return known->second;
  return kinds_.size() < kMostKinds ? kinds_[key] : others_;
}

int FailureLog::reported(const Failed& failed, const Error& error, TimePoint now) {
  const int error_number = client::to_errno(error);
  Kind& kind = kind_of(failed.operation, error);
  kind.count.add();
  const bool everyday =
      !failed.data_lost && is_everyday(error) && !is_unexplained(failed.operation, error);
  (everyday ? everyday_ : errors_other_).add();
  if (everyday) {
    if (log::enabled(log::Level::debug)) log::debug("{}", sentence(failed, error));
    return error_number;
  }
  const std::optional<std::uint64_t> left_out =
      log::enabled(log::Level::debug) ? std::optional<std::uint64_t>(0) : kind.lines.admit(now);
  if (!left_out) return error_number;
  log::warning("{}; the program gets: {}{}", sentence(failed, error), std::strerror(error_number),
               *left_out == 0 ? "" : fmt::format(" ({} such lines were left out)", *left_out));
  return error_number;
}

int FailureLog::not_delivered(const Failed& failed, const Error& error) {
  if (log::enabled(log::Level::debug)) {
    log::debug("{}; no caller waits for it any more", sentence(failed, error));
  }
  return client::to_errno(error);
}

void FailureLog::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("errors_everyday", everyday_.value());
  visitor.visit("errors_other", errors_other_.value());
  for (const auto& [key, kind] : kinds_) {
    const auto& [operation, layer, code] = key;
    visitor.visit(fmt::format("errors_{}_{}", operation, code_name(layer, code)),
                  kind.count.value());
  }
  if (others_.count.value() != 0) visitor.visit("errors_of_more_kinds", others_.count.value());
}

}  // namespace nfsrdma::cache
