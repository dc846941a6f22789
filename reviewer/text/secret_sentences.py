"""Credentials that people tell: `the password is ...`, `log in with token ...`."""

from __future__ import annotations

import re

from reviewer.text.secret_shapes import (
    is_code,
    is_mixed,
    is_password,
    is_random,
    is_strong,
    is_uuid,
)

_NAME = r"(?:pass(?:wor[dt]|phrase|code|e)?|pwd?|secret|token|key|credential|contrase\w?a)s?"
_FOR = (
    r"(?:[ \t]+(?:for|of|to|in|on|at|from|under|de|para|f\w{1,2}r)(?:[ \t]+[\w@.'-]{1,40}){1,4}?)?"
)
_IS = (
    r"(?:[ \t]+(?:is|was|are|will be|should be|to|es|est|ist)(?:[ \t]+(?:now|set to))?[ \t]*:?"
    r"|[ \t]*(?:\*\*|__)?[ \t]*[:=|](?:\*\*|__)?)"
)
_OPEN = r"(?P<quote>\*\*`?|[\"'`“‘«])?"
_SAID = re.compile(
    rf"{_NAME}(?:{_FOR}(?P<is>{_IS}))?[ \t]{{1,3}}{_OPEN}(?P<value>[^\s\"'`“”‘’«»|]{{5,300}})",
    re.IGNORECASE,
)
_PAIR = re.compile(
    rf"credentials?[ \t]*(?:are|:|=)[ \t]*{_OPEN}[\w@.-]{{1,40}}[ \t]*[/:|][ \t]*"
    r"(?P<value>[^\s\"'`“”‘’«»|]{5,300})",
    re.IGNORECASE,
)
_PUNCTUATION = ".,;:!?)"


def said_value(text: str, start: int) -> tuple[int, int, str] | None:
    """Begin, end and kind of the credential that is told from `start` on, where its name stands."""
    match = _SAID.match(text, start)
    if match is None:
        match = _PAIR.match(text, start)
        if match is None or not is_strong(match["value"].rstrip(_PUNCTUATION)):
            return None
        return _place(match, "password")
    value = match["value"].rstrip(_PUNCTUATION)
    if match.group()[:1].lower() in "pc":
        named, kind = _is_told_password(match, value), "password"
    else:
        named, kind = _is_told_token(match, value), "secret"
    return _place(match, kind) if named else None


def _place(match: re.Match[str], kind: str) -> tuple[int, int, str]:
    begin = match.start("value")
    return begin, begin + len(match["value"].rstrip(_PUNCTUATION)), kind


def _is_told_password(match: re.Match[str], value: str) -> bool:
    """After `is`, in quotes, a literal; without quotes, what no word and no name looks like."""
    if match["is"] is not None and match["quote"]:
        return is_password(value) and any(character.isdigit() for character in value)
    return is_strong(value) or (match["is"] is not None and is_mixed(value))


def _is_told_token(match: re.Match[str], value: str) -> bool:
    return not is_uuid(value) and is_random(value, least=20, digits=2) and not is_code(value)
