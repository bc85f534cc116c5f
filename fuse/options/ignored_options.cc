// Options that change nothing here, and why it is right to accept them.
#include "fuse/options/option_groups.h"

namespace nfsrdma::fs {
namespace {

constexpr std::string_view kMountProgram = "for mount(8) and systemd, not for this program";
constexpr std::string_view kVersion3 = "of NFS version 3 and its side protocols only";
constexpr std::string_view kServerTimes = "access times are the server's";

constexpr OptionSpec ignored(std::string_view name, std::string_view doc) {
  return {
      .name = name, .argument = "", .kind = OptionKind::ignored, .default_value = "", .doc = doc};
}

constexpr OptionSpec ignored_value(std::string_view name, std::string_view argument,
                                   std::string_view doc) {
  return {.name = name,
          .argument = argument,
          .kind = OptionKind::ignored,
          .default_value = "",
          .doc = doc};
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
    ignored_value("comment", "TEXT", kMountProgram),
    ignored_value("x-*", "TEXT", kMountProgram),
    ignored("intr", "callers that are killed are always let go, others never"),
    ignored("nointr", "callers that are killed are always let go, others never"),
    ignored("nocto", "OPEN brings a file's attributes at no cost: they are never passed over"),
    ignored("dirsync", "changes of directories always wait for the server"),
    ignored("nosoftreval", "attributes are always asked for again when they are too old"),
    ignored_value("nconnect", "N", "one connection is used"),
    ignored_value("max_connect", "N", "one connection is used"),
    ignored("trunkdiscovery", "one connection is used"),
    ignored("notrunkdiscovery", "one connection is used"),
    ignored("sharecache", "every mount has a program and caches of its own"),
    ignored("nosharecache", "every mount has a program and caches of its own"),
    ignored("resvport",
            "an ordinary user cannot have a privileged port; servers do not ask for one "
            "over RDMA"),
    ignored("noresvport", "the port is never a privileged one"),
    ignored("fsc", "there is no cache on a local disk"),
    ignored("nofsc", "there is no cache on a local disk"),
    ignored_value("clientaddr", "ADDRESS", "callbacks use the mount's own connection"),
    ignored_value("addr", "ADDRESS", "the address comes from the source"),
    ignored("migration", "of NFS version 4.0 only"),
    ignored("nomigration", "of NFS version 4.0 only"),
    ignored("lock", kVersion3),
    ignored("nolock", kVersion3),
    ignored("acl", kVersion3),
    ignored("noacl", kVersion3),
    ignored("posix", kVersion3),
    ignored("noquota", kVersion3),
    ignored("quota", kVersion3),
    ignored_value("namlen", "N", kVersion3),
    ignored_value("mounthost", "NAME", kVersion3),
    ignored_value("mountaddr", "ADDRESS", kVersion3),
    ignored_value("mountport", "N", kVersion3),
    ignored_value("mountproto", "PROTOCOL", kVersion3),
    ignored_value("mountvers", "N", kVersion3),
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
};

}  // namespace

std::span<const OptionSpec> ignored_options() { return kOptions; }

}  // namespace nfsrdma::fs
