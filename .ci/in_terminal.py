"""Run a shell command in a terminal of its own, go on from its first screen with enter, wait for a
queue that is not empty, leave with ctrl+q.

python3 .ci/in_terminal.py 'COMMAND' [SECONDS]

Exit 0 when the screen came up with candidates, moved, and was left in good order. SECONDS: how long
to wait for that; the command may install the program first.
"""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

PATIENCE = 600.0
FOR_ROWS = 5.0
FOR_READING = 120.0
AFTER_QUIT = 20
READY = re.compile(r"F2\s*Queue\s*[1-9][\d,]*")
"""The first tab when the queue has candidates; it has no number when there are none."""
OFFERED = re.compile(r"enter reads\b")
"""Shown on the first screen, which the demo begins with."""
EMPTY = "Nothing is waiting"
"""Shown in the list of a queue without candidates."""
CONTROL = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|[\]P][^\x07\x1b]*(\x07|\x1b\\)|[@-_])")


def main() -> int:
    """Play the person who opens the demo, looks, and leaves."""
    patience = float(sys.argv[2]) if len(sys.argv) > 2 else PATIENCE
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        for size in ("COLUMNS", "LINES"):  # of another terminal
            os.environ.pop(size, None)
        os.execvp("bash", ["bash", "-euc", sys.argv[1]])  # noqa: S606, S607
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 110, 0, 0))

    def offered_or_ready(text):  # type: ignore[no-untyped-def]
        return OFFERED.search(text) or READY.search(text)

    seen = read_until(terminal, lambda text: EMPTY in text or offered_or_ready(text), patience)
    if not offered_or_ready(seen):  # a list may be empty until its rows have been read
        seen += read_until(terminal, offered_or_ready, FOR_ROWS)
    if READY.search(seen) is None and OFFERED.search(seen):
        os.write(terminal, b"\r")
        seen += read_until(terminal, READY.search, FOR_READING)
    if READY.search(seen) is None:
        why = f"{EMPTY}." if EMPTY in seen else f"It showed:\n{seen[-2000:]}"
        print(f"The screen did not come up with candidates. {why}")
        os.kill(child, 9)
        os.waitpid(child, 0)
        return 1
    time.sleep(1)
    os.write(terminal, b"jj\x11")
    read_until(terminal, lambda _: False, AFTER_QUIT)
    ended, status = os.waitpid(child, os.WNOHANG)
    end = time.monotonic() + AFTER_QUIT
    while not ended and time.monotonic() < end:
        time.sleep(0.1)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        print("The screen did not close with ctrl+q.")
        os.kill(child, 9)
        return 1
    code = os.waitstatus_to_exitcode(status)
    print(f"The screen came up, moved and closed: exit {code}")
    return code


def read_until(terminal, enough, seconds):  # type: ignore[no-untyped-def]
    """What the terminal showed, without its control sequences, until it is enough or it closes."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    raw, end = "", time.monotonic() + seconds
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        raw += decoder.decode(data)
        if enough(CONTROL.sub("", raw)):
            break
    return CONTROL.sub("", raw)


if __name__ == "__main__":
    sys.exit(main())
