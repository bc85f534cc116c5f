// Options that change nothing here, and why it is right to accept them.
#include "fuse/options/option_groups.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::string_view kMountProgram = "for mount(8) and systemd, not for this program";
constexpr std::string_view kVersion3 = "of NFS version 3 and its side protocols only";
constexpr std::string_view kServerTimes = "access times are the server's";
constexpr std::string_view kMountTable = "as the mount table shows it; mount(8) hands it back";
constexpr std::string_view kNoDiskCache = "there is no cache on a local disk";

constexpr OptionSpec ignored(std::string_view name, std::string_view doc) {
  return {.name = name, .doc = doc};
}

constexpr OptionSpec ignored_value(std::string_view name, std::string_view argument,
                                   std::string_view doc) {
  return {.name = name, .argument = argument, .doc = doc};
}

/// Always logged: its user expects more speed or safety than there is.
constexpr OptionSpec missed(OptionSpec spec) {
  spec.missed = true;
  return spec;
}

constexpr OptionSpec kOptions[] = {
    ignored("defaults", kMountProgram),
    ignored("auto", kMountProgram),
    ignored("noauto", kMountProgram),
    ignored("user", kMountProgram),
    ignored("nouser", kMountProgram),
    ignored("users", kMountProgram),
    ignored("owner", kMountProgram),
    ignored("group", kMountProgram),
    ignored("nofail", kMountProgram),
    ignored("_netdev", kMountProgram),
    ignored("_rnetdev", kMountProgram),
    ignored_value("comment", "TEXT", kMountProgram),
    ignored_value("x-*", "TEXT", kMountProgram),
    ignored("intr", "callers that are killed are always let go, others never"),
    ignored("nointr", "callers that are killed are always let go, others never"),
    missed(
        ignored("nocto", "OPEN brings a file's attributes at no cost: they are never passed over")),
    ignored("dirsync", "changes of directories always wait for the server"),
    ignored("nosoftreval", "attributes are always asked for again when they are too old"),
    missed(ignored_value("nconnect", "N", "one connection is used")),
    missed(ignored_value("max_connect", "N", "one connection is used")),
    ignored("trunkdiscovery", "one connection is used"),
    ignored("notrunkdiscovery", "one connection is used"),
    ignored("sharecache", "every mount has a program and caches of its own"),
    ignored("nosharecache", "every mount has a program and caches of its own"),
    missed(ignored("resvport",
                   "an ordinary user cannot have a privileged port; servers do not ask for one "
                   "over RDMA")),
    ignored("noresvport", "the port is never a privileged one"),
    {.name = "fsc", .argument = "TAG", .doc = kNoDiskCache, .value_optional = true, .missed = true},
    ignored("nofsc", kNoDiskCache),
    ignored_value("clientaddr", "ADDRESS", "callbacks use the mount's own connection"),
    ignored_value("addr", "ADDRESS", "the address comes from the source"),
    ignored("migration", "of NFS version 4.0 only"),
    ignored("nomigration", "of NFS version 4.0 only"),
    ignored("lock", kVersion3),
    ignored("nolock", kVersion3),
    ignored("acl", kVersion3),
    ignored("noacl", kVersion3),
    ignored("posix", kVersion3),
    ignored("noposix", kVersion3),
    ignored("noquota", kVersion3),
    ignored("quota", kVersion3),
    ignored_value("namlen", "N", kVersion3),
    ignored_value("mounthost", "NAME", kVersion3),
    ignored_value("mountaddr", "ADDRESS", kVersion3),
    ignored_value("mountport", "N", kVersion3),
    ignored_value("mountproto", "PROTOCOL", kVersion3),
    ignored_value("mountvers", "N", kVersion3),
    ignored_value("bsize", "N", "the block size shown is this program's"),
    ignored("alignwrite", "a WRITE has what was written, never whole pages around it"),
    ignored("noalignwrite", "a WRITE has what was written, never whole pages around it"),
    ignored("noswap", "there is no swapping over FUSE"),
    ignored("symfollow", "symbolic links are followed in any case"),
    missed(ignored("mand", "Linux has had no mandatory locks since version 5.15")),
    ignored("nomand", "Linux has had no mandatory locks since version 5.15"),
    ignored("iversion", "the server counts the changes of a file"),
    ignored("noiversion", "the server counts the changes of a file"),
    ignored("relatime", kServerTimes),
    ignored("norelatime", kServerTimes),
    ignored("strictatime", kServerTimes),
    ignored("nostrictatime", kServerTimes),
    ignored("diratime", kServerTimes),
    ignored("nodiratime", kServerTimes),
    ignored("lazytime", kServerTimes),
    ignored("nolazytime", kServerTimes),
    ignored("loud", kMountProgram),
    ignored("silent", kMountProgram),
    ignored_value("user_id", "N", kMountTable),
    ignored_value("group_id", "N", kMountTable),
    ignored_value("rootmode", "MODE", kMountTable),
    ignored_value("fd", "N", kMountTable),
    ignored_value("max_read", "BYTES", kMountTable),
    ignored_value("blksize", "BYTES", kMountTable),
};

}  // namespace

std::span<const OptionSpec> ignored_options() { return kOptions; }

}  // namespace nfsrdma::fuse
