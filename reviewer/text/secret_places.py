"""Credentials that are known by where they stand: key blocks, addresses, headers."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator

from reviewer.text.secret_kinds import Found
from reviewer.text.secret_shapes import is_random, is_url_password

_GAP = r"""(?:\\[nrt]|[\s"'`+,>|]|\d{1,6}(?:\t|\\t|→|[:|][ ]?))"""
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
    rf"{_GAP}*+(?:[A-Z][A-Za-z-]{{3,20}}: [^\n\\]{{1,200}}{_GAP}++)*+"
    rf"(?P<body>[A-Za-z0-9+/=]{{16,}}+(?:{_GAP}++[A-Za-z0-9+/=]{{16,}}+)*+"
    rf"(?:{_GAP}++[A-Za-z0-9+/=]{{1,15}}(?={_GAP}*+(?:-----END|=)))?(?:{_GAP}++=[\w+/]{{4}})?)"
)
_USER_INFO = re.compile(
    r"""[^\s/:@?#"'`<>\\\[\]]{0,128}:(?P<password>[^\s/"'`<>\\?#]{1,256})@(?!sha\d+:)[\w\[.-]"""
)
_BEARER = re.compile(r"bearer\s{1,3}(?P<token>[A-Za-z0-9._~+/=-]{16,4096})", re.IGNORECASE)
_BASIC = re.compile(r"basic\s{1,3}(?P<token>[A-Za-z0-9+/]{8,512}={0,2})", re.IGNORECASE)
_WEBHOOKS = (
    (b"hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/", "slack-webhook"),
    (b"/api/webhooks/", r"/api/webhooks/\d{10,25}/", "discord-webhook"),
    (b"webhook.office.com", r"webhook\.office\.com/webhookb2/", "teams-webhook"),
    (b"outlook.office", r"outlook\.office(?:365)?\.com/webhook/", "teams-webhook"),
)
_WEBHOOK_RULES = tuple(
    (needle, re.compile(rf"{place}(?P<path>[\w@/-]{{16,300}})"), kind)
    for needle, place, kind in _WEBHOOKS
)


def placed_values(text: str, flat: bytes, lower: bytes) -> Iterator[Found]:
    """The credentials of `text` in a place made for them; `flat` is its Latin-1 form, `lower` that
    in lower case."""
    yield from _at(text, flat, b"-----BEGIN ", _KEY_BLOCK, "private-key")
    for needle, rule, kind in _WEBHOOK_RULES:
        for found in _at(text, flat, needle, rule, kind):
            if any(character.isdigit() for character in text[found.start : found.end]):
                yield found
    for start in places(flat, b"://"):
        match = _USER_INFO.match(text, start + 3)
        if match and is_url_password(match["password"]):
            yield Found(*match.span("password"), "url-password")
    for start in places(lower, b"bearer"):
        match = _BEARER.match(text, start)
        if match and is_random(match["token"]):
            yield Found(*match.span("token"), "bearer-token")
    for start in places(lower, b"basic"):
        match = _BASIC.match(text, start)
        if match and is_user_and_password(match["token"]):
            yield Found(*match.span("token"), "basic-credentials")


def places(flat: bytes, needle: bytes) -> Iterator[int]:
    """Where `needle` begins in `flat`."""
    at = flat.find(needle)
    while at >= 0:
        yield at
        at = flat.find(needle, at + len(needle))


def _at(text: str, flat: bytes, needle: bytes, rule: re.Pattern[str], kind: str) -> Iterator[Found]:
    end = 0
    for start in places(flat, needle):
        match = rule.match(text, start) if start >= end else None
        if match:
            end = match.end()
            yield Found(*match.span(match.lastgroup or 0), kind)


def is_user_and_password(token: str) -> bool:
    """Whether a token is `user:password` in Base64, as basic authentication writes it."""
    try:
        plain = b64decode(token + "=" * (-len(token) % 4), validate=True)
    except Base64Error:
        return False
    user, colon, password = plain.partition(b":")
    return bool(user and colon and password) and all(0x20 <= code < 0x7F for code in plain)
