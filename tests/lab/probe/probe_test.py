#!/usr/bin/env python3
"""probe, run on a responder over iWARP and TCP: each row has its answer, and where there is a capture each
answer names the frames that hold the message and its reply."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["NFSRDMA_BIN"])
# What the responder is known to do; the tests of tests/responder say so as well.
EXPECTED = {
    "private data is sent": ["yes", "-"],
    "credits granted for 65535": ["64", "-"],
    "versions told for version 9 (ERR_VERS)": ["1 to 2", "-"],
    "an operation behind a Read chunk is executed": ["yes", "-"],
    "a Write chunk too small for its READ": ["error", "-"],
    "a record in fragments": ["-", "yes"],
    "a back channel over this connection": ["yes", "yes"],
    "minor version 9": ["NFS4ERR_MINOR_VERS_MISMATCH"] * 2,
    "a change that is sent again is executed once": ["yes", "yes"],
    "lease_time in seconds": ["90", "90"],
    "an operation without a number (4711)": ["NFS4ERR_OP_ILLEGAL"] * 2,
}
SHOWN = 40  # bytes of a message that its frame must hold; the rest may be in the next one


def payloads(capture):
    text = subprocess.run(["tshark", "-n", "-r", capture, "-T", "fields", "-e", "frame.number", "-e", "tcp.payload"],
                          check=True, capture_output=True, text=True).stdout
    rows = (line.split("\t") for line in text.splitlines())
    return {int(number): payload.replace(":", "") for number, payload in rows}


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="nfsrdma-probe-"))
    (work / "export").mkdir()
    responder = subprocess.Popen([BIN / "nfsrdma-responder", "--export", work / "export", "--port", "0", "--tcp-port", "0"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        rdma = responder.stdout.readline().split()[-1]
        tcp = responder.stdout.readline().split()[-1]
        capture = work / "probe.pcapng"
        done = subprocess.run([BIN / "nfsrdma-lab", "probe", rdma, "--compare", f"tcp:{tcp}", "--json", "--risky", "--capture", capture,
                               "--patience", "1"], capture_output=True, text=True)
        assert done.returncode == 0, done
        rows = json.loads(done.stdout)
        answers = {row["rule"]: row["answers"] for row in rows}
        assert len(answers) == len(rows), "two rows have one name"
        for rule, expected in EXPECTED.items():
            assert [a["answer"] for a in answers[rule]] == expected, (rule, answers[rule])
        assert os.listdir(work / "export") == [], "the probe has left files behind"
        if shutil.which("tshark") is None:
            print("no tshark: the frames were not looked at")
            return 0
        frames = payloads(capture)
        proved = 0
        for rule, both in answers.items():
            for answer in both:
                assert (answer["sent_frame"] == 0) == (answer["answer"] == "-"), f"{rule}: no frame proves it"
                for which in ("sent", "came"):
                    frame, message = answer[which + "_frame"], answer[which][2:][:2 * SHOWN]
                    # What begins a connection is no message. What takes several frames ends in the one that is named.
                    if frame == 0 or message == "" or len(answer[which]) > 1024:
                        continue
                    assert message in frames[frame], (rule, which, frame)
                    proved += 1
        assert proved > 150, proved
        print(f"{len(rows)} rows, {proved} messages found in their frames")
        return 0
    finally:
        responder.terminate()
        responder.wait()
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
