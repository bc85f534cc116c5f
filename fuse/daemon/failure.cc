#include "fuse/daemon/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "client/proto/status.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::fuse {
namespace {

using fabric::Fault;

struct Remedy {
  Layer layer;
  int code;
  std::string_view text;
};

constexpr std::string_view kCheckRoute =
    "is the address right, the server up, and its port open to this machine?";
constexpr std::string_view kNoService =
    "does the server offer NFS over RDMA (with proto=tcp: over TCP)? port= names another port";
constexpr std::string_view kOtherService =
    "is this the port of NFS over RDMA (with proto=tcp: over TCP)?";
constexpr std::string_view kDirectory = "the export must be a directory";
constexpr std::string_view kAccess = "the server does not allow it to this machine or user";

constexpr int code_of(Fault fault) { return static_cast<int>(fault); }

constexpr Remedy kRemedies[] = {
    {Layer::fabric, code_of(Fault::refused), kNoService},
    {Layer::fabric, code_of(Fault::timed_out), kCheckRoute},
    {Layer::fabric, code_of(Fault::rejected), kNoService},
    {Layer::fabric, code_of(Fault::protocol), kOtherService},
    {Layer::fabric, code_of(Fault::closed), kOtherService},
    {Layer::fabric, code_of(Fault::reset), kOtherService},
    {Layer::system, ECONNRESET, kOtherService},
    {Layer::system, ECONNREFUSED, kNoService},
    {Layer::system, EHOSTUNREACH, kCheckRoute},
    {Layer::system, ENETUNREACH, kCheckRoute},
    {Layer::system, ETIMEDOUT, kCheckRoute},
    {Layer::nfs, nfs4::NFS4ERR_NOENT, "the server has no such export"},
    {Layer::nfs, nfs4::NFS4ERR_NOTDIR, kDirectory},
    {Layer::nfs, nfs4::NFS4ERR_SYMLINK, kDirectory},
    {Layer::nfs, nfs4::NFS4ERR_ACCESS, kAccess},
    {Layer::nfs, nfs4::NFS4ERR_PERM, kAccess},
    {Layer::nfs, nfs4::NFS4ERR_WRONGSEC, "the export wants another sec= than sys or none"},
    {Layer::nfs, nfs4::NFS4ERR_MINOR_VERS_MISMATCH, "the server does not speak NFSv4.1"},
};

constexpr Fault kUnreachable[] = {Fault::closed, Fault::reset, Fault::rejected, Fault::refused,
                                  Fault::timed_out};
constexpr int kUnreachableErrno[] = {ECONNREFUSED, ECONNRESET, EHOSTUNREACH, ENETUNREACH,
                                     ETIMEDOUT,    EHOSTDOWN,  ENETDOWN};
/// What this machine, or a firewall, says of one address of the server.
constexpr int kOfThisAddress[] = {EACCES, EPERM, EADDRNOTAVAIL, EAFNOSUPPORT};
constexpr std::string_view kStepsToAnAddress[] = {"socket", "connect"};

bool is_of_this_address(const Error& error) {
  return error.layer == Layer::system &&
         std::ranges::find(kOfThisAddress, error.code) != std::end(kOfThisAddress) &&
         std::ranges::find(kStepsToAnAddress, std::string_view(error.step)) !=
             std::end(kStepsToAnAddress);
}

/// Faults of a peer that has taken the connection.
constexpr Fault kOfAPeer[] = {Fault::closed, Fault::reset, Fault::rejected};

/// How far it came with an address.
int steps_done(const Error& error) {
  if (is_of_this_address(error)) return 0;
  const bool taken = error.layer == Layer::fabric && std::ranges::any_of(kOfAPeer, [&](Fault each) {
                       return error.code == code_of(each);
                     });
  return taken ? 2 : 1;
}

std::string_view remedy_for(const Error& error) {
  for (const auto& remedy : kRemedies) {
    if (error.is(remedy.layer, remedy.code)) return remedy.text;
  }
  // The same error of the mount point has words of its own.
  const bool of_export = std::string_view(error.step) == "LOOKUP export";
  if (of_export && error.is(Layer::local, ENOTDIR)) return kDirectory;
  return {};
}

/// Errors of this machine's mount that are the user's to put right.
bool is_permission(const Error& error) {
  return error.layer == Layer::local && (error.code == EACCES || error.code == EPERM);
}

bool is_system_failure(const Error& error) {
  constexpr int codes[] = {ENOMEM, EMFILE, ENFILE, EAGAIN};
  return error.layer == Layer::system && std::ranges::find(codes, error.code) != std::end(codes);
}

}  // namespace

Failure describe_failure(const std::string& source, const Error& error) {
  Error shown = error;
  // The resolver has its own codes, and its words stand in the detail.
  if (shown.step == std::string_view("resolve server name")) shown.code = 0;
  const auto remedy = remedy_for(error);
  if (!shown.detail.empty() && !remedy.empty()) shown.detail += "; ";
  shown.detail += remedy;
  std::string line = fmt::format("{}: {}", source, shown.message());
  std::ranges::replace(line, '\n', ' ');
  if (is_permission(error)) return {kUsage, line};
  return {is_system_failure(error) ? kSystem : kMountFailure, line};
}

bool is_unreachable(const Error& error) {
  if (error.layer == Layer::fabric) {
    return std::ranges::any_of(kUnreachable,
                               [&](Fault fault) { return error.code == code_of(fault); });
  }
  if (is_of_this_address(error)) return true;
  const bool from_errno = error.layer == Layer::system || error.layer == Layer::local;
  return from_errno &&
         std::ranges::find(kUnreachableErrno, error.code) != std::end(kUnreachableErrno);
}

const Error& telling_more(const Error& one, const Error& other) {
  const bool nothing_done = is_of_this_address(one);
  return nothing_done || steps_done(other) > steps_done(one) ? other : one;
}

Error at_address(Error error, const std::string& address) {
  if (error.detail.find(address) != std::string::npos) return error;
  error.detail = error.detail.empty() ? address : address + ": " + error.detail;
  return error;
}

}  // namespace nfsrdma::fuse
