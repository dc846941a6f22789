"""Recognising binary files."""

from __future__ import annotations

import codecs

HEAD_BYTES = 8192

UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b\x08"))


def looks_binary(head: bytes) -> bool:
    """Whether a file that begins with `head` is binary.

    Text decodes almost completely and has few NULs (UTF-16 with its mark is text). A file whose
    lines are mostly JSON records is text despite any damage between them.
    """
    if head.startswith(UTF16_MARKS):
        return False
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
