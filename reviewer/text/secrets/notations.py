"""Credentials in special notations: password hashes, encoded keys, Wi-Fi codes, passphrases, other
languages; and spellings that hide one.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from reviewer.text.late_pattern import late
from reviewer.text.secrets.contexts import rule, values_by
from reviewer.text.secrets.kinds import FoundSecret
from reviewer.text.secrets.shapes import is_numbered, is_placeholder, is_strong

PGPASS = late(
    r"^(?P<host>[\w.*-]{1,100}):(?P<port>\d{4,5}|\*)"
    r":[\w.*-]{1,60}:[\w.*@-]{1,60}:(?P<value>[^\s:]{5,200})$",
    re.MULTILINE,
)
_PORT = late(rb":(?:\d{4,5}|\*):")
_POSTGRES = ("5432", "5433", "6432", "*")
_LOCAL_NAMES = (
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "пароль",
    "Пароль",
    "hasło",
    "Hasło",
)
_LOCAL_NAMES_IN_LATIN_1 = (b"mot de passe", b"senha", b"kennwort", b"wachtwoord")
OTHER_LANGUAGES = late(
    r"(?:密码|密碼|口令|パスワード|비밀번호|пароль|hasło|mot de passe|senha|kennwort|wachtwoord)"
    r"[ \t]{0,3}(?:是|为|為|は|est|é|ist|lautet|is|:|=)[ \t]{0,3}[\"'`「]?"
    r"(?P<value>[!-~]{5,100})",
    re.I,
)
_NOT_PASSWORDS = frozenset({
    "postgres", "password", "secret", "changeme", "example", "sample", "default", "empty", "unset",
    "none", "null", "string", "required", "optional", "hidden", "redacted", "placeholder", "false",
    "true", "user", "admin", "test", "value",
})  # fmt: skip


def _is_noted(value: str) -> bool:
    return value.lower() not in _NOT_PASSWORDS and not is_placeholder(value)


def _is_hash(value: str) -> bool:
    return not is_placeholder(value) and any(map(str.isalpha, value))


_PEM_HEAD = "LS0tLS1CRUdJTi"


def _is_private(encoded: str) -> bool:
    """Whether a Base64 PEM block contains a private key instead of a certificate."""
    head = "".join(f"{_PEM_HEAD}{encoded[:120]}".replace("\\n", "").split())[:88]
    try:
        return b"PRIVATE KEY" in b64decode(head + "=" * (-len(head) % 4))
    except Base64Error:
        return False


_OF_ENVIRONMENT = r"=[\"']?(?P<value>[a-z]{5,40})(?=[\s\"';]|$))"
NOTED = (
    rule("$", r"(?:apr1|1|5|6|y|gy|7|2[abxy]|argon2(?:id?|d)|scrypt|pbkdf2-sha\d+)\$"
         r"(?P<value>[A-Za-z0-9./$=,+-]{20,300})", "password-hash", _is_hash),
    rule(_PEM_HEAD.lower(), r"(?-i:(?<=LS0tLS1CRUdJTi))(?P<value>[A-Za-z0-9+/]{30,20000}+"
         r"(?:(?:\n|\\n)[ \t]{0,8}[A-Za-z0-9+/]{40,200}+){0,400}+"
         r"(?:(?:\n|\\n)[ \t]{0,8}[A-Za-z0-9+/]{2,39}+)?={0,2})", "private-key", _is_private),
    rule("wifi:", r"[^\n]{0,200}?(?<![a-z])p:(?P<value>(?:\\.|[^;\\\n]){4,200})", judge=_is_noted),
    rule("pass", r"(?:word|phrase|wort|code)(?:[ \t]++(?:is|was|to|ist|now))?(?:[ \t]*+[:=])?"
         r"[ \t]++[\"'`]?(?P<value>[a-z]{4,20}(?:-[a-z]{4,20}){3,9})(?![\w-])", judge=_is_noted),
    rule("_pass", rf"(?-i:(?<=[A-Z0-9]_PASS)(?:WORD|WD)?{_OF_ENVIRONMENT}", judge=_is_noted),
    rule("_pwd", rf"(?-i:(?<=[A-Z0-9]_PWD){_OF_ENVIRONMENT}", judge=_is_noted),
)  # fmt: skip


def noted_values(text: str, flat: bytes, lower: bytes) -> Iterator[FoundSecret]:
    """Credentials in these notations; `flat` is the text's Latin-1 form, `lower` in lower case."""
    yield from values_by(NOTED, text, lower)
    if b":" in flat and _PORT.search(flat) is not None:
        yield from _pgpass_values(text)
    if any(map(lower.__contains__, _LOCAL_NAMES_IN_LATIN_1)) or (
        not text.isascii() and any(map(text.__contains__, _LOCAL_NAMES))
    ):
        for match in OTHER_LANGUAGES.finditer(text):
            value = match["value"].rstrip(".,;:!?)\"'`")
            if _is_noted(value) and any(not each.isalpha() for each in value):
                start = match.start("value")
                yield FoundSecret(start, start + len(value), "password")


