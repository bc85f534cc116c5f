#include "fuse/options/option_groups.h"

namespace nfsrdma::fuse {
namespace {

/// Hands the option on to mount(2) or fusermount3 as it is; of two that contradict each other the
/// later one holds there, too.
Result<void> pass_on(Options& options, const OptionValue& value) {
  std::string option(value.name);
  if (!value.text.empty()) option += '=' + std::string(value.text);
  options.mount_flags.push_back(std::move(option));
  return {};
}

Result<void> apply_read_only(Options& options, const OptionValue& value) {
  options.read_only = value.name == "ro";
  return pass_on(options, value);
}

Result<void> apply_permissions(Options& options, const OptionValue& value) {
  options.default_permissions = value.name == "default_permissions";
  return {};
}

Result<void> apply_synchronous(Options& options, const OptionValue& value) {
  options.sync = value.name == "sync";
  return {};
}

constexpr OptionSpec passed_on(std::string_view name, std::string_view doc) {
  return flag(name, doc, pass_on);
}

constexpr OptionSpec kOptions[] = {
    flag("rw", "read and write (the default)", apply_read_only),
    flag("ro", "read only", apply_read_only),
    flag("allow_other",
         "let all users in, not only the one who mounts; implies default_permissions",
         set_flag<true, &Options::allow_other>),
    flag("allow_root", "let root in, too; implies default_permissions",
         set_flag<true, &Options::allow_root>),
    flag("default_permissions", "let the kernel check file modes before it asks the server",
         apply_permissions),
    flag("nodefault_permissions",
         "leave all checks to the server, as its ACLs need; with allow_other no name is cached",
         apply_permissions),
    with_value("fsname", "NAME", "server:/export", "the source shown by df and findmnt",
               set_text<&Options::fsname>),
    with_value("subtype", "NAME", "nfsrdma", "the file system type shown, after \"fuse.\"",
               set_text<&Options::subtype>),
    flag("sync", "every write is on the server's stable storage when it returns",
         apply_synchronous),
    flag("async", "writes become stable by fsync and close (the default)", apply_synchronous),
    passed_on("suid",
              "honour set-user-ID and set-group-ID modes (root only; the default of mount(8))"),
    passed_on("nosuid", "do not (the default of the command)"),
    passed_on("dev", "honour device nodes (root only; the default of mount(8))"),
    passed_on("nodev", "do not (the default of the command)"),
    passed_on("exec", "let programs be run (the default)"),
    passed_on("noexec", "do not let programs be run"),
    passed_on("atime", "the kernel may update access times (the default)"),
    passed_on("noatime", "it may not; the server does as it likes"),
    flag("sloppy", "pass over options that are not known",
         set_flag<true, &Options::program, &ProgramOptions::sloppy>),
    with_value("context", "CONTEXT", "", "SELinux, see mount(8)", pass_on),
    with_value("fscontext", "CONTEXT", "", "SELinux, see mount(8)", pass_on),
    with_value("defcontext", "CONTEXT", "", "SELinux, see mount(8)", pass_on),
    with_value("rootcontext", "CONTEXT", "", "SELinux, see mount(8)", pass_on),
};

}  // namespace

std::span<const OptionSpec> mount_options() { return kOptions; }

}  // namespace nfsrdma::fuse
