"""Detects binary files."""

from __future__ import annotations

HEAD_BYTES = 8192

CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b\x08"))


def looks_binary(head: bytes) -> bool:
    """Whether a file with this head is binary.

    Text decodes almost completely and has few NULs. A file with mostly JSON lines is text, whatever
    the damage between them.
    """
    head = head[:HEAD_BYTES]
    lines = [line for line in head.split(b"\n") if line.strip()]
    records = sum(line.startswith(b'{"') for line in lines)
    if records and records * 2 >= len(lines):
        return False
    if head.count(b"\0") * 200 > len(head):
        return True
    text = head.decode("utf-8", "replace")
    damaged = text.count("\ufffd") + len(head) - len(head.translate(None, CONTROLS))
    return damaged > 0.1 * len(text)
