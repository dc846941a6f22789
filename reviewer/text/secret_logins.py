"""Passwords that stand beside whose they are: `user: ann`, and then `password: ...`.

Beside a user even a plain word is a password, which it is nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewer.text.secret_kinds import Found
from reviewer.text.secret_places import places
from reviewer.text.secret_shapes import is_url_password

_USER = re.compile(
    r"(?:user|user[_ -]?name|uid|login|e-?mail|account)\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
    r"\\?(?P<quote>[\"']?)[\w.@+\\-]{2,60}\\?(?P=quote)"
    r"[ \t]{0,4}[,;|/]?(?:\s|\\n){0,12}[-*\"']{0,3}\Z",
    re.IGNORECASE,
)
_BEFORE = 110
_PASSWORD = re.compile(
    r"pass(?:wor[dt]|wd|phrase)?\\?[\"']?[ \t]{0,4}(?P<sign>[:=])[ \t]{0,4}"
    r"(?:\\?(?P<quote>[\"'])(?P<quoted>[^\s\"'\\]{5,80})\\?(?P=quote)"
    r"|(?P<bare>[^\s\"'`\\,;|]{5,80})(?=[ \t]*(?:\n|\Z|\\n)))",
    re.IGNORECASE,
)
_TOLD_ABOUT = frozenset({
    "string", "text", "varchar", "required", "optional", "hidden", "boolean", "integer",
    "example", "sample", "change", "changeme", "default", "empty", "unset", "unchanged",
    "unknown", "encrypted", "hashed", "masked", "redacted", "prompt", "stdin", "environment",
    "generated", "random", "same", "above", "below", "username", "passwd", "hunter", "minlength",
    "maxlength", "admin", "users", "value", "field", "input", "label", "object", "array",
    "number", "never", "always", "failed", "correct", "wrong", "incorrect", "invalid", "valid",
    "expired", "missing",
})  # fmt: skip


def passwords_of_users(text: str, lower: bytes) -> Iterator[Found]:
    """The passwords of `text` that stand right after a user; `lower` is its lower-case Latin-1
    form."""
    for start in places(lower, b"pass"):
        match = _PASSWORD.match(text, start)
        if match is None:
            continue
        group = "quoted" if match["quote"] else "bare"
        if _is_literal(match[group], match["sign"], quoted=group == "quoted") and _USER.search(
            text, max(0, start - _BEFORE), start
        ):
            yield Found(*match.span(group), "password")


def _is_literal(value: str, sign: str, *, quoted: bool) -> bool:
    """Whether a value is no variable, placeholder or word about passwords."""
    if not is_url_password(value) or value.lower().strip(".!?:*") in _TOLD_ABOUT:
        return False
    if value.startswith(("/", "@", "~", "-", ".", "!")) or "://" in value:
        return False
    # `password = passphrase` is code; `password: sunflower` and what stands in quotes is not.
    return quoted or (sign == ":" and "." not in value.strip("."))
