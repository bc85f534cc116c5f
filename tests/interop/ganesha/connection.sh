#!/usr/bin/env bash
# The TCP connection to NFS-Ganesha is cut again and again under a copy, and under changes that cannot
# be repeated: the session goes on with the next connection, nothing is lost or done twice.
. "$(dirname "$0")/../../mount/lib.sh"
. "$here/../interop/ganesha/server.sh"
need_ganesha vfs
start_ganesha vfs
python3 "$here/../interop/ganesha/cutting_proxy.py" "$port" >"$work/proxy.out" 2>"$work/proxy.log" &
proxy=$!
wait_for "the proxy" grep -q . "$work/proxy.out"
port=$(head -n 1 "$work/proxy.out")
mount_export
ganesha_log_mark
tree=/usr/include/c++
[ -d $tree ] || tree=/usr/share/doc
head -c 300000000 /dev/urandom >"$work/large"

# Until the work is done, a cut every 0.5 s: after one that comes soon after the one before, the client waits half a second.
work_on_it() {
  cp "$work/large" "$mnt/large" && cp -rL "$tree" "$mnt/tree" && cmp "$work/large" "$mnt/large" &&
    diff -r "$tree" "$mnt/tree" &&
    for i in $(seq 300); do
      mkdir "$mnt/d$i" && touch "$mnt/d$i/f" && mv "$mnt/d$i" "$mnt/e$i" && rm "$mnt/e$i/f" &&
        rmdir "$mnt/e$i" || return 1
    done
}
work_on_it &
busy=$!
while kill -0 $busy 2>/dev/null; do
  sleep 0.5
  kill -USR1 $proxy
done
wait $busy || fail "something failed while connections were cut"
cmp "$work/large" "$export/large" || fail "the large file at the server"
diff -r "$tree" "$export/tree" || fail "the tree at the server"
same "large tree" "$(ls -A "$export" | xargs)" "nothing else is left"

reconnects=$(counter reconnects)
echo "connections made anew: $reconnects"
[ "$reconnects" -ge 3 ] || fail "the connection was hardly ever cut"
same 0 "$(counter session_losses)" "session_losses"
same 0 "$(counter bad_records)" "bad_records"
same "" "$(ganesha_log | grep -v TIRPC)" "what ganesha complained of"
unmount_export
kill $proxy
