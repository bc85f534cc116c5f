#!/usr/bin/env bash
# Version 2: the receive sizes of both sides grow to inline= while the mount works, without a
# reconnection, and small reads, writes and listings then register no memory.
. "$(dirname "$0")/lib.sh"
start_responder --rpcrdma 2 --inline 4096 --inline-most 65536
mount_export rpcrdma=2,inline=65536,noac
same 4096 "$(counter inline_to_server)" "threshold at first"

# The responder takes larger messages when its smaller receives are used up.
for i in $(seq 60); do echo "$i" >"$mnt/file$i"; done
same 65536 "$(counter inline_to_server)" "threshold to the server"
same 65536 "$(counter inline_from_server)" "threshold from the server"
same 65536 "$(counter server_receive_buffer_size)" "the server's receive size"
same 65536 "$(counter own_receive_buffer_size)" "the own receive size"
same 1 "$(counter sent_reqprop)" "requests"
same 1 "$(counter received_resprop)" "answers"
same 0 "$(counter reconnects)" "reconnections"

leases=$(counter leases)
head -c 4096 /dev/urandom >"$mnt/small"
cmp "$mnt/small" "$export/small"
stat "$mnt"/file* >/dev/null
ls -l "$mnt" >/dev/null
same "$leases" "$(counter leases)" "registrations of small operations"
head -c 1000000 /dev/urandom >"$mnt/large"
cmp "$mnt/large" "$export/large"
[ "$(counter leases)" -gt "$leases" ] || fail "large data goes by RDMA"

# The server asks for less, and for more again; nothing breaks.
control request 4096 >/dev/null
cmp "$mnt/large" "$export/large"
same 4096 "$(counter inline_from_server)" "what the server asked for"
control request 32768 >/dev/null
cmp "$mnt/small" "$export/small"
same 32768 "$(counter inline_from_server)" "what the server asked for next"
same 0 "$(counter reconnects)" "reconnections"
