"""Credentials recognised by context: headers, assignments, sentences, logins, commands."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from reviewer.text.late_pattern import late
from reviewer.text.secrets.kinds import FoundSecret
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
)


class Rule(Struct, frozen=True):
    """A string to search for in the lower-case text, a pattern for the text after it, and a test of
    the value.
    """

    needle: bytes
    pattern: re.Pattern[str]
    kind: str
    judge: Callable[[str], bool]


def rule(
    needle: str, rest: str, kind: str = "password", judge: Callable[[str], bool] = is_password
) -> Rule:
    """A rule whose pattern ignores case and has a group `value`."""
    return Rule(needle.encode(), late(rest, re.IGNORECASE), kind, judge)


def values_by(rules: Iterable[Rule], text: str, lower: bytes) -> Iterator[FoundSecret]:
    """Credentials found by these rules; `lower` is the text's lower-case Latin-1 form."""
    for each in rules:
        end = 0
        for start in places(lower, each.needle):
            match = each.pattern.match(text, start + len(each.needle)) if start >= end else None
            if match is not None and each.judge(match["value"]):
                end = match.end()
                yield FoundSecret(*match.span("value"), each.kind)


def places(flat: bytes, needle: bytes) -> Iterator[int]:
    """Where `needle` occurs in `flat`."""
    at = flat.find(needle)
    while at >= 0:
        yield at
        at = flat.find(needle, at + len(needle))


def is_user_and_password(token: str) -> bool:
    """Whether a token is Base64 of `user:password`, as in basic authentication."""
    try:
        plain = b64decode(token + "=" * (-len(token) % 4), validate=True)
    except ValueError:  # or letters that only look like Base64
        return False
    user, colon, password = plain.partition(b":")
    return bool(user and colon and password) and all(0x20 <= code < 0x7F for code in plain)


# Key blocks, addresses, headers and webhooks

_GAP = r"""(?:\\[nrt]|[\s"'`+,>|]|\d{1,6}(?:\t|\\t|→|[:|][ ]?))"""
_PATH = r"(?P<value>[\w@/-]{16,300})"


def _has_digit(value: str) -> bool:
    return any(character.isdigit() for character in value)


STRUCTURED = (
    rule("-----begin ", r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
         rf"{_GAP}*+(?:[A-Z][A-Za-z-]{{3,20}}: [^\n\\]{{1,200}}{_GAP}++)*+"
         rf"(?P<value>[A-Za-z0-9+/=]{{16,}}+(?:{_GAP}++[A-Za-z0-9+/=]{{16,}}+)*+"
         rf"(?:{_GAP}++[A-Za-z0-9+/=]{{1,15}}(?={_GAP}*+(?:-----END|=)))?(?:{_GAP}++=[\w+/]{{4}})?)",
         "private-key", lambda _: True),
    rule("hooks.slack.com", rf"/(?:services|workflows|triggers)/{_PATH}", "slack-webhook",
         _has_digit),
    rule("/api/webhooks/", rf"\d{{10,25}}/{_PATH}", "discord-webhook", _has_digit),
    rule("webhook.office.com", rf"/webhookb2/{_PATH}", "teams-webhook", _has_digit),
    rule("outlook.office", rf"(?:365)?\.com/webhook/{_PATH}", "teams-webhook", _has_digit),
    rule("://", r"""[^\s/:@?#"'`<>\\\[\]]{0,128}:"""
         r"""(?P<value>[^\s/"'`<>\\?#]{1,256})@(?!sha\d+:)[\w\[.-]""",
         "url-password", is_url_password),
    rule("bearer", r"\s{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,4096})", "bearer-token", is_random),
    rule("basic", r"\s{1,3}(?P<value>[A-Za-z0-9+/]{8,512}={0,2})", "basic-credentials",
         is_user_and_password),
)  # fmt: skip


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
        if needle not in lower:
            continue
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
    if b"pw" not in lower and b"contrase" not in lower:
        return
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
_WORDS_ABOUT_PASSWORDS = frozenset({
    "string", "text", "varchar", "required", "optional", "hidden", "boolean", "integer",
    "example", "sample", "change", "changeme", "default", "empty", "unset", "unchanged",
    "unknown", "encrypted", "hashed", "masked", "redacted", "prompt", "stdin", "environment",
    "generated", "random", "same", "above", "below", "username", "passwd", "hunter", "minlength",
    "maxlength", "admin", "users", "value", "field", "input", "label", "object", "array",
    "number", "never", "always", "failed", "correct", "wrong", "incorrect", "invalid", "valid",
    "expired", "missing",
})  # fmt: skip


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
    if not is_url_password(value) or value.lower().strip(".!?:*") in _WORDS_ABOUT_PASSWORDS:
        return False
    if value.startswith(("/", "@", "~", "-", ".", "!")) or "://" in value:
        return False
    # `password = passphrase` is code; `password: sunflower` and quoted values are not.
    return quoted or (sign == ":" and "." not in value.strip("."))


