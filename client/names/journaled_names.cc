#include "client/names/journaled_names.h"

#include <utility>

namespace nfsrdma::client {

using journal::Body;
using journal::Input;
using journal::Kind;

Body number_question(std::uint32_t question, OwnerKind kind, const std::string& name) {
  return std::move(Body().u32(question).u32(static_cast<std::uint32_t>(kind)).string(name));
}

Body name_question(std::uint32_t question, OwnerKind kind, std::uint32_t number) {
  return std::move(Body().u32(question).u32(static_cast<std::uint32_t>(kind)).u32(number));
}

void JournaledNames::find_number(OwnerKind kind, const std::string& name, GetNumber answer) {
  const std::uint32_t question = ++questions_;
  reactor_.recorder().give(Kind::name_asked, number_question(question, kind, name));
  names_.find_number(kind, name, [this, question, answer = std::move(answer)](auto number) {
    Body body;
    body.u32(question).u32(number ? 1 : 0).u32(number.value_or(0));
    const Input input(reactor_, Kind::name_found, body);
    answer(number);
  });
}

void JournaledNames::find_name(OwnerKind kind, std::uint32_t number, GetName answer) {
  const std::uint32_t question = ++questions_;
  reactor_.recorder().give(Kind::name_asked, name_question(question, kind, number));
  names_.find_name(kind, number, [this, question, answer = std::move(answer)](std::string name) {
    const Input input(reactor_, Kind::name_found, Body().u32(question).string(name));
    answer(std::move(name));
  });
}

}  // namespace nfsrdma::client
