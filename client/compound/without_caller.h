// What becomes of a change whose caller is gone before it was made.
#pragma once

namespace nfsrdma::client {

enum class WithoutCaller : bool {
  ends,     ///< it is not made: nobody wants it any more, and a later one may have been made since
  goes_on,  ///< it puts something right
};

}  // namespace nfsrdma::client
