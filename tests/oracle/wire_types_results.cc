#include "tests/oracle/wire_type.h"

namespace nfsrdma::oracle {

void add_results(WireTypes& types) {
  nfs4::Operations::for_each([&](auto operation) {
    using Res = typename decltype(operation)::Res;
    auto name = std::string(nfs4::operation_name(Res::opnum)) + "4res";
    types.push_back(std::make_shared<WireTypeOf<Res>>(std::move(name)));
  });
}

}  // namespace nfsrdma::oracle