# Commands: `curl -u ann:...`, `mysql -p...`, cookies

_BEFORE = r"[^\n|;&]{0,200}?\s"
"""Earlier arguments of the same command."""
_VALUE = r"(?P<quote>\\?[\"']?)(?P<value>[^\s\"'\\]{4,300})(?P=quote)(?=[\s\"'\\)`;|&,]|$)"


_AS_USER = (
    r"(?:as|with|using)\s{1,3}[`\"']?[\w.@-]{2,40}[`\"']?\s{0,3}[/:|]\s{0,3}`?"
    r"(?P<value>[^\s`\"'\\]{4,300}?)(?=[.,;:)]{0,3}(?:[\s`\"']|$))"
)


def _is_value(value: str) -> bool:
    """Whether an argument is a literal password, not a variable, option or file."""
    return not value.startswith(("-", "$", "@", "/", ".", "~", "file:", "env:")) and (
        is_url_password(value)
    )


def _is_chosen(value: str) -> bool:
    return is_password(value) or is_numbered(value)


OPTION_RULES = (
    rule("curl", rf"{_BEFORE}(?:-u|--user|--proxy-user)[ =]?(?P<quote>\\?[\"']?)"
          r"[^\s:\"']{1,80}:(?P<value>[^\s\"'\\]{3,200})(?P=quote)(?=\s|\\|$)", judge=_is_value),
    rule("mysql", rf"(?:dump|admin|import)?{_BEFORE}(?-i:-p){_VALUE}", judge=_is_chosen),
    rule("mariadb", rf"(?:-dump|-admin)?{_BEFORE}(?-i:-p){_VALUE}", judge=_is_chosen),
    rule("sshpass", rf"\s(?:-\w+\s)?-p ?{_VALUE}", judge=_is_value),
    rule("redis-cli", rf"{_BEFORE}(?:-a|--pass) {_VALUE}", judge=_is_value),
    rule("docker login", rf"{_BEFORE}-p {_VALUE}", judge=_is_value),
    rule("podman login", rf"{_BEFORE}-p {_VALUE}", judge=_is_value),
    rule("az login", rf"{_BEFORE}-p {_VALUE}", judge=_is_value),
    rule("openssl", rf"{_BEFORE}-k {_VALUE}", judge=_is_chosen),
    rule("openssl", rf"{_BEFORE}-pass(?:in|out)? [\"']?pass:(?P<value>[^\s\"']{{4,200}})",
          judge=_is_value),
    rule("sudo -s", rf"[^\n;|&]{{0,40}}?<<< ?{_VALUE}", judge=_is_chosen),
    rule("echo", rf"\s(?:-\w+\s)?{_VALUE}\s*\|\s*sudo\s+-S", judge=_is_chosen),
    rule("htpasswd", rf"{_BEFORE}-\w{{0,4}}b\w{{0,4}}\s\S{{1,200}}\s\S{{1,80}}\s{_VALUE}",
          judge=_is_chosen),
    rule("securestring", rf"\s(?:-String\s)?(?=[\"']){_VALUE}", judge=_is_chosen),
    rule("password-stdin", rf"\s*<<< ?{_VALUE}", "token", is_random),
    rule("secret set", rf"\s[A-Z0-9_]{{1,80}}\s(?:[^\n|;]{{0,80}}?\s)?(?:-b|--body)[ =]{_VALUE}",
          "secret", is_random),
)  # fmt: skip
RULES = (
    rule("aws_secret_access_key", rf"\s{_VALUE}", "aws-secret-key", is_random),
    rule("machine ", r"\S{1,120}\s+login\s+\S{1,120}\s+password\s+(?P<value>[^\s\"'\\]{3,200})",
          judge=_is_value),
    rule('"auth', r"\\{0,7}\"\s{0,3}:\s{0,3}\\{0,7}\"(?P<value>[\w+/]{8,512}={0,2})\\{0,7}\"",
          "basic-credentials", is_user_and_password),
    rule("identified by", rf"\s(?=[\"']){_VALUE}", judge=_is_chosen),
    rule("with password", rf"\s(?=[\"']){_VALUE}", judge=_is_chosen),
    rule("requirepass", rf"\s{_VALUE}", judge=_is_chosen),
    rule("setpassword(", rf"(?=[\"']){_VALUE}", judge=_is_chosen),
    rule("setx ", rf"\w{{0,40}}(?:PASS\w{{0,20}}|PWD|TOKEN|SECRET|KEY)\s{{1,3}}{_VALUE}",
          judge=_is_chosen),
    rule("chpasswd", r"\s*<<<\s?[\"']?[\w.-]{1,40}:(?P<value>[^\s\"']{4,300})",
          judge=_is_chosen),
    rule("psk=", _VALUE, judge=_is_value),
    rule("log in ", _AS_USER, judge=is_strong),
    rule("login ", _AS_USER, judge=is_strong),
    rule("sign in ", _AS_USER, judge=is_strong),
    rule("auth=(", r"\s*[\"'][^\"'\n]{1,80}[\"']\s*,"
          r"\s*[\"'](?P<value>[^\"'\n\s]{3,200})[\"']\s*\)"),
    rule("cookie:", r"[^\n]{0,300}?[\s;][\w.-]{0,20}(?:sess|auth|token|jwt|sid)[\w.-]{0,20}="
          r"(?P<value>[^\s;`\"'\\]{16,2000})", "cookie", is_random),
    rule("sig=", r"(?P<value>[A-Za-z0-9%/+]{40,100}(?:=|%3d))", "signature", lambda _: True),
)  # fmt: skip
# Here the value precedes the word: it is piped into the command.
PIPED = late(rf"echo\s(?:-\w+\s)?{_VALUE}\s*\|[^\n]{{0,120}}?--password-stdin")
_PIPED_INTO = b"--password-stdin"
_PIPE_REACH = 500


