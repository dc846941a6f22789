"""The table of rules: the context of a credential, its pattern, its kind and its shape."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from msgspec import Struct

from reviewer.text.late_pattern import late
from reviewer.text.secrets.kinds import FoundSecret
from reviewer.text.secrets.shapes import (
    is_numbered,
    is_password,
    is_placeholder,
    is_random,
    is_strong,
    is_url_password,
    is_word_about_passwords,
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


COMMANDS = (
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
    rule("echo", rf"\s(?:-\w+\s)?{_VALUE}\s*\|[^\n]{{0,120}}?--password-stdin", "token",
         _is_chosen),
    rule("secret set", rf"\s[A-Z0-9_]{{1,80}}\s(?:[^\n|;]{{0,80}}?\s)?(?:-b|--body)[ =]{_VALUE}",
          "secret", is_random),
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


# Notations: password hashes, encoded keys, Wi-Fi codes, passphrases, password files


def _is_noted(value: str) -> bool:
    return not (is_word_about_passwords(value) or is_placeholder(value))


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


def _is_abroad(value: str) -> bool:
    return _is_noted(value) and not value.isalpha()


_ABROAD = (
    r"[ \t]{0,3}(?:是|为|為|は|est|é|ist|lautet|is|:|=)[ \t]{0,3}[\"'`「]?"
    r"(?P<value>[!-~]{5,100}?)(?=[.,;:!?)\"'`]*(?:[^!-~]|\Z))"
)
"""The value after the word for a password in another language."""
_LOCAL_NAMES = (
    "密码", "密碼", "口令", "パスワード", "비밀번호", "пароль", "Пароль", "hasło", "Hasło",
)  # fmt: skip
"""Those that are not in Latin 1."""
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
    *(
        rule(f":{port}:", r"[\w.*-]{1,60}:[\w.*@-]{1,60}:(?P<value>[^\s:]{5,200})(?=\n|\Z)",
             judge=_is_noted)
        for port in ("5432", "5433", "6432", "*")  # of PostgreSQL, in a password file
    ),
    *(
        rule(name, _ABROAD, judge=_is_abroad)
        for name in ("mot de passe", "senha", "kennwort", "wachtwoord")
    ),
)  # fmt: skip


_PARTS = (b"pass", b"=", b":", b'"', b"_", b"login", b"g in ", b"secret")
"""Parts of several needles: searching for one short string is ten times as fast."""
_LOCAL = late(f"(?:{'|'.join(_LOCAL_NAMES)}){_ABROAD}")


@cache
def _rules_without(absent: tuple[bytes, ...]) -> list[Rule]:
    """The rules for texts in which these parts do not occur."""
    rules = (*COMMANDS, *NOTED)
    return [each for each in rules if not any(part in each.needle for part in absent)]


def ruled_values(text: str, lower: bytes) -> Iterator[FoundSecret]:
    """Credentials in commands, notations and other languages; `lower` is the text's lower-case
    Latin-1 form.
    """
    absent = tuple(part for part in _PARTS if part not in lower)
    yield from values_by(_rules_without(absent), text, lower)
    if not text.isascii():
        for match in _LOCAL.finditer(text):
            if _is_abroad(match["value"]):
                yield FoundSecret(*match.span("value"), "password")
