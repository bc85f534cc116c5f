#include "tests/lab/rerun/names.h"

#include <utility>

#include "client/names/journaled_names.h"
#include "transport/xdr/decoder.h"

namespace nfsrdma::lab::rerun {

using journal::Kind;

void RerunNames::find_number(client::OwnerKind kind, const std::string& name, GetNumber answer) {
  open_[++questions_] = std::move(answer);
  world_.give(Kind::name_asked, client::number_question(questions_, kind, name));
}

void RerunNames::find_name(client::OwnerKind kind, std::uint32_t number, GetName answer) {
  open_[++questions_] = std::move(answer);
  world_.give(Kind::name_asked, client::name_question(questions_, kind, number));
}

void RerunNames::found(const Entry& entry) {
  xdr::Decoder in(entry.body);
  const auto open = open_.extract(in.u32("question"));
  if (!open) world_.damaged("an answer to no question about a name");
  if (const auto* get_name = std::get_if<GetName>(&open.mapped())) {
    return (*get_name)(std::string(in.string(kLongestBody, "name")));
  }
  const bool known = in.u32("known") != 0;
  const std::uint32_t number = in.u32("number");
  std::get<GetNumber>(open.mapped())(known ? std::optional(number) : std::nullopt);
}

}  // namespace nfsrdma::lab::rerun
