#include "tests/oracle/wire_type.h"

namespace nfsrdma::oracle {

void add_callbacks(WireTypes& types) {
  nfs4::CallbackOperations::for_each([&](auto operation) {
    using Args = typename decltype(operation)::Args;
    using Res = typename decltype(operation)::Res;
    const std::string name(nfs4::operation_name(Args::opnum));
    types.push_back(std::make_shared<WireTypeOf<Args>>(name + "4args"));
    types.push_back(std::make_shared<WireTypeOf<Res>>(name + "4res"));
  });
}

void add_basic_types(WireTypes& types) {
  types.push_back(std::make_shared<WireTypeOf<nfs4::bitmap4>>("bitmap4"));
  types.push_back(std::make_shared<WireTypeOf<nfs4::nfs_fh4>>("nfs_fh4"));
  types.push_back(std::make_shared<WireTypeOf<nfs4::stateid4>>("stateid4"));
  types.push_back(std::make_shared<WireTypeOf<nfs4::nfstime4>>("nfstime4"));
  types.push_back(std::make_shared<WireTypeOf<nfs4::settime4>>("settime4"));
  types.push_back(std::make_shared<WireTypeOf<nfs4::change_info4>>("change_info4"));
  types.push_back(std::make_shared<WireTypeOf<nfs4::channel_attrs4>>("channel_attrs4"));
  types.push_back(std::make_shared<WireTypeOf<nfs4::open_delegation4>>("open_delegation4"));
}

}  // namespace nfsrdma::oracle