def _pgpass_values(text: str) -> Iterator[FoundSecret]:
    """Passwords in lines of a pgpass file; with a PostgreSQL port, even an ordinary word is one."""
    for match in PGPASS.finditer(text):
        host, value = match["host"], match["value"]
        if match["port"] in _POSTGRES:
            real = _is_noted(value)
        else:
            real = ("." in host or host == "localhost") and (is_numbered(value) or is_strong(value))
        if real:
            yield FoundSecret(*match.span("value"), "password")


_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_WIDE |= {0xFE55: ord(":"), 0xFE66: ord("="), 0xA0: ord(" ")}
ODD = "[\uff01-\uff5e\ufe55\ufe66\u00a0\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
"""Full-width letters, unusual blanks, and invisible characters."""
_INVISIBLE = late("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+")
ESCAPED = late(
    r"[%&\\](?:(?<=%)(?:25)?(?:2[0-9A-Fa-f]|3[A-Fa-f]|[46][0-9A-Fa-f]|[57][0-9Aa])"
    r"|(?<=&)(?:quot|apos|amp|equals|colon|#\d{2,3}|#[xX][0-7][0-9A-Fa-f]);"
    r"|(?<=\\)(?:u00|x)[2-7][0-9A-Fa-f])"
)
"""A printable ASCII character as escaped in URLs, HTML or JSON."""
_ANY_ODD = late(ODD)
_HIDING = late(f"{ODD}|{ESCAPED.pattern}")
_NAMED = {"quot": '"', "apos": "'", "amp": "&", "equals": "=", "colon": ":"}


class Plain(NamedTuple):
    """A text as displayed, in pieces: unchanged parts of the original alternate with decoded
    characters.
    """

    text: str
    starts: list[int]
    """Start of each piece."""
    originals: list[int]
    """Its start in the original."""

    def original(self, position: int) -> int:
        """The position in the original for a position in this text."""
        piece = bisect_right(self.starts, position) - 1
        return self.originals[piece] + (0 if piece % 2 else position - self.starts[piece])


def plainly(text: str) -> Plain | None:
    """The text without invisible characters, with full-width letters and escapes decoded; None if
    there are none.
    """
    odd = not text.isascii() and _ANY_ODD.search(text) is not None
    may_be_escaped = "%" in text or "&" in text or "\\" in text
    if not odd and not (may_be_escaped and ESCAPED.search(text)):
        return None
    parts: list[str] = []
    originals = [0]
    for found in _HIDING.finditer(text):
        parts += [text[originals[-1] : found.start()], _seen(found[0])]
        originals += found.span()
    parts.append(text[originals[-1] :])
    starts = [0, *accumulate(map(len, parts[:-1]))]
    return Plain("".join(parts), starts, originals)


def _seen(hiding: str) -> str:
    """The displayed form of a character that hides another."""
    if len(hiding) == 1:
        return hiding.translate(_WIDE) if _INVISIBLE.match(hiding) is None else ""
    if hiding[0] == "%":
        return chr(int(hiding[-2:], 16))
    if hiding[0] == "\\":
        code = int(hiding[-2:], 16)
    else:
        name = hiding[1:-1]
        if name.lower() in _NAMED:
            return _NAMED[name.lower()]
        code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if 0x20 <= code < 0x7F else hiding
