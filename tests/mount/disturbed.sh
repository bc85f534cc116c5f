#!/usr/bin/env bash
# lib.sh: a script that counts what the kernel answers from its caches is skipped, not failed, where something else on the machine has
# dropped them meanwhile; what it says of the programs themselves still counts.
. "$(dirname "$0")/lib.sh"
# ended COUNTS DROPS COMMAND: the exit status of a script with $counts_caches, while which the counters of the kernel become DROPS, and
# whose last command is COMMAND.
ended() {
  printf 'drop_pagecache 4\ndrop_slab 7\n' >vmstat
  cat >script.sh <<SH
counts_caches=$1
vmstat=$work/vmstat
. "$here/lib.sh"
printf 'drop_pagecache %s\ndrop_slab %s\n' $2 >"\$vmstat"
$3
SH
  local status=0
  NFSRDMA_CAPTURES= bash script.sh >said.out 2>&1 || status=$?
  echo $status
}
same 1 "$(ended yes "4 7" 'fail "a count"')" "a failure"
same 77 "$(ended yes "4 8" 'fail "a count"')" "a failure while somebody dropped names"
grep -q '^DISTURBED: ' said.out || fail "what is said: $(cat said.out)"
same 77 "$(ended yes "5 7" 'fail "a count"')" "a failure while somebody dropped pages"
same 0 "$(ended yes "5 8" true)" "a success while somebody dropped both"
same 77 "$(ended yes "4 7" 'skip "something"')" "one that is skipped"
! grep -q DISTURBED said.out || fail "what is said: $(cat said.out)"
same 1 "$(ended "" "5 8" 'fail "data"')" "a failure of one that does not count"
same 1 "$(ended yes "5 8" 'echo "runtime error: x" >"$work/mount0.log"; fail "a count"')" "a defect that a program has reported"
