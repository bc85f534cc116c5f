#include "fuse/options/apply_options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>

#include "fuse/options/option_table.h"
#include "transport/base/line_text.h"

namespace nfsrdma::fuse {
namespace {

namespace po = boost::program_options;

constexpr const char* kStep = "options";

tl::unexpected<Error> usage_error(std::string detail) {
  return fail(Error::local(EINVAL, kStep, std::move(detail)));
}

/// Boost's owner-less way of saying what an option takes: add_options() deletes it.
const po::value_semantic* semantic_of(const OptionSpec& spec) {
  if (spec.value_optional) return po::value<std::string>()->implicit_value("");
  return new po::untyped_value(!spec.takes_value());
}

/// The table in Boost's terms.
const po::options_description& description() {
  static const po::options_description all = [] {
    po::options_description made;
    for (const auto& spec : option_table()) {
      made.add_options()(std::string(spec.name).c_str(), semantic_of(spec));
    }
    return made;
  }();
  return all;
}

/// "a, b" is meant as "a,b".
std::string without_blanks_around(const std::string& item) {
  constexpr const char* kBlanks = " \t";
  const auto first = item.find_first_not_of(kBlanks);
  if (first == std::string::npos) return {};
  return item.substr(first, item.find_last_not_of(kBlanks) - first + 1);
}

/// Boost gives a name that it does not know together with the value.
tl::unexpected<Error> unknown_option(const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  const auto similar = similar_option(name);
  const std::string guess = similar.empty() ? "" : "did you mean " + std::string(similar) + "? ";
  return usage_error("unknown option " + name + "; " + guess + "nfsrdma --help lists them");
}

/// Said in our words: Boost's are about dashes, which -o has not.
tl::unexpected<Error> wrong_use(const std::string& name) {
  const auto* spec = find_option(name);
  if (!spec) return unknown_option(name);
  if (spec->takes_value()) {
    return usage_error("option " + name + " needs a value: " + option_usage(*spec));
  }
  return usage_error("option " + name + " takes no value");
}

/// Of "--name".
std::string plain_name(const std::string& name) { return name.substr(name.find_first_not_of('-')); }

bool is_for_other_programs(const std::string& item) { return item.starts_with("x-"); }

Result<po::parsed_options> parse(const std::vector<std::string>& items, bool sloppy) {
  std::vector<std::string> words;
  for (const auto& given : items) {
    const std::string item = without_blanks_around(given);
    if (!item.empty() && !is_for_other_programs(item)) words.push_back("--" + item);
  }
  po::command_line_parser parser(words);
  parser.options(description())
      .style(po::command_line_style::allow_long | po::command_line_style::long_allow_adjacent);
  if (sloppy) parser.allow_unregistered();
  try {
    return parser.run();
  } catch (const po::unknown_option& unknown) {
    return unknown_option(plain_name(unknown.get_option_name()));
  } catch (const po::error_with_option_name& wrong) {
    return wrong_use(plain_name(wrong.get_option_name()));
  } catch (const po::error& wrong) {
    return usage_error(wrong.what());
  }
}

Result<std::uint64_t> parse_number(const OptionSpec& spec, std::string_view text) {
  const auto number = whole_number<std::uint64_t>(text);
  if (number && *number >= spec.min && *number <= spec.max) return *number;
  return usage_error("must be a number from " + std::to_string(spec.min) + " to " +
                     std::to_string(spec.max));
}

Result<void> apply_value(const OptionSpec& spec, Options& options, OptionValue value) {
  if (spec.kind == OptionKind::refused) return usage_error(std::string(spec.doc));
  if (spec.kind == OptionKind::ignored) {
    const bool missed = spec.missed && value.text != "1";  // nconnect=1 is what there is
    auto& said = missed ? options.notices : options.notes;
    said.push_back(std::string(spec.name) + " has no effect: " + std::string(spec.doc));
    return {};
  }
  if (spec.max != 0) {
    auto number = parse_number(spec, value.text);
    if (!number) return fail_from(number);
    value.number = *number;
  }
  return spec.apply(options, value);
}

Result<void> apply_one(Options& options, const po::option& given) {
  const auto* spec = find_option(given.string_key);
  if (!spec) {
    options.notes.push_back("unknown option " + given.string_key + " passed over");
    return {};
  }
  const std::string text = given.value.empty() ? std::string() : given.value.front();
  auto applied = apply_value(*spec, options, {spec->name, text});
  if (applied) return {};
  const std::string shown = text.empty() ? given.string_key : given.string_key + "=" + text;
  return usage_error("option " + shown + ": " + applied.error().detail);
}

/// What each option by itself cannot see.
Result<void> check_together(const TransportOptions& transport) {
  const bool device = transport.provider == Provider::verbs || !transport.device.empty();
  const bool wire = !transport.capture_file.empty() && transport.capture_view == CaptureView::wire;
  if (device && wire) {
    return usage_error(
        "capture= records provider=iwarp and proto=tcp; what an RDMA device sends "
        "does not pass through this program: capture_view=rpc records its RPCs, "
        "capture_view=roce makes packets of them");
  }
  if (transport.protocol == Protocol::tcp && transport.capture_view == CaptureView::roce) {
    return usage_error("capture_view=roce is for RDMA, and proto=tcp has none");
  }
  if (transport.provider == Provider::iwarp && !transport.device.empty()) {
    return usage_error("device= is for provider=verbs");
  }
  return {};
}

bool has(const std::vector<std::string>& items, std::string_view word) {
  return std::ranges::find(items, word) != items.end();
}

}  // namespace

Result<void> apply_options(Options& options, const std::vector<std::string>& items) {
  // mount(8) puts what the mount table shows in front of it, and that is not to be judged.
  if (has(items, "remount")) return usage_error("option remount: unmount and mount again");
  options.program.sloppy |= has(items, "sloppy");
  auto parsed = parse(items, options.program.sloppy);
  if (!parsed) return fail_from(parsed);
  for (const auto& given : parsed->options) TRY(apply_one(options, given));
  return check_together(options.transport);
}

}  // namespace nfsrdma::fuse
