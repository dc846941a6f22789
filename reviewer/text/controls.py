"""Characters that memories never need: terminal escapes, control characters, lone surrogates."""

from __future__ import annotations

import re

ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
"""Terminal escape sequences, such as colours and titles."""
CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters other than tab and line ends, and lone surrogates."""
UNSEEN = rf"(?:{ESCAPES.pattern}|{CONTROLS.pattern})"
"""Pattern of one escape sequence or control character."""
_UNSEEN = re.compile(UNSEEN)


def without_escapes(text: str) -> str:
    """The text without escape sequences; other control characters stay."""
    return ESCAPES.sub("", text) if "\x1b" in text or "\x9b" in text else text


def without_controls(text: str) -> str:
    """The text without escape sequences or control characters."""
    return text if text.isprintable() else _UNSEEN.sub("", text)


def well_formed(text: str) -> str:
    """The text with surrogate pairs joined, and U+FFFD for lone ones.

    JSON may contain a lone surrogate such as `\ud800`, which can be stored neither in a file nor in
    the store.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
