// Options that would promise more than this program does, and their replacements.
#include "fuse/options/option_groups.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::string_view kNoTls = "TLS is not supported; use xprtsec=none";

constexpr OptionSpec refused(std::string_view name, std::string_view argument,
                             std::string_view doc) {
  return {.name = name, .argument = argument, .doc = doc};
}

constexpr OptionSpec kOptions[] = {
    refused("softreval", "", "not supported yet"),
    refused("bg", "", "use the mount option x-systemd.automount, or retry=MINUTES"),
    refused("udp", "", "NFSv4.1 does not run over UDP"),
    refused("write", "lazy|eager|wait", "not supported yet"),
    refused("cert_serial", "N", kNoTls),
    refused("privkey_serial", "N", kNoTls),
    refused("fatal_neterrors", "MODE", "not supported yet"),
    refused("remount", "", "unmount and mount again"),
    refused("v2", "", "only NFSv4.1 is supported; use vers=4.1"),
    refused("v3", "", "only NFSv4.1 is supported; use vers=4.1"),
    refused("v4.0", "", "only NFSv4.1 is supported; use vers=4.1"),
    refused("v4.2", "", "NFSv4.2 is not supported yet; use vers=4.1"),
    refused("nosymfollow", "", "the FUSE library cannot ask the kernel for it"),
    refused("swap", "", "there is no swapping over FUSE"),
    refused("bind", "", "not a matter of this file system; use mount --bind"),
    refused("blkdev", "", "there is no block device"),
    refused("auto_unmount", "", "the mount is removed by the program itself when it ends"),
};

}  // namespace

std::span<const OptionSpec> refused_options() { return kOptions; }

}  // namespace nfsrdma::fuse
