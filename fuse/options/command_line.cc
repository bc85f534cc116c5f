#include "fuse/options/command_line.h"

#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "fuse/options/apply_options.h"
#include "fuse/options/config_file.h"
#include "fuse/options/letters.h"
#include "fuse/options/option_list.h"

namespace nfsrdma::fuse {
namespace {

namespace po = boost::program_options;

constexpr const char* kStep = "command line";
constexpr const char* kPlaces = "places";
constexpr std::string_view kReadWrite = "rw";
constexpr std::size_t kPlaceCount = 2;  // source and mount point

tl::unexpected<Error> usage_error(std::string detail) {
  return fail(Error::local(EINVAL, kStep, std::move(detail) + "; nfsrdma --help shows the use"));
}

bool is_helper(std::string_view program) {
  return std::filesystem::path(program).filename().string().starts_with("mount.");
}

po::options_description describe(std::span<const Letter> letters) {
  po::options_description made;
  for (const auto& letter : letters) {
    // Boost takes "long,l" or ",l".
    const std::string name = std::string(letter.word) + ',' + letter.letter;
    made.add_options()(name.c_str(), new po::untyped_value(letter.argument.empty()));
  }
  made.add_options()(kPlaces, new po::untyped_value(false));
  return made;
}

Result<po::parsed_options> parse(int argc, const char* const* argv, bool helper) {
  const auto described = describe(helper ? helper_letters() : command_letter_table());
  po::positional_options_description places;
  places.add(kPlaces, -1);
  using namespace po::command_line_style;
  try {
    return po::command_line_parser(argc, argv)
        .options(described)
        .positional(places)
        .style(allow_long | long_allow_adjacent | long_allow_next | allow_short | allow_sticky |
               short_allow_next | short_allow_adjacent | allow_dash_for_short)
        .run();
  } catch (const po::error& wrong) {
    return usage_error(wrong.what());
  }
}

/// What the letters say, before the options of -o lists are applied.
struct Collected {
  CommandLine line;
  std::vector<std::string> defaults;  ///< of mount(8): what the configuration says holds before
  std::vector<std::string> items;
  std::vector<std::string> places;
  std::size_t lists = 0;  ///< of -o that have come
};

/// mount(8) begins the list that it hands to a helper with "rw" whenever nobody has said "ro", so
/// that word of it says no more than the default does.
void take_list(const std::string& list, bool helper, Collected& collected) {
  auto items = split_option_list(list);
  if (helper && collected.lists == 0 && !items.empty() && items.front() == kReadWrite) {
    collected.defaults.push_back(std::move(items.front()));
    items.erase(items.begin());
  }
  ++collected.lists;
  std::ranges::move(items, std::back_inserter(collected.items));
}

void collect(const po::option& given, bool helper, Collected& collected) {
  const std::string value = given.value.empty() ? std::string() : given.value.front();
  if (given.string_key == kPlaces) {
    collected.places.push_back(value);
    return;
  }
  const auto* letter =
      find_letter(helper ? helper_letters() : command_letter_table(), given.string_key);
  if (!letter) return;
  if (letter->letter == 'o') {
    take_list(value, helper, collected);
  } else if (!letter->item.empty()) {
    collected.items.emplace_back(letter->item);
  } else if (letter->action != Action::mount) {
    collected.line.action = letter->action;
  } else if (letter->apply) {
    letter->apply(collected.line.options.program, value);
  }
}

Result<void> take_places(Options& options, const std::vector<std::string>& places) {
  if (places.size() != kPlaceCount) {
    return usage_error(places.size() < kPlaceCount ? "a source and a mount point are needed"
                                                   : "too many words: " + places[kPlaceCount]);
  }
  auto source = parse_source(places[0]);
  if (!source) return usage_error(places[0] + ": " + source.error().detail);
  if (places[1].empty()) return usage_error("the mount point is empty");
  options.source = *source;
  options.mount_point = places[1];
  return {};
}

/// mount(8) takes words for what is its own default, "suid" and "dev", out of the list before it
/// calls a helper: without "nosuid" they were meant. Of an ordinary user's mount that is for
/// fusermount3 to decide.
void add_defaults_of_mount(Options& options) {
  if (::geteuid() != 0) return;
  options.mount_flags.insert(options.mount_flags.begin(), {"suid", "dev"});
}

/// config=FILE, or the system's.
std::string config_path(const std::vector<std::string>& items) {
  constexpr std::string_view kConfig = "config=";
  std::string path = kConfigFile;
  for (const auto& item : items) {
    if (item.starts_with(kConfig)) path = item.substr(kConfig.size());
  }
  return path;
}

/// What the configuration says holds unless the command line says otherwise.
Result<void> apply_config(Options& options, const std::vector<std::string>& items) {
  const std::string path = config_path(items);
  if (path == "none") return {};
  std::error_code error;
  const std::string mount_point =
      std::filesystem::absolute(options.mount_point, error).lexically_normal().string();
  if (error) return usage_error("mount point " + options.mount_point + ": " + error.message());
  const bool slash = mount_point.size() > 1 && mount_point.ends_with('/');
  auto configured = read_config(
      path,
      {options.source.host, slash ? mount_point.substr(0, mount_point.size() - 1) : mount_point});
  if (!configured) return usage_error(configured.error().detail);
  options.items.insert(options.items.end(), configured->begin(), configured->end());
  auto applied = apply_options(options, *configured);
  if (!applied) return usage_error(path + ": " + applied.error().detail);
  return {};
}

/// Whether mount(8) asks for other flags of a mount that is there.
bool take_remount(Collected& collected) {
  auto remount = remount_of(collected.items);
  if (!remount) return false;
  collected.line.action = Action::remount;
  collected.line.remount = std::move(*remount);
  return true;
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  const bool helper = argc > 0 && is_helper(argv[0]);
  auto parsed = parse(argc, argv, helper);
  if (!parsed) return fail_from(parsed);
  Collected collected;
  collected.line.options.program.helper = helper;
  constexpr std::chrono::minutes kRetryOfMount{2};  // nfs(5), for mounts in the foreground
  if (helper) collected.line.options.program.retry = kRetryOfMount;
  for (const auto& given : parsed->options) collect(given, helper, collected);
  if (collected.line.action != Action::mount) return collected.line;
  TRY(take_places(collected.line.options, collected.places));
  if (helper && take_remount(collected)) return collected.line;
  TRY(apply_options(collected.line.options, collected.defaults));
  auto& items = collected.line.options.items;
  items = collected.defaults;
  TRY(apply_config(collected.line.options, collected.items));
  TRY(apply_options(collected.line.options, collected.items));
  items.insert(items.end(), collected.items.begin(), collected.items.end());
  if (helper) add_defaults_of_mount(collected.line.options);
  return collected.line;
}

}  // namespace nfsrdma::fuse
