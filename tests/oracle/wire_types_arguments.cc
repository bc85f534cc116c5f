#include "tests/oracle/wire_type.h"

namespace nfsrdma::oracle {

void add_arguments(WireTypes& types) {
  nfs4::Operations::for_each([&](auto operation) {
    using Args = typename decltype(operation)::Args;
    if constexpr (!std::is_empty_v<Args>) {
      auto name = std::string(nfs4::operation_name(Args::opnum)) + "4args";
      types.push_back(std::make_shared<WireTypeOf<Args>>(std::move(name)));
    }
  });
}

}  // namespace nfsrdma::oracle
