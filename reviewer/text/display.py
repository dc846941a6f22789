"""Makes outside text safe to display (OWASP "terminal injection").

Transcripts may contain escape sequences, bidirectional overrides and invisible characters. All
outside text passes through this module on its way to a screen or pipe, where every such character
becomes a visible mark.
"""

from __future__ import annotations

import re

# Characters that a terminal interprets or that are invisible, except `\n` and `\t`: controls,
# surrogates, bidi marks, and the default-ignorable characters of Unicode.
_HIDDEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufdd0-\ufdef\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Characters that a text or emoji style selector (U+FE0E, U+FE0F) may follow: keycap digits, signs,
# symbols and emoji. Anywhere else, a selector only hides data.
_STYLED = "#*0-9\u00a9\u00ae\u203c-\u329f\U0001f000-\U0001faff"
_SUSPECT = re.compile(f"[{_HIDDEN}\ufe00-\ufe0f]")
_UNSAFE = re.compile(f"[{_HIDDEN}\ufe00-\ufe0d]|(?<![{_STYLED}])[\ufe0e\ufe0f]")
_CARRIAGE = "\r\n"
NEWLINE_MARK = " ⏎ "
ASCII_NEWLINE_MARK = " \\ "
_ascii_marks = False


def use_ascii_marks(on: bool) -> None:
    """Draw marks with ASCII characters only (`^[`, `<U+202E>`), or with all characters again.

    Applies to the whole process, so that a text always looks the same on its terminal.
    """
    global _ascii_marks  # one terminal per process, and one function for all output
    _ascii_marks = on


def display_text(text: str) -> str:
    """Make outside text safe to show; `\n` stays, every invisible character becomes a mark.

    C0 controls and DEL become their control pictures (`␛`, `␡`); other characters that hide or
    reorder text become their code point (`⟨U+202E⟩`): C1 controls, bidi controls, zero-width
    characters, byte order marks, line and paragraph separators, tag characters, lone surrogates,
    stray variation selectors. `\r\n` becomes `\n`, a lone `\r` is marked, and tabs are expanded to
    stops every 4 characters. Idempotent. After `use_ascii_marks` the marks are `^[`, `^?` and
    `<U+202E>`.

    Zero-width joiners are marked too, because they can hide data, so a joined emoji is split into
    its parts.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    if "\r" in text:
        text = text.replace(_CARRIAGE, "\n")
    if _SUSPECT.search(text) is not None:
        text = _UNSAFE.sub(_mark, text)
    return text.expandtabs(4) if "\t" in text else text


def display_line(text: str) -> str:
    """Like `display_text`, but on one line: newlines are shown as ` ⏎ `."""
    mark = ASCII_NEWLINE_MARK if _ascii_marks else NEWLINE_MARK
    return display_text(text).replace("\n", mark)


def escaped_json(text: str) -> str:
    """A JSON text with every character escaped that a terminal interprets or that is invisible.

    JSON already escapes control characters below U+0020.
    """
    if _SUSPECT.search(text) is None:
        return text
    return _UNSAFE.sub(_escape, text)


def _mark(match: re.Match[str]) -> str:
    code = ord(match.group())
    if _ascii_marks:
        return f"^{chr(code ^ 0x40)}" if code < 0x20 or code == 0x7F else f"<U+{code:04X}>"
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return match.group()  # between values of pretty-printed JSON
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