_PARTS = (b"pass", b"=", b":", b'"', b"_", b"login", b"g in ", b"secret")
"""Checked before the rules that contain them: searching one short string is ten times as fast."""


def _by_part(rules: Iterable[Rule]) -> tuple[tuple[bytes, list[Rule]], ...]:
    found: dict[bytes, list[Rule]] = {}
    for each in rules:
        part = next((part for part in _PARTS if part in each.needle), each.needle)
        found.setdefault(part, []).append(each)
    return tuple(found.items())


_EVERYWHERE = _by_part(RULES)
_WITH_OPTIONS = _by_part((*OPTION_RULES, *RULES))


def command_values(text: str, lower: bytes) -> Iterator[FoundSecret]:
    """Credentials in command arguments; `lower` is the text's lower-case Latin-1 form."""
    # Most texts have no options.
    has_options = b" -" in lower
    for part, rules in _WITH_OPTIONS if has_options else _EVERYWHERE:
        if part in lower:
            yield from values_by(rules, text, lower)
    if has_options and _PIPED_INTO in lower:
        for start in places(lower, _PIPED_INTO):
            end = start + len(_PIPED_INTO)
            match = PIPED.search(text, max(0, start - _PIPE_REACH), end)
            if match is not None and _is_chosen(match["value"]):
                yield FoundSecret(*match.span("value"), "token")
