#!/usr/bin/env bash
# The conformance tests of the fabric interface on a software RDMA device of the guest.
# Usage: fabric_in_guest.sh siw|rxe NETDEV REGISTRATION
. "$(dirname "$0")/lib.sh"
kind=$1 netdev=$2 registration=$3
use_guest
# One test sends more than there are receives for.
caused "siw: got TERMINATE. layer 1, type 2, code 2"
into_guest fabric_conformance_test
address=$(guest_run "rdma-device $kind $netdev")
GUEST_PATIENCE=600 run_in_guest fabric_conformance_test --provider=verbs "--address=$address" \
  "--device=${kind}_$netdev" "--rdma-reg=$registration" --gtest_brief=1 |
  tail -n 4
