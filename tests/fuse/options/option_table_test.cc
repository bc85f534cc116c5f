// The table as a whole, and what each option does. Options of nfs(5): the list of nfs-common 2.6.2.
#include "fuse/options/option_table.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "fuse/options/apply_options.h"
#include "fuse/options/command_line.h"

namespace nfsrdma::fuse {
namespace {

using namespace std::chrono_literals;

Result<Options> applied(std::vector<std::string> items) {
  Options options;
  TRY(apply_options(options, items));
  return options;
}

std::string refusal(const std::string& item) {
  const auto options = applied({item});
  return options ? "accepted" : options.error().detail;
}

TEST(OptionTable, NamesAreUniqueAndEveryOptionIsDescribed) {
  std::set<std::string_view> names;
  for (const auto& spec : option_table()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name << " stands twice";
    EXPECT_FALSE(spec.doc.empty()) << spec.name;
    const bool acts = spec.kind != OptionKind::ignored && spec.kind != OptionKind::refused;
    EXPECT_EQ(spec.apply != nullptr, acts) << spec.name;
  }
}

// Every name that nfs(5) gives a meaning is either understood, passed over or refused by name.
TEST(OptionTable, CoversNfs5) {
  for (const char* name : {"nfsvers",
                           "vers",
                           "minorversion",
                           "soft",
                           "hard",
                           "softerr",
                           "softreval",
                           "nosoftreval",
                           "intr",
                           "nointr",
                           "timeo",
                           "retrans",
                           "rsize",
                           "wsize",
                           "ac",
                           "noac",
                           "acregmin",
                           "acregmax",
                           "acdirmin",
                           "acdirmax",
                           "actimeo",
                           "bg",
                           "fg",
                           "nconnect",
                           "max_connect",
                           "rdirplus",
                           "nordirplus",
                           "retry",
                           "sec",
                           "sharecache",
                           "nosharecache",
                           "resvport",
                           "noresvport",
                           "lookupcache",
                           "fsc",
                           "nofsc",
                           "proto",
                           "udp",
                           "tcp",
                           "rdma",
                           "port",
                           "mountport",
                           "mountproto",
                           "mounthost",
                           "mountvers",
                           "namlen",
                           "lock",
                           "nolock",
                           "cto",
                           "nocto",
                           "acl",
                           "noacl",
                           "local_lock",
                           "clientaddr",
                           "migration",
                           "nomigration",
                           "xprtsec",
                           "trunkdiscovery",
                           "notrunkdiscovery"}) {
    EXPECT_NE(find_option(name), nullptr) << name;
  }
}

// And those that the kernel's parser takes, whether nfs(5) has them or not (nfs_fs_parameters in
// fs/nfs/fs_context.c), but for "source", which is mount(2)'s own.
TEST(OptionTable, CoversTheKernelsParser) {
  std::istringstream words(
      "ac noac acdirmax acdirmin acl noacl acregmax acregmin actimeo addr alignwrite noalignwrite "
      "bg bsize cert_serial clientaddr cto nocto fatal_neterrors fg fsc nofsc hard intr nointr "
      "local_lock lock nolock lookupcache max_connect migration nomigration minorversion mountaddr "
      "mounthost mountport mountproto mountvers namlen nconnect nfsvers port posix noposix "
      "privkey_serial proto rdirplus nordirplus rdma resvport noresvport retrans retry rsize sec "
      "sharecache nosharecache sloppy soft softerr softreval nosoftreval tcp timeo trunkdiscovery "
      "notrunkdiscovery udp v2 v3 v4 v4.0 v4.1 v4.2 vers write wsize xprtsec");
  for (std::string name; words >> name;) EXPECT_NE(find_option(name), nullptr) << name;
}

TEST(OptionTable, EveryRangeIsHeldAtBothEnds) {
  for (const auto& spec : option_table()) {
    if (spec.max == 0) continue;
    const std::string name(spec.name);
    EXPECT_TRUE(applied({name + "=" + std::to_string(spec.min)}).has_value()) << name;
    EXPECT_TRUE(applied({name + "=" + std::to_string(spec.max)}).has_value()) << name;
    for (const std::string& wrong :
         {std::to_string(spec.max + 1), std::string("-1"), std::string("x"), std::string("1x"),
          std::string("99999999999999999999999"), std::string("0x10")}) {
      const auto said = refusal(name + "=" + wrong);
      EXPECT_NE(said.find("number from " + std::to_string(spec.min)), std::string::npos)
          << name << "=" << wrong << ": " << said;
    }
    if (spec.min > 0) {
      EXPECT_FALSE(applied({name + "=" + std::to_string(spec.min - 1)}).has_value()) << name;
    }
  }
}

TEST(OptionTable, ValuesAreDemandedAndUnwantedOnesRefused) {
  for (const auto& spec : option_table()) {
    if (spec.name == "x-*") continue;
    const std::string name(spec.name);
    const auto without = refusal(name);
    const auto with = refusal(name + "=1");
    if (spec.value_optional) {
      EXPECT_EQ(without, "accepted") << name;
    } else if (spec.takes_value()) {
      EXPECT_NE(without.find(name), std::string::npos) << name << ": " << without;
      EXPECT_NE(without, "accepted") << name;
    } else {
      EXPECT_NE(with, "accepted") << name;
    }
    // In words that have nothing of how the list is read.
    EXPECT_EQ((without + with).find("'--" + name), std::string::npos) << without << with;
  }
}

TEST(OptionTable, IgnoredOptionsAreAcceptedAndNoted) {
  for (const auto& spec : option_table()) {
    if (spec.kind != OptionKind::ignored || spec.name == "x-*") continue;
    const auto item = std::string(spec.name) + (spec.takes_value() ? "=2" : "");
    const auto options = applied({item});
    ASSERT_TRUE(options.has_value()) << item;
    const auto& said = spec.missed ? options->notices : options->notes;
    ASSERT_EQ(said.size(), 1u) << item;
    EXPECT_NE(said[0].find(spec.doc), std::string::npos);
  }
}

// A user of these options expects speed or safety that they do not give.
TEST(OptionTable, WhatIsMissedIsNoticed) {
  for (const char* item : {"nconnect=8", "fsc", "fsc=tag", "nocto", "resvport", "mand"}) {
    EXPECT_EQ(applied({item})->notices.size(), 1u) << item;
  }
  EXPECT_TRUE(applied({"nconnect=1"})->notices.empty()) << "that is what there is";
  EXPECT_TRUE(applied({"noresvport", "nofsc", "intr", "nolock"})->notices.empty());
}

TEST(OptionTable, RefusedOptionsSayWhy) {
  for (const auto& spec : option_table()) {
    if (spec.kind != OptionKind::refused) continue;
    const auto said = refusal(std::string(spec.name) + (spec.takes_value() ? "=1" : ""));
    EXPECT_NE(said.find("option " + std::string(spec.name)), std::string::npos) << said;
    EXPECT_NE(said.find(spec.doc), std::string::npos) << said;
  }
}

TEST(OptionTable, UnknownOptionIsNamed) {
  EXPECT_NE(refusal("frobnicate").find("frobnicate"), std::string::npos);
  EXPECT_NE(refusal("frobnicate=2").find("frobnicate"), std::string::npos);
  // No guessing from a prefix.
  EXPECT_NE(refusal("rsiz=1024").find("unknown option"), std::string::npos);
}

TEST(OptionTable, ANameThatIsNearlyRightIsGuessed) {
  for (const auto& [given, meant] : {std::pair{"prot=tcp", "proto?"},
                                     {"por=3", "port?"},
                                     {"rzise=1024", "rsize?"},
                                     {"Port=3", "port?"},
                                     {"nosiud", "nosuid?"}}) {
    const auto said = refusal(given);
    EXPECT_NE(said.find("did you mean " + std::string(meant)), std::string::npos) << said;
  }
  EXPECT_EQ(refusal("frobnicate").find("did you mean"), std::string::npos);
}

TEST(OptionTable, BlanksAroundAnOptionAreNothing) {
  const auto options = applied({"ro", " soft", "fsname=a b "});
  ASSERT_TRUE(options.has_value()) << options.error().detail;
  EXPECT_TRUE(options->read_only);
  EXPECT_EQ(options->patience.error_number, EIO);
  EXPECT_EQ(options->fsname, "a b");
}

// As a command; what mount(8) hands over for "mount -o remount,ro /mnt" is in CommandLine.Remount:
// the mount table's words in front.
TEST(OptionTable, RemountIsRefusedWhateverStandsBesideIt) {
  const auto said = applied({"rw", "nosuid", "user_id=0", "group_id=0", "frob", "remount", "ro"});
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().detail, "option remount: unmount and mount again");
  EXPECT_TRUE(applied({"rw", "nodev", "relatime", "user_id=0", "group_id=0", "rootmode=40000",
                       "fd=5", "max_read=1048576", "blksize=4096"}));
}

TEST(OptionTable, SloppyIsAWordToo) {
  const auto options = applied({"frob", "sloppy", "ro"});
  ASSERT_TRUE(options.has_value()) << options.error().detail;
  EXPECT_TRUE(options->read_only);
}

TEST(OptionTable, SloppyPassesOverUnknownNamesOnly) {
  Options options;
  options.program.sloppy = true;
  ASSERT_TRUE(apply_options(options, {"frobnicate=2", "rsize=4096", "nofrob"}).has_value());
  EXPECT_EQ(options.rsize, 4096u);
  EXPECT_EQ(options.notes.size(), 2u);
  EXPECT_FALSE(apply_options(options, {"sec=krb5"}).has_value());
}

TEST(OptionTable, OptionsForOtherProgramsAreLeftAlone) {
  EXPECT_TRUE(
      applied({"x-systemd.automount", "x-systemd.mount-timeout=30", "_netdev"}).has_value());
}

struct Refused {
  const char* item;
  const char* reason;
};
class RefusedValue : public testing::TestWithParam<Refused> {};

TEST_P(RefusedValue, ByNameAndReason) {
  const auto said = refusal(GetParam().item);
  EXPECT_NE(said.find("option " + std::string(GetParam().item)), std::string::npos) << said;
  EXPECT_NE(said.find(GetParam().reason), std::string::npos) << said;
}

// V1-8.2.2-5, D05-11-1: integrity and privacy, which forbid reduction, are refused.
INSTANTIATE_TEST_SUITE_P(
    All, RefusedValue,
    testing::Values(
        Refused{"proto=udp", "UDP"}, Refused{"proto=ib", "rdma, rdma6, tcp or tcp6"},
        Refused{"vers=3", "4.1"}, Refused{"vers=4.2", "not supported yet"},
        Refused{"nfsvers=4.0", "4.1"}, Refused{"minorversion=0", "4.1"},
        Refused{"sec=krb5", "Kerberos"}, Refused{"sec=krb5i", "Kerberos"},
        Refused{"sec=krb5p", "Kerberos"}, Refused{"sec=lkey", "sys or none"},
        Refused{"sec=:", "sys or none"}, Refused{"sec=krb5:krb5i", "Kerberos"},
        Refused{"sec=krb5:lkey", "sys or none"}, Refused{"v4.2", "not supported yet"},
        Refused{"v4.0", "4.1"}, Refused{"v3", "4.1"}, Refused{"rdirplus=some", "none or force"},
        Refused{"nosymfollow", "kernel"}, Refused{"swap", "swapping"},
        Refused{"xprtsec=tls", "TLS"}, Refused{"xprtsec=mtls", "TLS"},
        Refused{"cert_serial=1", "TLS"}, Refused{"privkey_serial=1", "TLS"},
        Refused{"local_lock=some", "must be"}, Refused{"lookupcache=some", "all, pos or none"},
        Refused{"provider=tcp", "iwarp"}, Refused{"rdma_reg=frwr", "auto, mw or static"},
        Refused{"io_uring=on", "auto or off"}, Refused{"rpcrdma=3", "must be 1, 2 or auto"},
        Refused{"inline=1500", "multiple of 1024"}));

TEST(OptionValues, Transfers) {
  const auto options = applied({"rsize=5000", "wsize=4194304", "port=2050", "credits=7"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->rsize, 4096u) << "cut to whole KiB";
  EXPECT_EQ(options->wsize, 1u << 20) << "cut to what one request carries";
  EXPECT_EQ(options->transport.port, 2050);
  EXPECT_EQ(options->transport.credits, 7u);
}

TEST(OptionValues, ReadAheadIsInMebibytes) {
  EXPECT_EQ(applied({})->cache.data.read_ahead, std::size_t{64} << 20);
  EXPECT_EQ(applied({"readahead=3"})->cache.data.read_ahead, std::size_t{3} << 20);
  EXPECT_EQ(applied({"readahead=0"})->cache.data.read_ahead, 0u);
}

TEST(OptionValues, DirtyRatioLeavesBuffersForTheRest) {
  EXPECT_FALSE(applied({})->cache.most_inodes);
  EXPECT_EQ(applied({"inodes=5000"})->cache.most_inodes, 5000u);
  EXPECT_FALSE(applied({"inodes=1023"}).has_value());
  EXPECT_FALSE(applied({"inodes=16777217"}).has_value());
  EXPECT_EQ(applied({})->cache.data.dirty_ratio, 50u);
  EXPECT_EQ(applied({"dirty_ratio=75"})->cache.data.dirty_ratio, 75u);
  EXPECT_FALSE(applied({"dirty_ratio=76"}).has_value());
  EXPECT_FALSE(applied({"dirty_ratio=0"}).has_value());
}

TEST(OptionValues, BusyPollIsInMicroseconds) {
  using std::chrono::microseconds;
  EXPECT_EQ(applied({})->program.busy_poll, microseconds(200));
  EXPECT_EQ(applied({"busy_poll=250"})->program.busy_poll, microseconds(250));
  EXPECT_EQ(applied({"busy_poll=0"})->program.busy_poll, microseconds(0));
  EXPECT_FALSE(applied({"busy_poll=1001"}).has_value());
}

TEST(OptionValues, IoUringIsForThoseWhoAsk) {
  EXPECT_FALSE(applied({})->io_uring);
  EXPECT_TRUE(applied({"io_uring=auto"})->io_uring);
  EXPECT_FALSE(applied({"io_uring=off"})->io_uring);
}

// nfs(5): 0 is what the server offers, and less than 1024 is replaced by 4096.
TEST(OptionValues, SmallTransfers) {
  const auto options = applied({"rsize=0", "wsize=512"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->rsize, 1u << 20);
  EXPECT_EQ(options->wsize, 4096u);
}

// As the kernel's parser of NFS options has them.
TEST(OptionValues, OtherSpellings) {
  EXPECT_TRUE(applied({"v4", "bsize=4096", "noposix", "noalignwrite", "alignwrite"}));
  EXPECT_TRUE(applied({"v4.1", "symfollow", "nomand", "iversion", "noiversion", "_rnetdev"}));
  EXPECT_EQ(applied({"sec=null"})->sec, rpc::AuthFlavor::none);
  EXPECT_EQ(applied({"sec=sys:krb5"})->sec, rpc::AuthFlavor::sys);
  EXPECT_TRUE(applied({"sec=sys:krb5"})->notices.empty());
  EXPECT_EQ(applied({"sec=:sys"})->sec, rpc::AuthFlavor::sys);
  EXPECT_EQ(applied({"sec=krb5:none:sys"})->sec, rpc::AuthFlavor::none);
  EXPECT_EQ(applied({"sec=krb5:sys"})->notices.size(), 1u);
  EXPECT_FALSE(applied({"rdirplus=none"})->cache.readdirplus);
  EXPECT_TRUE(applied({"nordirplus", "rdirplus=force"})->cache.readdirplus);
}

TEST(OptionValues, Devices) {
  EXPECT_EQ(applied({})->transport.provider, Provider::automatic);
  EXPECT_EQ(applied({"provider=iwarp"})->transport.provider, Provider::iwarp);
  const auto options = applied({"provider=verbs", "device=mlx5_0", "rdma_reg=static"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->transport.provider, Provider::verbs);
  EXPECT_EQ(options->transport.device, "mlx5_0");
  EXPECT_EQ(options->transport.registration, fabric::RegistrationChoice::static_keys);
  EXPECT_EQ(applied({"rdma_reg=mw"})->transport.registration, fabric::RegistrationChoice::windows);
}

TEST(OptionValues, WhatADeviceSendsCannotBeCaptured) {
  const auto said = applied({"capture=/tmp/a", "provider=verbs"});
  ASSERT_FALSE(said);
  EXPECT_NE(said.error().detail.find("capture="), std::string::npos) << said.error().detail;
  EXPECT_FALSE(applied({"device=mlx5_0", "capture=/tmp/a"}));
  EXPECT_FALSE(applied({"device=mlx5_0", "provider=iwarp"}));
  EXPECT_TRUE(applied({"capture=/tmp/a", "provider=auto"}));
  EXPECT_TRUE(applied({"capture=/tmp/a", "provider=verbs", "capture_view=rpc"}));
  EXPECT_TRUE(applied({"capture=/tmp/a", "provider=verbs", "capture_view=roce"}));
}

TEST(OptionValues, Captures) {
  const auto options = applied({"capture=/tmp/a", "capture_view=roce", "capture_ring=5",
                                "capture_size=2", "capture_snap=96"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->transport.capture_view, CaptureView::roce);
  EXPECT_EQ(options->transport.capture_files, 5u);
  EXPECT_EQ(options->transport.capture_size, 2u << 20);
  EXPECT_EQ(options->transport.capture_snap, 96u);
  EXPECT_EQ(applied({})->transport.capture_files, 1u);
  EXPECT_FALSE(applied({"capture_view=all"}));
  EXPECT_FALSE(applied({"capture_ring=1"}));
  EXPECT_FALSE(applied({"capture_ring=65"}));
  EXPECT_FALSE(applied({"capture_view=roce", "proto=tcp"}));
}

// V1-5-2, V1-9-1: port 20049 unless told otherwise; netids rdma and rdma6.
TEST(OptionValues, Transport) {
  EXPECT_EQ(applied({})->transport.server_port(), 20049);
  EXPECT_EQ(applied({})->transport.protocol, Protocol::rdma);
  const auto options = applied({"proto=rdma6", "inline=8192", "nocrc", "capture=/tmp/a,b.pcapng"});
  ASSERT_TRUE(options.has_value());
  EXPECT_TRUE(options->transport.ipv6_only);
  EXPECT_EQ(options->transport.inline_to_server, 8192u);
  EXPECT_EQ(options->transport.inline_from_server, 8192u);
  EXPECT_FALSE(options->transport.crc);
  EXPECT_EQ(options->transport.rpcrdma, RpcRdma::one) << "the default";
  EXPECT_EQ(applied({"rpcrdma=2"})->transport.rpcrdma, RpcRdma::two);
  EXPECT_EQ(applied({"rpcrdma=auto"})->transport.rpcrdma, RpcRdma::automatic);
  EXPECT_EQ(options->transport.capture_file, "/tmp/a,b.pcapng");
  EXPECT_EQ(options->sec, rpc::AuthFlavor::sys);
  EXPECT_EQ(applied({"sec=none"})->sec, rpc::AuthFlavor::none);
  EXPECT_FALSE(applied({"rdma"})->transport.ipv6_only);
  EXPECT_TRUE(applied({"nocrc", "crc"})->transport.crc) << "the later one holds";
}

// RFC 8881 section 2.9.1: port 2049 with TCP unless told otherwise, wherever proto= stands.
TEST(OptionValues, Tcp) {
  const auto options = applied({"proto=tcp"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->transport.protocol, Protocol::tcp);
  EXPECT_EQ(options->transport.server_port(), 2049);
  EXPECT_FALSE(options->transport.ipv6_only);
  EXPECT_TRUE(applied({"proto=tcp6"})->transport.ipv6_only);
  EXPECT_EQ(applied({"port=3000", "tcp"})->transport.server_port(), 3000);
  EXPECT_EQ(applied({"tcp", "port=20049"})->transport.server_port(), 20049);
  EXPECT_EQ(applied({"tcp", "rdma"})->transport.server_port(), 20049) << "the later one holds";
}

// nfs(5): port=0 asks the server's rpcbind.
TEST(OptionValues, PortOfRpcbind) {
  EXPECT_EQ(applied({"port=0"})->transport.server_port(), 0);
  EXPECT_EQ(applied({"port=0", "tcp", "port=2050"})->transport.server_port(), 2050);
}

TEST(OptionValues, Domain) {
  EXPECT_EQ(applied({})->domain, "");
  EXPECT_EQ(applied({"domain=example.org"})->domain, "example.org");
  EXPECT_FALSE(applied({"domain="}));
  EXPECT_FALSE(applied({"domain=a b"}));
  EXPECT_FALSE(applied({"domain=a\nMethod=static"})) << "it becomes a line of a file";
}

TEST(OptionValues, AttributeTimes) {
  const auto each =
      applied({"acregmin=1", "acregmax=2", "acdirmin=3", "acdirmax=4"})->cache.attributes;
  EXPECT_EQ(each.acregmin, 1s);
  EXPECT_EQ(each.acregmax, 2s);
  EXPECT_EQ(each.acdirmin, 3s);
  EXPECT_EQ(each.acdirmax, 4s);
  const auto all = applied({"actimeo=9"})->cache.attributes;
  EXPECT_EQ(all.acregmin, 9s);
  EXPECT_EQ(all.acregmax, 9s);
  EXPECT_EQ(all.acdirmin, 9s);
  EXPECT_EQ(all.acdirmax, 9s);
}

TEST(OptionValues, NoacMeansNoBeliefAndSync) {
  const auto options = applied({"noac"});
  ASSERT_TRUE(options.has_value());
  EXPECT_TRUE(options->cache.attributes.noac);
  EXPECT_TRUE(options->synchronous());
  const auto taken_back = applied({"noac", "ac"});
  EXPECT_FALSE(taken_back->cache.attributes.noac);
  EXPECT_FALSE(taken_back->synchronous());
}

TEST(OptionValues, SyncIsUndoneByAsyncOnly) {
  EXPECT_FALSE(applied({})->synchronous());
  EXPECT_TRUE(applied({"async", "sync"})->synchronous());
  EXPECT_FALSE(applied({"sync", "async"})->synchronous());
  EXPECT_TRUE(applied({"sync", "ac"})->synchronous());
  EXPECT_TRUE(applied({"sync", "noac", "ac"})->synchronous());
  EXPECT_FALSE(applied({"sync", "ac", "async"})->synchronous());
  EXPECT_TRUE(applied({"noac", "async"})->synchronous()) << "noac is more than its sync";
}

TEST(OptionValues, Caching) {
  using cache::LookupCache;
  EXPECT_EQ(applied({"lookupcache=none"})->cache.attributes.lookup_cache, LookupCache::none);
  EXPECT_EQ(applied({"lookupcache=pos"})->cache.attributes.lookup_cache, LookupCache::positive);
  EXPECT_EQ(applied({"lookupcache=positive"})->cache.attributes.lookup_cache,
            LookupCache::positive);
  EXPECT_FALSE(applied({"nordirplus"})->cache.readdirplus);
  EXPECT_TRUE(applied({"nordirplus", "rdirplus"})->cache.readdirplus);
}

TEST(OptionValues, Program) {
  const auto options = applied({"retry=3", "stats=/tmp/s"});
  EXPECT_EQ(options->program.retry, 3min);
  EXPECT_EQ(options->program.stats_file, "/tmp/s");
}

TEST(OptionValues, Control) {
  EXPECT_EQ(applied({})->program.control, "auto");
  EXPECT_EQ(applied({"control=auto"})->program.control, "auto");
  EXPECT_EQ(applied({"control=off"})->program.control, "off");
  EXPECT_EQ(applied({"control=/run/a.sock"})->program.control, "/run/a.sock");
  // nfsrdmactl tells a socket from a mount point, which it must not touch, by its name.
  for (const char* wrong : {"control=on", "control=", "control=a.sock", "control=/run/a"}) {
    EXPECT_NE(refusal(wrong), "accepted") << wrong;
  }
}

TEST(OptionValues, Mount) {
  const auto options =
      applied({"ro", "allow_other", "nosuid", "noatime", "fsname=a,b", "subtype=x"});
  ASSERT_TRUE(options.has_value());
  EXPECT_TRUE(options->read_only);
  EXPECT_TRUE(options->allow_other);
  EXPECT_TRUE(options->other_users());
  EXPECT_EQ(options->fsname, "a,b");
  EXPECT_EQ(options->subtype, "x");
  EXPECT_EQ(options->mount_flags, (std::vector<std::string>{"ro", "nosuid", "noatime"}));
  EXPECT_FALSE(applied({"ro", "rw"})->read_only);
  EXPECT_TRUE(applied({"allow_root"})->other_users());
}

// What only an ACL of the server permits, the kernel would refuse.
TEST(OptionValues, WhoChecksPermissions) {
  EXPECT_FALSE(applied({})->kernel_checks());
  EXPECT_TRUE(applied({"default_permissions"})->kernel_checks());
  EXPECT_TRUE(applied({"allow_other"})->kernel_checks());
  EXPECT_TRUE(applied({"allow_root"})->kernel_checks());
  EXPECT_FALSE(applied({"allow_other", "nodefault_permissions"})->kernel_checks());
  EXPECT_FALSE(applied({"nodefault_permissions", "allow_other"})->kernel_checks());
  EXPECT_TRUE(applied({"nodefault_permissions", "default_permissions"})->kernel_checks());
}

// Whom the program that has mounted /dev/fd/N lets in, and whether the kernel checks, is not known.
TEST(OptionValues, OfADeviceThatWasPassedOnlyWhatIsSaidIsBelieved) {
  const auto passed = [](std::vector<std::string> items) {
    auto options = applied(std::move(items));
    options->mounted_by_another = true;
    return *options;
  };
  EXPECT_TRUE(passed({}).other_users());
  EXPECT_FALSE(passed({}).kernel_checks());
  EXPECT_FALSE(passed({"allow_other"}).kernel_checks());
  EXPECT_FALSE(passed({"nodefault_permissions"}).kernel_checks());
  EXPECT_TRUE(passed({"default_permissions"}).kernel_checks());
}

TEST(Help, NamesEveryOption) {
  const auto help = help_text();
  for (const auto& spec : option_table()) {
    EXPECT_NE(help.find("  " + option_usage(spec) + " "), std::string::npos) << spec.name;
  }
}

}  // namespace
}  // namespace nfsrdma::fuse
