# shellcheck shell=bash disable=SC2034,SC2154
# Another program opens /dev/fuse, mounts it for all users, and has nfsrdma serve it as $ordinary_user with the group
# $group_of_program: source it after command_lib.sh. Gives "${pass[@]}", which takes the options of nfsrdma.
group_of_program=4242
cat >"$work/pass.py" <<'PY'
import ctypes, os, sys
program, mount_point, user, group, *words = sys.argv[1:]
device = os.open("/dev/fuse", os.O_RDWR)
data = f"fd={device},rootmode=40000,user_id={user},group_id={user},allow_other".encode()
libc = ctypes.CDLL(None, use_errno=True)
if libc.mount(b"127.0.0.1:/", mount_point.encode(), b"fuse.nfsrdma", 6, data) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
os.set_inheritable(device, True)
os.execvp("setpriv", ["setpriv", f"--reuid={user}", f"--regid={user}", f"--groups={group}", "--inh-caps=-all",
                      "--bounding-set=-all", program] + words + ["127.0.0.1:/", f"/dev/fd/{device}"])
PY
programs=$(mktemp -d -t nfsrdma-programs-XXXXXX)
chmod 755 "$programs"
cp "$NFSRDMA_BIN/nfsrdma" "$programs/"
trap 'status=$?; rm -rf "$programs"; (exit $status); leave' EXIT
pass=(python3 -S "$work/pass.py" "$programs/nfsrdma" "$mnt" $ordinary_user $group_of_program)
