"""Programs of the user USER_ID (environment) at control sockets: one that lies, and one that says nothing.

They begin as root, since that user may not reach the interpreter.

liar DIRECTORY LOG "NAME VALUE"...   answers as the mount that it says it is, in place of its own process id; LOG gets each
                                     request, and how many files came with it
silent DIRECTORY COUNT LOG           COUNT sockets that answer nothing; LOG gets how many askers there were at once
"""
import array, os, select, socket, sys

COUNTERS = b"ok\nfs_inodes 424242\n"


def listener(directory, name):
    made = socket.socket(socket.AF_UNIX)
    made.bind(f"{directory}/{name}.sock")
    made.listen(8)
    return made


def say(log, line):
    with open(log, "a", encoding="utf-8") as file:
        file.write(line + "\n")


def liar(directory, log, *words):
    identity = {"pid": os.getpid(), "source": "127.0.0.1:/", "connection": "none", "state": "mounted",
                "seconds": 0, "waiting_seconds": 0, "capture": "off"}
    for word in words:
        name, value = word.split(" ", 1)
        identity[name] = value
    text = "ok\n" + "".join(f"{name} {value}\n" for name, value in identity.items())
    there = listener(directory, os.getpid())
    say(log, "ready")
    while True:
        asker = there.accept()[0]
        request, ancillary, _, _ = asker.recvmsg(4096, socket.CMSG_SPACE(64))
        files = sum(len(array.array("i", data[:len(data) // 4 * 4])) for _, _, data in ancillary)
        say(log, f"{request.decode('ascii').strip()} files {files}")
        try:
            asker.sendall(text.encode() if request.startswith(b"identity") else COUNTERS)
        except BrokenPipeError:
            pass
        asker.close()


def silent(directory, count, log):
    waiting = {each.fileno(): each for each in (listener(directory, f"silent{i}") for i in range(int(count)))}
    askers, most = {}, 0
    poll = select.poll()
    for number in waiting:
        poll.register(number, select.POLLIN)
    say(log, "ready")
    while True:
        for number, _ in poll.poll():
            if number in waiting:
                asker = waiting[number].accept()[0]
                askers[asker.fileno()] = asker
                poll.register(asker, select.POLLIN)
            elif not askers[number].recv(4096):
                poll.unregister(number)
                askers.pop(number).close()
        if len(askers) > most:
            most = len(askers)
            say(log, f"askers {most}")


user = int(os.environ["USER_ID"])
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
{"liar": liar, "silent": silent}[sys.argv[1]](*sys.argv[2:])
