#!/usr/bin/env python3
"""Goes over captures with tshark and with nfsrdma-lab lint, and prints what is wrong in each.

    tests/captures/check.py [--remove] [--bin BIN] FOLDER

One line for each capture: frames, RPCs, and of the client and of the server: frames that tshark takes for malformed, and
rules that lint finds broken. tshark makes one pass, with the dissector of version 2; a capture of the wire takes it two,
and it does not know all of what is there: see README.md. The file `exceptions` beside this program says where a server
does wrong on purpose, and which captures are not whole on purpose; the client's frames are looked at all the same.
--remove deletes what is clean. Exit status 1 if anything is wrong.
"""
import argparse
import collections
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DISSECTOR = HERE.parent / "lab/wireshark/rpcrdma2.lua"
FIELDS = ("frame.number", "tcp.stream", "tcp.srcport", "tcp.flags", "_ws.malformed", "_ws.short", "_ws.expert.severity",
          "_ws.expert.message", "tcp.analysis.lost_segment", "tcp.analysis.retransmission", "rpc.msgtyp", "_ws.lua.error")
EXPERT_ERROR = str(0x00800000)
NFS_PORT = "2049"
SYN, SYN_ACK = 0x02, 0x12
MALFORMED = "malformed"
NOTHING = "has no connection of NFS"
SHOWN = 5  # lines of each capture that say what is wrong


@dataclasses.dataclass
class Checked:
    """One capture. `wrong` is by side, client or server: lines that say what."""
    path: pathlib.Path
    frames: int = 0
    rpcs: int = 0
    malformed: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    broken: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    wrong: list = dataclasses.field(default_factory=list)
    excused: str = ""
    forgiven: int = 0


def read_exceptions():
    """[(word, pattern, reason)]: see the file."""
    lines = (HERE / "exceptions").read_text().splitlines()
    return [tuple(line.split(None, 2)) for line in lines if line.strip() and not line.startswith("#")]


def exception_of(name, word, exceptions):
    """The reason why captures of that name are excepted with the word, or nothing."""
    return next((reason for one, pattern, reason in exceptions if one == word and re.match(pattern, name)), "")


