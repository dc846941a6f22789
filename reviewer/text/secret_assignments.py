"""Credentials that are known by their name: `password = "..."`, `api_key: ...`, `TOKEN=...`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewer.text.secret_kinds import Found
from reviewer.text.secret_places import places
from reviewer.text.secret_sentences import said_value
from reviewer.text.secret_shapes import (
    is_bare_password,
    is_code,
    is_password,
    is_random,
    is_strong,
    is_uuid,
)

# What a name may end in, found fast in the lower-case text; the rest is matched from there.
_NEEDLES = (b"authorization", b"pass", b"pwd", b"secret", b"token", b"key", b"credential")
_ASSIGNMENT = re.compile(
    r"(?P<name>pass(?:wor[dt]|wd|phrase|code)?|pwd|secret|token|key|credential|authorization)"
    r"(?P<suffix>s?\d{0,3}(?:[_-][A-Za-z0-9_-]{1,40}|(?-i:[A-Z])[A-Za-z0-9]{0,40})?)"
    r"(?:\\?[\"'`]\]?)?"
    r"(?:[ \t]{0,4}:[ \t]{0,4}(?:&?str|string)(?=[ \t]{0,4}=))?"
    r"(?P<operator>\s{1,24}value\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
    r"|[ \t]{0,16}(?:[:=!]=|=>|={1,3}|:)[ \t]{0,16}|[ \t]{1,4}|>"
    r"|[ \t]{0,2},[ \t]{0,4}(?=\\?[\"']))"
    r"(?:(?:bearer|token|key|apikey|basic|ssws|bot|oauth)[ \t]{1,3})?"
    r"(?:[rbuRBU]{0,2}(?P<quote>\\?[\"'`])(?:(?:token|key|apikey)[ \t]{1,3})?"
    r"(?P<quoted>[^\s\"'`\\]{4,}+)(?P=quote)"
    r"|(?P<bare>[A-Za-z0-9_+/!@#%^*-][A-Za-z0-9_+/.@!#$%^*~?-]{3,}+={0,2}+)"
    r"(?=[\s,;:)}\]\"'`|<&\\]|$))",
    re.IGNORECASE,
)
_KEY_OF = re.compile(
    rb"(?:api|access|auth|authentication|private|encryption|signing|master|account|app|service"
    rb"|storage|shared|subscription|webhook|deploy|session|admin|root|licen[sc]e|ingest|client|write"
    rb")[_ -]?$|[?&]$"
)
# Names that tell about a credential, or about another sort of token.
_ABOUT = re.compile(
    r"(?:^|[_-])(?:ur[il]s?|path|file|dir|folder|name|type|count|limit|ids?|endpoint|length|len|size"
    r"|ttl|age|expir\w*|budget|usage|used|field|header|env|vars?|hash\w*|algorithm|version|policy"
    r"|rotation|prefix|format|provider|class|scopes?|arn|ref|hint|label|placeholder|regex|pattern"
    r"|input|selector|error|message|status|title|text|index|position|izer\w*|manager|store)$",
    re.IGNORECASE,
)
_OTHER_TOKENS = re.compile(
    rb"(?:next|prev|page|continuation|pad|eos|bos|unk|sep|cls|mask|special|max|(?<!ad)min|num|total|input"
    rb"|output|cache|cancel\w{0,8}|public|stop|sync|resume|cursor|design|color|theme|per)[_-]?$"
)
_ENDS = frozenset((b" ", b":", b"=", b"*"))
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OPTION = re.compile(r"--[A-Za-z_-]{0,30}$")
_IS_AUTH = re.compile(r"(?:auth|access|bearer)[_-]?$", re.IGNORECASE)
_AWS_SECRET = re.compile(r"[A-Za-z0-9/+]{40}")
_KINDS = {"token": "token", "authorization": "authorization", "key": "api-key"}


def assigned_values(text: str, lower: bytes) -> Iterator[Found]:
    """The credentials of `text` that are assigned to a telling name, or told by it.

    `lower` is its lower-case Latin-1 form.
    """
    for needle in _NEEDLES:
        if needle not in lower:
            continue
        for start in places(lower, needle):
            if needle == b"key" and not _KEY_OF.search(lower, max(0, start - 16), start):
                continue
            match = _ASSIGNMENT.match(text, start)
            if match is not None and (found := _judged(match, text, lower)) is not None:
                yield found
            elif needle == b"token" and _OTHER_TOKENS.search(lower, max(0, start - 16), start):
                continue
            elif (said := said_value(text, start)) is not None:
                yield Found(*said)
    for start in _short_names(lower):
        if (said := said_value(text, start)) is not None:
            yield Found(*said)


def _short_names(lower: bytes) -> Iterator[int]:
    """Where `pw` stands as a word, and where Spanish says it."""
    if b"pw" not in lower and b"contrase" not in lower:
        return
    for start in places(lower, b"pw"):
        if not lower[max(0, start - 1) : start].isalpha() and lower[start + 2 : start + 3] in _ENDS:
            yield start
    yield from places(lower, b"contrase")


def _judged(match: re.Match[str], text: str, lower: bytes) -> Found | None:
    """The value of an assignment, if both the name and the value are those of a credential."""
    name, suffix, operator = match["name"].lower(), match["suffix"], match["operator"]
    start = match.start()
    if _ABOUT.search(_CAMEL.sub("_", suffix)):
        return None
    if _OTHER_TOKENS.search(lower, max(0, start - 16), start) and name == "token":
        return None
    if operator.isspace() and not _stands_alone(match, text):
        return None
    if operator.strip() == "," and not _is_argument(match["quoted"]):
        return None
    if operator == ">" and text[match.end() : match.end() + 2] != "</":
        return None
    group = "quoted" if match["quoted"] is not None else "bare"
    value = match[group] if group == "quoted" else match[group].rstrip(".?!:")
    if name.startswith("p"):
        kind = "password" if _is_password(match, value, text) else None
    else:
        before = text[max(0, start - 8) : start]
        kind = _kind(name, suffix, value, group == "quoted", before)
    begin = match.start(group)
    return Found(begin, begin + len(value), kind) if kind else None


def _is_argument(value: str | None) -> bool:
    """Whether the next argument after a name is its value: `define('DB_PASSWORD', '...')`."""
    return value is not None and (is_strong(value) or is_random(value, digits=2))


def _stands_alone(match: re.Match[str], text: str) -> bool:
    """Whether a value may follow without a sign: after an option, or quoted after a constant."""
    start = match.start()
    if _OPTION.search(text, max(0, start - 34), start):
        return True
    return match["quoted"] is not None and match["name"].isupper() and text[start - 1] == "_"


def _is_password(match: re.Match[str], value: str, text: str) -> bool:
    if match["quoted"] is not None:
        return is_password(value)
    name, operator = match["name"], match["operator"]
    if name.lower() == "pass" and text[match.start() - 1 : match.start()] not in ("_", "-"):
        return False
    # `password = name2` is code; an environment's, an option's or a connection's is a literal.
    literal = name.isupper() or operator.isspace() or operator.rstrip() in ("=", ":", ">")
    return is_bare_password(value, literal=literal)


def _kind(name: str, suffix: str, value: str, quoted: bool, before: str) -> str | None:
    """What a token, secret or key is, or None where it is only a mention."""
    kind = _KINDS.get(name, "secret")
    if name == "secret" and "access" in suffix.lower() and _AWS_SECRET.fullmatch(value):
        return "aws-secret-key"
    if is_uuid(value):
        return kind if name in ("secret", "key") or _IS_AUTH.search(before) else None
    if quoted:
        return kind if is_random(value) else None
    return kind if is_random(value, digits=2) and not is_code(value) else None
