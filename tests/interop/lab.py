#!/usr/bin/env python3
"""lab.py README COLUMN JSON CAPTURE: the answers of nfsrdma-lab probe are those of the column of the table in
README, and each message is in the frame that is named for it. Where the table has no such column, prints it."""
import json
import pathlib
import struct
import sys

SHOWN = 40  # bytes of a message that its frame must hold
ONE_FRAME = 512  # a message of which JSON shows as much may take several frames
ENHANCED_PACKET = 6
DATA_AT, LENGTH_AT = 28, 20  # in such a block of pcapng


def frames(path):
    """The packets of a capture in this machine's byte order, by their numbers."""
    data, at, found = pathlib.Path(path).read_bytes(), 0, [b""]
    while at < len(data):
        kind, length = struct.unpack_from("=II", data, at)
        if kind == ENHANCED_PACKET:
            size, = struct.unpack_from("=I", data, at + LENGTH_AT)
            found.append(data[at + DATA_AT:at + DATA_AT + size])
        at += length
    return found


def column_of(readme, name):
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in pathlib.Path(readme).read_text().splitlines() if line.startswith("|")]
    head = next(row for row in rows if row[0] == "section")
    if name not in head:
        return None
    place = head.index(name)
    return {(row[0], row[1]): row[place] for row in rows[rows.index(head) + 2:] if len(row) == len(head)}


def is_same(cell, answer):
    # "error, or disconnect": what a server makes of it is not always the same. A refusal may end the connection before its effect is looked at, or a moment after.
    return answer in cell.split(", or ") or (cell == "no" and answer == "no: disconnect") or \
        (cell.endswith("...") and answer.startswith(cell[:-3]))


def prove(rows, packets):
    proved = 0
    for row in rows:
        answer = row["answers"][0]
        assert (answer["sent_frame"] == 0) == (answer["answer"] == "-"), f"{row}: no frame proves it"
        for which in ("sent", "came"):
            frame, message = answer[which + "_frame"], bytes.fromhex(answer[which][2:])
            if frame == 0 or message == b"" or len(message) >= ONE_FRAME:
                continue
            assert message[:SHOWN] in packets[frame], (row["rule"], which, frame)
            proved += 1
    return proved


def main():
    readme, name, answers, capture = sys.argv[1:]
    rows = json.loads(pathlib.Path(answers).read_text())
    print(f"{len(rows)} rows, {prove(rows, frames(capture))} messages found in their frames")
    column = column_of(readme, name)
    wrong = 0
    for row in rows:
        answer = row["answers"][0]
        if column is None:
            print(f"{row['section']} | {row['rule']} | {answer['answer']}")
            continue
        cell = column.get((row["section"], row["rule"]))
        if cell is None or not is_same(cell, answer["answer"]):
            print(f"{row['section']} {row['rule']}: {answer['answer']}; the table has {cell}. {answer['detail']}")
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
