"""Credentials that are given to programs: `curl -u ann:...`, `mysql -p...`, cookies, logins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from reviewer.text.secret_kinds import Found
from reviewer.text.secret_places import is_user_and_password, places
from reviewer.text.secret_shapes import is_password, is_random, is_strong, is_url_password

_BEFORE = r"[^\n|;&]{0,200}?\s"
"""Other arguments of the same command."""
_VALUE = r"(?P<quote>\\?[\"']?)(?P<value>[^\s\"'\\]{4,300})(?P=quote)(?=[\s\"'\\)`;|&,]|$)"


_AS_USER = (
    r"(?:as|with|using)\s{1,3}[`\"']?[\w.@-]{2,40}[`\"']?\s{0,3}[/:|]\s{0,3}`?"
    r"(?P<value>[^\s`\"'\\]{4,300}?)(?=[.,;:)]{0,3}(?:[\s`\"']|$))"
)


class _Rule(Struct, frozen=True):
    """A word that is found fast, what follows it, and what makes the value a credential."""

    needle: bytes
    pattern: re.Pattern[str]
    kind: str
    judge: Callable[[str], bool]


def _rule(
    needle: str, rest: str, kind: str = "password", judge: Callable[[str], bool] = is_password
) -> _Rule:
    return _Rule(needle.encode(), re.compile(rest, re.IGNORECASE), kind, judge)


def _is_given(value: str) -> bool:
    """A literal that stands where a program takes its password: no variable, option or file."""
    return not value.startswith(("-", "$", "@", "/", ".", "~", "file:", "env:")) and (
        is_url_password(value)
    )


_OPTION_RULES = (
    _rule("curl", rf"{_BEFORE}(?:-u|--user|--proxy-user)[ =]?(?P<quote>\\?[\"']?)"
          r"[^\s:\"']{1,80}:(?P<value>[^\s\"'\\]{3,200})(?P=quote)(?=\s|\\|$)", judge=_is_given),
    _rule("mysql", rf"(?:dump|admin|import)?{_BEFORE}(?-i:-p){_VALUE}"),
    _rule("mariadb", rf"(?:-dump|-admin)?{_BEFORE}(?-i:-p){_VALUE}"),
    _rule("sshpass", rf"\s(?:-\w+\s)?-p ?{_VALUE}", judge=_is_given),
    _rule("redis-cli", rf"{_BEFORE}(?:-a|--pass) {_VALUE}", judge=_is_given),
    _rule("docker login", rf"{_BEFORE}-p {_VALUE}", judge=_is_given),
    _rule("podman login", rf"{_BEFORE}-p {_VALUE}", judge=_is_given),
    _rule("az login", rf"{_BEFORE}-p {_VALUE}", judge=_is_given),
    _rule("openssl", rf"{_BEFORE}-k {_VALUE}"),
    _rule("openssl", rf"{_BEFORE}-pass(?:in|out)? [\"']?pass:(?P<value>[^\s\"']{{4,200}})",
          judge=_is_given),
    _rule("sudo -s", rf"[^\n;|&]{{0,40}}?<<< ?{_VALUE}"),
    _rule("echo", rf"\s(?:-\w+\s)?{_VALUE}\s*\|\s*sudo\s+-S"),
    _rule("password-stdin", rf"\s*<<< ?{_VALUE}", "token", is_random),
    _rule("secret set", rf"\s[A-Z0-9_]{{1,80}}\s(?:[^\n|;]{{0,80}}?\s)?(?:-b|--body)[ =]{_VALUE}",
          "secret", is_random),
)  # fmt: skip
_RULES = (
    _rule("aws_secret_access_key", rf"\s{_VALUE}", "aws-secret-key", is_random),
    _rule("machine ", r"\S{1,120}\s+login\s+\S{1,120}\s+password\s+(?P<value>\S{3,200})",
          judge=_is_given),
    _rule('"auth"', r"\s{0,3}:\s{0,3}\"(?P<value>[A-Za-z0-9+/]{8,512}={0,2})\"",
          "basic-credentials", is_user_and_password),
    _rule("psk=", _VALUE, judge=_is_given),
    _rule("log in ", _AS_USER, judge=is_strong),
    _rule("login ", _AS_USER, judge=is_strong),
    _rule("sign in ", _AS_USER, judge=is_strong),
    _rule("auth=(", r"\s*[\"'][^\"'\n]{1,80}[\"']\s*,"
          r"\s*[\"'](?P<value>[^\"'\n\s]{3,200})[\"']\s*\)"),
    _rule("cookie:", r"[^\n]{0,300}?[\s;][\w.-]{0,20}(?:sess|auth|token|jwt|sid)[\w.-]{0,20}="
          r"(?P<value>[^\s;\"'\\]{16,2000})", "cookie", is_random),
    _rule("sig=", r"(?P<value>[A-Za-z0-9%/+]{40,100}(?:=|%3d))", "signature", lambda _: True),
)  # fmt: skip
# The value stands before the word, as what was piped into it.
_PIPED = re.compile(rf"echo\s(?:-\w+\s)?{_VALUE}\s*\|[^\n]{{0,120}}?--password-stdin")
_PIPED_INTO = b"--password-stdin"
_PIPE_REACH = 500


_EVERYWHERE = tuple((rule.needle, rule) for rule in _RULES)
_WITH_OPTIONS = (*((rule.needle, rule) for rule in _OPTION_RULES), *_EVERYWHERE)


def given_values(text: str, lower: bytes) -> Iterator[Found]:
    """The credentials of `text` that a program is given; `lower` is its lower-case Latin-1 form."""
    # Most texts have no option in them, and one look tells.
    has_options = b" -" in lower
    for needle, rule in _WITH_OPTIONS if has_options else _EVERYWHERE:
        if needle not in lower:
            continue
        end = 0
        for start in places(lower, needle):
            match = rule.pattern.match(text, start + len(needle)) if start >= end else None
            if match is not None and rule.judge(match["value"]):
                end = match.end()
                yield Found(*match.span("value"), rule.kind)
    if has_options and _PIPED_INTO in lower:
        for start in places(lower, _PIPED_INTO):
            end = start + len(_PIPED_INTO)
            match = _PIPED.search(text, max(0, start - _PIPE_REACH), end)
            if match is not None and is_random(match["value"]):
                yield Found(*match.span("value"), "token")
