#include "tests/hostile/callback_burst.h"

#include <gtest/gtest.h>

#include "client/session/session.h"
#include "client/session/session_setup.h"

namespace nfsrdma::hostile {

void send_callbacks(HostileMount& mount, Back back, std::uint32_t count,
                    const std::function<void(xdr::Encoder&, const Back&)>& write,
                    Answers& answers) {
  ASSERT_FALSE(mount.server().connections().empty());
  responder::CallbackTarget target;
  target.program = client::SessionSetup::kCallbackProgram;
  back.session = mount.mount().session().id();
  for (; count > 0; --count, ++back.turn) {
    (void)mount.server().connections().back()->call_back(
        target, [&](xdr::Encoder& out) { write(out, back); },
        [&answers](const Result<xdr::Decoder>& result) {
          ++(result ? answers.answered : answers.unanswered);
        });
  }
}

}  // namespace nfsrdma::hostile
