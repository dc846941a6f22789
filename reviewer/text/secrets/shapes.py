"""The shape of a value: tests for whether it looks like a real credential."""

from __future__ import annotations

import re
from math import log2

from reviewer.text.late_pattern import late

_PLACEHOLDER = late(
    r"\.\.\.|…|x{4}|\*{3}|your|placeholder|change_?-?me|redacted|\[masked|[<>]|\$\{|\{\{|%[(s]|^\$",
    re.IGNORECASE,
)
_BRACKETS = late(r"[\[\](){}<>]")
_NOT_A_SECRET = late(
    r"(?:\.{0,2}|~|[A-Za-z]:)[/\\]"  # a path
    r"|[a-z][a-z0-9+.-]*://"  # an address
    r"|![a-z]+$"  # a tag of YAML
    r"|(?:sha\d+|md5)[:-]"  # a digest
    r"|\d{4}-\d\d-\d\d"  # a date
    r"|v?\d+(?:\.\d+)+$"  # a version
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}$"  # a mail address
    r"|.*\.(?:pem|key|json|ya?ml|toml|txt|env|py|ts|tsx|js|jsx|go|rs|md|crt|cert|sh|sql|html?|css)$"
    r"|(?:data|arn|urn|projects|secret|vault|env|file|op|ref):"
    r"|[\w-]+(?:\.[\w-]+)*/[\w-]+:[\w.-]+$"  # an image with its tag
)
_UUID = late(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_WORD = late(r"(?:[A-Za-z]+\d{0,4}|v?\d{1,4}|\d{8})?")
_SEGMENT = late(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SEPARATORS = late(r"[-_./:#@&=+]+")
_MACHINE = late(r"[A-Za-z0-9+/=_.~:!?@#$%^&*-]+")
_ATTRIBUTE = late(r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+")
_TYPE = late(
    r"(?:\w*(?:Array|String|Str|Buffer|Bytes?|Hash|Type|Key|Token|Secret|Password))\d*"
    r"|[iufIUF](?:nt|loat)?\d+|(?:utf|base|sha|md|argon|bcrypt|scrypt|pbkdf|hmac|aes|rsa|ed)\w{0,12}",
    re.IGNORECASE,
)
_NAMED = late(r"pass|pw\d|token|secret|key|cred|value|param|field|test_|arg\d|user", re.IGNORECASE)
_PASSWORD_WORDS = frozenset({
    "pass", "password", "passwd", "pwd", "pw", "passphrase", "secret", "token", "key", "apikey",
    "api_key", "user", "username", "credentials", "xxx", "yyy", "none", "null",
})  # fmt: skip
_WORDS_ABOUT_PASSWORDS = _PASSWORD_WORDS | {
    "string", "text", "varchar", "required", "optional", "hidden", "boolean", "integer", "example",
    "sample", "change", "changeme", "default", "empty", "unset", "unchanged", "unknown",
    "encrypted", "hashed", "masked", "redacted", "placeholder", "prompt", "stdin", "environment",
    "generated", "random", "same", "above", "below", "hunter", "minlength", "maxlength", "admin",
    "users", "value", "field", "input", "label", "object", "array", "number", "never", "always",
    "failed", "correct", "wrong", "incorrect", "invalid", "valid", "expired", "missing", "test",
    "true", "false", "postgres",
}  # fmt: skip
_SYMBOLS = frozenset("@!#$%^&*+=~")


def is_placeholder(value: str) -> bool:
    """A placeholder from documentation or a template: `xxxx`, `<token>`, `${SECRET}`."""
    return _PLACEHOLDER.search(value) is not None


def is_word_about_passwords(value: str) -> bool:
    """A word that people write in place of a password or about one: `required`, `changeme`."""
    return value.lower() in _WORDS_ABOUT_PASSWORDS


def is_wordy(value: str) -> bool:
    """Made of words and short numbers: `my-app-secret-v2`, `claude-3-opus-20240229`."""
    parts = _SEPARATORS.split(value)
    return all(_WORD.fullmatch(part) and not _is_scrambled(part) for part in parts)


def is_random(value: str, *, least: int = 16, digits: int = 1) -> bool:
    """Looks machine-generated: a key or token of at least `least` characters."""
    if len(value) < least or not _MACHINE.fullmatch(value) or _is_something_else(value):
        return False
    found = sum(character.isdigit() for character in value)
    letters = sum(character.isalpha() for character in value)
    if found < digits and not _is_scrambled(value):
        return False
    return letters >= 2 and not is_wordy(value) and _entropy(value) >= 3.0


def is_uuid(value: str) -> bool:
    """A UUID: a credential only if its name says so."""
    return _UUID.fullmatch(value) is not None


def is_password(value: str) -> bool:
    """A quoted literal after `password` that is not a label, selector, template or name."""
    value = value.rstrip("?!*:.…,")
    if len(value) < 5 or _is_something_else(value) or value.lower() in _PASSWORD_WORDS:
        return False
    if value.isdigit():
        return len(value) >= 6
    if not any(character.isdigit() or character in _SYMBOLS for character in value):
        return _is_scrambled(value)
    parts = _SEPARATORS.split(value)
    return len(parts) == 1 or not is_wordy(value) or bool(_SYMBOLS & set(value[1:]))


def is_strong(value: str) -> bool:
    """Letters, digits and symbols in one word, as in passwords and never in prose."""
    return (
        value[:1].isalnum()
        and "=" not in value
        and is_password(value)
        and any(character.isdigit() for character in value)
        and any(character.isalpha() for character in value)
        and any(character in _SYMBOLS for character in value)
    )


def is_mixed(value: str) -> bool:
    """Words with a number between them: `correct7horse`, but not `argon2id`, nor `hunter2`, which
    may be a name.
    """
    return (
        len(value) >= 9
        and value.isalnum()
        and re.fullmatch(r"[A-Za-z]{3,}\d{1,4}[A-Za-z]{3,}\w*", value) is not None
        and not _TYPE.fullmatch(value)
        and not _METHOD.match(value)
        and not _NAMED.search(value)
    )


def is_respelt(value: str) -> bool:
    """Words with capitals and a digit in place of a letter: `Tr1cky-Horse9`."""
    return value != value.lower() and any(
        _RESPELT.fullmatch(part)
        and not (_METHOD.match(part) or _TYPE.fullmatch(part) or _NAMED.search(part))
        for part in _SEPARATORS.split(value)
    )


_RESPELT = re.compile(r"(?=.{6})[A-Za-z]{2,}\d[A-Za-z]{2,}")
_METHOD = re.compile(
    r"\d|(?:md|sha|utf|base|aes|rsa|oauth|pbkdf|argon|bcrypt|scrypt|hmac|win|v)[_-]?\d",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"[^\W\d_]{3,}[-_.!#+*]?\d{2,}[A-Za-z]{0,2}")


def is_numbered(value: str) -> bool:
    """A word ending in digits, as in passwords people choose: `Sommer-2024`, `hunter22x`; not a
    method name such as `sha256`.
    """
    return len(value) >= 8 and not _METHOD.match(value) and _NUMBERED.fullmatch(value) is not None


def is_drawn(value: str) -> bool:
    """Machine-generated letters and digits: `Kx7pQ2vLm9Zt4R`."""
    digits = sum(character.isdigit() for character in value)
    return digits > 2 and _is_scrambled(value) and not _METHOD.match(value)


def is_bare_password(value: str, *, literal: bool) -> bool:
    """An unquoted password, where code or prose is also possible.

    `literal`: only literals occur there (`DB_PASSWORD=`, `--password `, `a=b;c=d`).
    """
    if value.isdigit() or not is_password(value) or _ATTRIBUTE.fullmatch(value):
        return False
    if not value.isidentifier():
        return True
    return literal and not _TYPE.fullmatch(value) and not _NAMED.search(value)


def is_code(value: str) -> bool:
    """An attribute, a type or a name (`config.token2`, `token_v2`) instead of a literal."""
    if _ATTRIBUTE.fullmatch(value):
        return not any(is_random(part, digits=3) for part in value.split("."))
    return value.isidentifier() and (is_wordy(value) or _TYPE.fullmatch(value) is not None)


def is_url_password(value: str) -> bool:
    """The password in a URL: any literal that is not a placeholder, word or version."""
    return not (
        is_placeholder(value)
        or _BRACKETS.search(value)
        or value.lower() in _PASSWORD_WORDS
        or value.startswith(("$", "%", ":"))
        or re.fullmatch(r"v?\d+(?:\.\d+)+|x+|\*+|\.+", value)
    )


def _is_something_else(value: str) -> bool:
    if is_placeholder(value) or _BRACKETS.search(value):
        return True
    # Base64 may start like a path.
    return bool(_NOT_A_SECRET.match(value)) and not (value[0] == "/" and _is_scrambled(value))


def _is_scrambled(value: str) -> bool:
    """Switches between lower case, upper case and digits more often than any name."""
    return len(value) >= 10 and len(value) < 2.6 * len(_SEGMENT.findall(value))


def _entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    total = len(value)
    counts = [value.count(character) for character in set(value)]
    return -sum(count / total * log2(count / total) for count in counts)