def tshark(path, options, fields):
    """Each frame's fields."""
    command = ["tshark", "-X", f"lua_script:{DISSECTOR}", *options, "-n", "-r", str(path), "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            yield line.rstrip("\n").split("\t")
        said = process.stderr.read()
    if process.returncode != 0:
        raise RuntimeError(f"tshark: {said.strip().splitlines()[-1] if said.strip() else process.returncode}")


class Sides:
    """Who has sent a frame: the server has port 2049, or the one that the first SYN of the connection went to."""

    def __init__(self):
        self.clients = {}

    def of(self, stream, port, flags):
        if not stream:
            return "client"  # RoCEv2: not known, and nobody is excused
        if int(flags or "0", 16) & SYN_ACK == SYN:
            self.clients[stream] = port
        if stream in self.clients:
            return "client" if port == self.clients[stream] else "server"
        return "server" if port == NFS_PORT else "client"


def complaint(fields, part):
    """What tshark has against a frame, or nothing. Part of a stream has gaps."""
    _, _, _, _, malformed, short, severity, message, lost, again, _, lua = fields
    if malformed:
        return MALFORMED
    if short:
        return "cut short"
    if EXPERT_ERROR in severity.split(","):
        return "error: " + message
    if (lost or again) and not part:
        return "a gap in the stream"
    return "the dissector of version 2 fails" if lua else ""


def look_with_tshark(checked, options, part):
    sides = Sides()
    for fields in tshark(checked.path, options, FIELDS):
        fields += [""] * (len(FIELDS) - len(fields))
        number, stream, port, flags = fields[:4]
        checked.frames += 1
        checked.rpcs += len([one for one in fields[10].split(",") if one])
        side = sides.of(stream, port, flags)
        what = complaint(fields, part)
        if what:
            checked.malformed[side] += 1
            checked.wrong.append((side, f"frame {number} of the {side}: tshark: {what}"))


def look_with_lint(checked, program):
    """What lint says, which it does in its own words about both sides."""
    run = subprocess.run([program, "lint", str(checked.path), "--json"], capture_output=True, text=True, errors="replace")
    if NOTHING in run.stderr:
        return {"connections": [], "findings": []}
    if run.returncode not in (0, 1):
        raise RuntimeError(f"lint: {run.stderr.strip() or run.returncode}")
    said = json.loads(run.stdout)
    for finding in said["findings"]:
        if not finding["note"]:
            checked.broken[finding["from"]] += 1
            checked.wrong.append((finding["from"], f"frame {finding['frame']} of the {finding['from']}: {finding['where']} {finding['rule']} "
                                                   f"Seen: {finding['seen']}"))
    return said


def forgive_tshark(checked, lab):
    """On the wire tshark takes well-formed messages for malformed (README.md). As RPCs, each whole, it must take them all."""
    if not any(text.endswith("tshark: " + MALFORMED) for _, text in checked.wrong):
        return
    with tempfile.TemporaryDirectory() as folder:
        converted = Checked(pathlib.Path(folder) / "rpc.pcapng")
        if subprocess.run([lab, "convert", checked.path, converted.path], capture_output=True).returncode != 0:
            return
        look_with_tshark(converted, [], False)
    if not converted.wrong:
        checked.forgiven = len(checked.wrong)
        checked.wrong = [(side, text) for side, text in checked.wrong if not text.endswith("tshark: " + MALFORMED)]
        checked.forgiven -= len(checked.wrong)
        checked.malformed = collections.Counter(side for side, text in checked.wrong if ": tshark: " in text)


def port_of(connection):
    return connection["server"].rsplit(":", 1)[1]


def told_ports(connections):
    """What tells tshark of NFS over TCP on another port: where it guesses, it takes records of some lengths for other protocols."""
    ports = sorted({port_of(connection) for connection in connections if connection["carrier"] == "TCP"} - {NFS_PORT})
    return [word for port in ports for word in ("-d", f"tcp.port=={port},rpc")]


def check(path, lab, exceptions):
    checked = Checked(path)
    excused = {word: exception_of(path.name, word, exceptions) for word in ("server", "lint", "part", "cut")}
    said = look_with_lint(checked, lab)
    connections = said["connections"]
    # The responders of scripts listen elsewhere: that port is of the view rpc.
    if excused["lint"] and all(port_of(connection) == NFS_PORT for connection in connections):
        checked.broken.clear()
        checked.wrong.clear()
    # Of the view rpc, and of NFS over TCP.
    rpc = all(connection["carrier"] == "TCP" for connection in connections)
    look_with_tshark(checked, told_ports(connections) if rpc else ["-2"], bool(excused["part"]))
    if not rpc:
        forgive_tshark(checked, lab)
    messages = sum(connection["messages"] for connection in connections)
    if rpc and not excused["part"] and messages != checked.rpcs:
        checked.wrong.append(("client", f"tshark finds {checked.rpcs} RPCs, lint {messages}"))
    checked.excused = "; ".join(reason for reason in excused.values() if reason)
    judged = [] if excused["cut"] else ["client"] if excused["server"] else ["client", "server"]
    checked.wrong = [(side, text) for side, text in checked.wrong if side in judged]
    return checked


def captures_in(folder):
    """Those with something in them. One that was begun and failed is empty."""
    return sorted(path for path in folder.iterdir() if path.is_file() and ".pcap" in path.name and path.stat().st_size > 0)


HEADINGS = ("frames", "RPCs", "malformed", "broken", "of server", "capture")


def print_line(checked, to=sys.stdout):
    """The counts of the client, and together those of a server."""
    server = checked.malformed["server"] + checked.broken["server"]
    notes = [checked.excused] if checked.excused and server else []
    notes += [f"{checked.forgiven} frames that only tshark takes for malformed"] if checked.forgiven else []
    print(f"{checked.frames:9} {checked.rpcs:9} {checked.malformed['client']:9} {checked.broken['client']:9} {server:9}  "
          f"{checked.path.name}{' (' + '; '.join(notes) + ')' if notes else ''}", file=to)
    for _, text in checked.wrong[:SHOWN]:
        print("    " + text, file=to)
    if len(checked.wrong) > SHOWN:
        print(f"    and {len(checked.wrong) - SHOWN} more", file=to)


def check_folder(folder, lab, remove):
    """What each capture of the folder has come to."""
    exceptions = read_exceptions()
    for path in captures_in(folder):
        try:
            checked = check(path, lab, exceptions)
        except (RuntimeError, ValueError) as error:
            cut = exception_of(path.name, "cut", exceptions)
            checked = Checked(path, wrong=[] if cut else [("client", str(error))], excused=cut)
        if remove and not checked.wrong:
            path.unlink()
        yield checked


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remove", action="store_true", help="delete captures that are clean")
    parser.add_argument("--bin", default=str(HERE.parents[1] / "build/release/bin"), help="folder of nfsrdma-lab")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    print(" ".join(f"{heading:>9}" for heading in HEADINGS[:-1]) + "  " + HEADINGS[-1])
    number = wrong = 0
    for checked in check_folder(options.folder, options.bin + "/nfsrdma-lab", options.remove):
        print_line(checked)
        number += 1
        wrong += bool(checked.wrong)
    print(f"{number} captures, {wrong} with something wrong")
    sys.exit(0 if number and not wrong else 1)


if __name__ == "__main__":
    main()
