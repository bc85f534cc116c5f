#!/usr/bin/env bash
# A file that another client has made shorter, or longer, since the kernel was told of its size: a program that opens it reads as
# many bytes as it has, in small pieces and without asking for its attributes, also from a server that answers READs in any order.
# By OPEN, by OPEN with O_CREAT, under a delegation that comes back, and through a mapping.
. "$(dirname "$0")/lib.sh"
case " ${NFSRDMA_RESPONDER_OPTIONS:-} " in
  *" --reorder "*) start_responder ;;
  *) start_responder --reorder "${NFSRDMA_SEED:-7}" ;;
esac
second=$work/second
mount_export
mount_export "" "$second"
cat >"$work/take_turns.py" <<'PY'
import mmap, os, random, sys
here, there, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
MOST, PIECE = 200000, 4096
choose = random.Random(7)

def read_in_pieces(fd):
    text = b""
    while piece := os.pread(fd, PIECE, len(text)):
        text += piece
    return text

def read_mapped(fd):
    # The length that the kernel has: pages behind it are a SIGBUS.
    size = os.fstat(fd).st_size
    if size == 0:
        return b""
    with mmap.mmap(fd, size, prot=mmap.PROT_READ) as pages:
        return pages[:]

WAYS = [("open", os.O_RDWR, read_in_pieces), ("open", os.O_RDWR, read_in_pieces),
        ("open with O_CREAT", os.O_RDWR | os.O_CREAT, read_in_pieces), ("map", os.O_RDWR, read_mapped)]
text = os.urandom(MOST)
with open(f"{here}/f", "wb") as f:
    f.write(text)
lengths = [len(text)]
for turn in range(rounds):
    mount = (here, there)[turn % 2]
    way, flags, read = choose.choice(WAYS)
    fd = os.open(f"{mount}/f", flags)
    found = read(fd)
    if found != text:
        same = os.path.commonprefix([found, text])
        sys.exit(f"turn {turn}, {way}: {len(found)} bytes, the first {len(same)} right, of {len(text)}; lengths before: "
                 f"{lengths[-4:]}; behind the right ones: {found[len(same):len(same) + 16]}")
    length = choose.randrange(MOST)
    os.ftruncate(fd, length)
    text = text[:length] + bytes(max(0, length - len(text)))
    lengths.append(length)
    os.close(fd)
PY
python3 "$work/take_turns.py" "$mnt" "$second" "${NFSRDMA_ROUNDS:-400}" || fail "see above"
