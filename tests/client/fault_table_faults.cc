// What goes wrong: each fault strikes once, when the operation it is aimed at arrives.
#include <memory>

#include "tests/client/fault_table.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

constexpr std::uint32_t kGraceSeconds = 45;

void break_with(FaultTable& t, Fate fate) {
  t.server().fate = [&t, fate](const Arrival& arrival) {
    return t.strikes(arrival) ? fate : Fate::answer;
  };
}

void disconnect_before(FaultTable& t) { break_with(t, Fate::disconnect_before); }
void disconnect_after(FaultTable& t) { break_with(t, Fate::disconnect_after); }

// The server is at it for another second; the repetition meets a request in progress.
void disconnect_meanwhile(FaultTable& t) {
  responder::OperationFault slow;
  slow.opnum = t.operation().opnum;
  slow.delay = seconds(1);
  t.server().service().inject(slow);
  break_with(t, Fate::disconnect_after);
}

template <void (*Strike)(FaultTable&)>
void before(FaultTable& t) {
  t.server().fate = [&t](const Arrival& arrival) {
    if (!t.strikes(arrival)) return Fate::answer;
    Strike(t);
    return Fate::disconnect_before;
  };
}

/// The call has been executed, its answer is lost.
template <void (*Strike)(FaultTable&)>
void after(FaultTable& t) {
  t.server().fate = [&t](const Arrival& arrival) {
    return t.strikes(arrival) ? Fate::disconnect_after : Fate::answer;
  };
  t.server().after = [&t](const Arrival& arrival) {
    if (!arrival.has(t.operation().opnum)) return;
    t.server().after = nullptr;
    Strike(t);
  };
}

void reboot(FaultTable& t) { t.server().reboot(0); }
void reboot_with_grace(FaultTable& t) { t.server().reboot(kGraceSeconds); }
void destroy_sessions(FaultTable& t) { t.server().service().destroy_sessions(); }

void destroy_sessions_before(FaultTable& t) {
  t.server().fate = [&t](const Arrival& arrival) {
    if (t.strikes(arrival)) destroy_sessions(t);
    return Fate::answer;
  };
}

// Out of reach for two leases.
void expire_lease(FaultTable& t) {
  t.server().unreachable = true;
  static std::unique_ptr<Timer> timer;
  timer = std::make_unique<Timer>(t.reactor(), [&t] {
    t.server().unreachable = false;
    t.note_end_of_outage();
  });
  timer->arm(2 * seconds(ServedDirectory::kLeaseSeconds));
}

void fail_three_times(FaultTable& t, nfsstat4 status) {
  t.server().fail(t.operation().opnum, status, 3);
}
void delay(FaultTable& t) { fail_three_times(t, NFS4ERR_DELAY); }
void grace(FaultTable& t) { fail_three_times(t, NFS4ERR_GRACE); }
void callback_path_down(FaultTable& t) { t.server().lose_callback_path(); }

const Fault kFaults[] = {
    {"DisconnectBeforeSend", false, false, disconnect_before},
    {"DisconnectAfterSend", false, false, disconnect_meanwhile},
    {"DisconnectAfterExecution", false, false, disconnect_after},
    {"RebootBefore", true, true, before<reboot>},
    {"RebootAfter", true, true, after<reboot>},
    {"RebootWithGraceBefore", true, false, before<reboot_with_grace>},
    {"RebootWithGraceAfter", true, false, after<reboot_with_grace>},
    {"SessionDestroyedBefore", false, false, destroy_sessions_before},
    {"SessionDestroyedAfter", true, false, after<destroy_sessions>},
    {"LeaseExpiredBefore", true, true, before<expire_lease>},
    {"LeaseExpiredAfter", true, true, after<expire_lease>},
    {"Delay", false, false, delay},
    {"Grace", false, false, grace},
    {"CallbackPathDown", false, false, callback_path_down},
};

}  // namespace

std::span<const Fault> faults_of_table() { return kFaults; }

}  // namespace nfsrdma::client::test
