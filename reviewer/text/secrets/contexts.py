"""Credentials recognised by the names before them: assignments, sentences, logins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewer.text.late_pattern import late
from reviewer.text.secrets.kinds import FoundSecret
from reviewer.text.secrets.rules import places
from reviewer.text.secrets.shapes import (
    is_bare_password,
    is_code,
    is_drawn,
    is_mixed,
    is_numbered,
    is_password,
    is_random,
    is_respelt,
    is_strong,
    is_url_password,
    is_uuid,
    is_word_about_passwords,
)

# Assignments: `password = "..."`, `api_key: ...`, `TOKEN=...`

# Possible ends of a name, found fast in the lower-case text; the rest is matched from there.
_NEEDLES = (b"authorization", b"pass", b"pwd", b"secret", b"token", b"key", b"credential")
ASSIGNMENT = late(
    r"(?P<name>pass(?:wor[dt]|wd|phrase|code)?|pwd|secret|token|key|credential|authorization)"
    r"(?P<suffix>s?\d{0,3}(?:[_-][A-Za-z0-9_-]{1,40}|(?-i:[A-Z])[A-Za-z0-9]{0,40})?)"
    r"(?:\\{0,7}[\"'`]\]?)?"
    r"(?:[ \t]{0,4}:[ \t]{0,4}(?:&?str|string)(?=[ \t]{0,4}=))?"
    r"(?P<operator>\s{1,24}value\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
    r"|[ \t]{0,16}(?:[:=!]=|=>|={1,3}|:)[ \t]{0,16}|[ \t]{1,4}|>"
    r"|[ \t]{0,2},[ \t]{0,4}(?=\\?[\"']))"
    r"(?:(?:bearer|token|key|apikey|basic|ssws|bot|oauth)[ \t]{1,3})?"
    r"(?:[rbuRBU]{0,2}(?P<quote>\\{0,7}[\"'`])(?:(?:token|key|apikey)[ \t]{1,3})?"
    r"(?P<quoted>[^\s\"'`\\]{4,}+)(?P=quote)"
    r"|(?P<bare>[A-Za-z0-9_+/!@#%^*-][A-Za-z0-9_+/.@!#$%^*~?-]{3,}+={0,2}+)"
    r"(?=[\s,;:)}\]\"'`|<&\\]|$))",
    re.IGNORECASE,
)
_KEY_OF = late(
    rb"(?:api|access|auth|authentication|private|encryption|signing|master|account|app|service"
    rb"|storage|shared|subscription|webhook|deploy|session|admin|root|licen[sc]e|ingest|client|write"
    rb")[_ -]?$|[?&]$"
)
# Names of facts about a credential, or of another kind of token.
_ABOUT = late(
    r"(?:^|[_-])(?:ur[il]s?|path|file|dir|folder|name|type|count|limit|ids?|endpoint|length|len|size"
    r"|ttl|age|expir\w*|budget|usage|used|field|header|env|vars?|hash\w*|algorithm|version|policy"
    r"|rotation|prefix|format|provider|class|scopes?|arn|ref|hint|label|placeholder|regex|pattern"
    r"|input|selector|error|message|status|title|text|index|position|izer\w*|manager|store)$",
    re.IGNORECASE,
)
_OTHER_TOKENS = late(
    rb"(?:next|prev|page|continuation|pad|eos|bos|unk|sep|cls|mask|special|max|(?<!ad)min|num|total|input"
    rb"|output|cache|cancel\w{0,8}|public|stop|sync|resume|cursor|design|color|theme|per)[_-]?$"
)
_ENDS = frozenset((b" ", b":", b"=", b"*"))
_CAMEL = late(r"(?<=[a-z0-9])(?=[A-Z])")
_OPTION = late(r"--[A-Za-z_-]{0,30}$")
_IS_AUTH = late(r"(?:auth|access|bearer)[_-]?$", re.IGNORECASE)
_AWS_SECRET = late(r"[A-Za-z0-9/+]{40}")
_KIND_OF_NAME = {"token": "token", "authorization": "authorization", "key": "api-key"}


def assigned_values(text: str, lower: bytes) -> Iterator[FoundSecret]:
    """Credentials assigned to a name such as `password`, or stated after it in a sentence.

    `lower` is the text's lower-case Latin-1 form.
    """
    for needle in _NEEDLES:
        for start in places(lower, needle):
            if needle == b"key" and not _KEY_OF.search(lower, max(0, start - 16), start):
                continue
            match = ASSIGNMENT.match(text, start)
            if match is not None and (found := _assigned(match, text, lower)) is not None:
                yield found
            elif needle == b"token" and _OTHER_TOKENS.search(lower, max(0, start - 16), start):
                continue
            elif (stated := _stated_value(text, start)) is not None:
                yield stated
    for start in _short_names(lower):
        if (stated := _stated_value(text, start)) is not None:
            yield stated


def _short_names(lower: bytes) -> Iterator[int]:
    """Occurrences of `pw` as a word, and of the Spanish word for password."""
    for start in places(lower, b"pw"):
        if not lower[max(0, start - 1) : start].isalpha() and lower[start + 2 : start + 3] in _ENDS:
            yield start
    yield from places(lower, b"contrase")


def _assigned(match: re.Match[str], text: str, lower: bytes) -> FoundSecret | None:
    """The value of an assignment if both name and value look like those of a credential."""
    name, suffix, operator = match["name"].lower(), match["suffix"], match["operator"]
    start = match.start()
    if _ABOUT.search(_CAMEL.sub("_", suffix)):
        return None
    if _OTHER_TOKENS.search(lower, max(0, start - 16), start) and name == "token":
        return None
    if operator.isspace() and not _needs_no_operator(match, text):
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
    return FoundSecret(begin, begin + len(value), kind) if kind else None


def _is_argument(value: str | None) -> bool:
    """Whether the argument after a name is its value: `define('DB_PASSWORD', '...')`."""
    return value is not None and (is_strong(value) or is_random(value, digits=2))


def _needs_no_operator(match: re.Match[str], text: str) -> bool:
    """Whether a value may follow without `=`: after an option, or quoted after a constant."""
    start = match.start()
    if _OPTION.search(text, max(0, start - 34), start):
        return True
    return (
        match["quoted"] is not None and match["name"].isupper() and text[start - 1 : start] == "_"
    )


def _is_password(match: re.Match[str], value: str, text: str) -> bool:
    if match["quoted"] is not None:
        return is_password(value) or (is_numbered(value) and not value.isalnum())
    after_blank = match["operator"].endswith(" ") and not match["operator"].isspace()
    if is_numbered(value) and not value.isalnum() and not after_blank:
        return True
    name, operator = match["name"], match["operator"]
    if name.lower() == "pass" and text[match.start() - 1 : match.start()] not in ("_", "-"):
        return False
    if name.isupper() and operator == "=" and value.isalnum() and is_password(value):
        return True
    # `password = name2` is code; in environments, options and connection strings it is a literal.
    literal = name.isupper() or operator.isspace() or operator.rstrip() in ("=", ":", ">")
    return is_bare_password(value, literal=literal)


def _kind(name: str, suffix: str, value: str, quoted: bool, before: str) -> str | None:
    """The kind of a token, secret or key; None for a mere mention."""
    kind = _KIND_OF_NAME.get(name, "secret")
    if name == "secret" and "access" in suffix.lower() and _AWS_SECRET.fullmatch(value):
        return "aws-secret-key"
    if is_uuid(value):
        return kind if name in ("secret", "key") or _IS_AUTH.search(before) else None
    if quoted:
        return kind if is_random(value) else None
    return kind if is_random(value, digits=2) and not is_code(value) else None


# Sentences: `the password is ...`, `log in with token ...`

_NAME = r"(?:pass(?:wor[dt]|wd|phrase|code|e)?|pwd?|secret|token|key|credential|contrase\w?a)s?"
_FOR = (
    r"(?:[ \t]+(?:for|of|to|in|on|at|from|under|de|para|f\w{1,2}r)(?:[ \t]+[\w@.'-]{1,40}){1,4}?)?"
)
_IS = (
    r"(?:[ \t]+(?:is|was|are|will be|should be|to|es|est|ist)(?:[ \t]+(?:now|set to))?[ \t]*:?"
    r"|[ \t]*+(?:\*\*|__)?[ \t]*+(?:[:=|]|->|=>|→)(?:\*\*|__)?)"
)
_OPEN = r"(?P<quote>\*\*`?|[\"'`“‘«])?"
STATED = late(
    rf"{_NAME}(?:{_FOR}(?P<is>{_IS}))?[ \t]{{1,3}}{_OPEN}(?P<value>[^\s\"'`“”‘’«»|]{{5,300}})",
    re.IGNORECASE,
)
PAIR = late(
    rf"credentials?[ \t]*(?:are|:|=)[ \t]*{_OPEN}[\w@.-]{{1,40}}[ \t]*[/:|][ \t]*"
    r"(?P<value>[^\s\"'`“”‘’«»|]{5,300})",
    re.IGNORECASE,
)
_PUNCTUATION = ".,;:!?)"


def _stated_value(text: str, start: int) -> FoundSecret | None:
    """The credential in a sentence such as `the password is ...`; its name starts at `start`."""
    match = STATED.match(text, start)
    if match is None:
        match = PAIR.match(text, start)
        if match is None or not is_strong(match["value"].rstrip(_PUNCTUATION)):
            return None
        return _value_found(match, "password")
    value = match["value"].rstrip(_PUNCTUATION)
    if match.group()[:1].lower() in "pc":
        named, kind = _is_stated_password(match, value), "password"
    else:
        named, kind = _is_stated_token(match, value), "secret"
    return _value_found(match, kind) if named else None


def _value_found(match: re.Match[str], kind: str) -> FoundSecret:
    begin = match.start("value")
    return FoundSecret(begin, begin + len(match["value"].rstrip(_PUNCTUATION)), kind)


def _is_stated_password(match: re.Match[str], value: str) -> bool:
    """In quotes after `is`: a literal. Unquoted: neither a word nor a name."""
    stated = match["is"]
    if stated is not None and match["quote"]:
        return is_password(value) and any(character.isdigit() for character in value)
    if is_strong(value) or stated is None:
        return is_strong(value)
    # `password = name12` is code.
    is_code_too = stated.strip() == "=" and value.isalnum()
    return (
        is_mixed(value)
        or is_respelt(value)
        or ((is_numbered(value) or is_drawn(value)) and not is_code_too)
    )


def _is_stated_token(match: re.Match[str], value: str) -> bool:
    return not is_uuid(value) and is_random(value, least=20, digits=2) and not is_code(value)


# Logins: `user: ann`, then `password: ...`

_USER = late(
    r"(?:user|user[_ -]?name|uid|login|e-?mail|account)\\?[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
    r"\\?(?P<quote>[\"']?)[\w.@+\\-]{2,60}\\?(?P=quote)"
    r"[ \t]{0,4}[,;|/]?(?:\s|\\n){0,12}[-*\"']{0,3}\Z",
    re.IGNORECASE,
)
_USER_REACH = 110
PASSWORD_OF_USER = late(
    r"pass(?:wor[dt]|wd|phrase)?\\?[\"']?[ \t]{0,4}(?P<sign>[:=])[ \t]{0,4}"
    r"(?:\\?(?P<quote>[\"'])(?P<quoted>[^\s\"'\\]{5,80})\\?(?P=quote)"
    r"|(?P<bare>[^\s\"'`\\,;|]{5,80})(?=[ \t]*(?:\n|\Z|\\n)))",
    re.IGNORECASE,
)


def passwords_of_users(text: str, lower: bytes) -> Iterator[FoundSecret]:
    """Passwords right after a user: `user: ann`, then `password: ...`.

    After a user, even an ordinary word is a password. `lower` is the text's lower-case Latin-1
    form.
    """
    for start in places(lower, b"pass"):
        match = PASSWORD_OF_USER.match(text, start)
        if match is None:
            continue
        group = "quoted" if match["quote"] else "bare"
        if _is_literal(match[group], match["sign"], quoted=group == "quoted") and _USER.search(
            text, max(0, start - _USER_REACH), start
        ):
            yield FoundSecret(*match.span(group), "password")


def _is_literal(value: str, sign: str, *, quoted: bool) -> bool:
    """Whether a value is a literal, not a variable, a placeholder or a word about passwords."""
    if not is_url_password(value) or is_word_about_passwords(value.strip(".!?:*")):
        return False
    if value.startswith(("/", "@", "~", "-", ".", "!")) or "://" in value:
        return False
    # `password = passphrase` is code; `password: sunflower` and quoted values are not.
    return quoted or (sign == ":" and "." not in value.strip("."))
