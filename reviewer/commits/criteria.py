"""Retention criteria: parsing, checking and storing."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import msgspec

from reviewer.commits.values import MatchMode, Pattern, PatternCheck, RetentionCriteria
from reviewer.errors import ReviewerError
from reviewer.text.normalise import fold

MAX_ELEMENTS = 200_000
"""Largest regular expression with its repeats expanded; about 60 MB when compiled."""

_TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]?|(?P<open>\()|(?P<close>\))"
    r"|(?P<repeat>\{(?P<least>\d*)(?:,(?P<most>\d*))?\})|[*+?]|.",
    re.DOTALL,
)


def expanded_size(expression: str) -> int:
    """Roughly the number of elements of an expression with its counted repeats expanded.

    The compiler expands them: `((a{500}){500}){500}` has nineteen characters, and would use up all
    memory before any time limit applies.
    """
    sizes = [0]
    last = 0
    for token in _TOKEN.finditer(expression):
        if token["open"]:
            sizes[-1] += last
            sizes.append(0)
            last = 0
        elif token["close"]:
            last += sizes.pop() if len(sizes) > 1 else 0
        elif token["repeat"]:
            counts = [int(count[:9]) for count in (token["least"], token["most"]) if count]
            last *= max(counts, default=1) or 1
        elif token.group() not in "*+?":
            sizes[-1] += last
            last = 1
    return sum(sizes) + last


MAX_PATTERNS = 10_000
LONGEST_PATTERN = 2_000
MAX_MATCHES = 1_000
"""Counting stops at this many occurrences of a pattern."""
SECONDS_A_PATTERN = 0.25
SECONDS_IN_ALL = 2.0


class PatternError(ReviewerError):
    """A pattern that can never be checked. `column` is the 0-based position of a regex error, and
    `fault` describes it.
    """

    def __init__(self, message: str, column: int | None = None, fault: str = "") -> None:
        super().__init__(message)
        self.column, self.fault = column, fault


def parse_patterns(match: Iterable[str], regexes: Iterable[str] = ()) -> tuple[Pattern, ...]:
    """Substrings and regular expressions in their stored form, without duplicates.

    Raises PatternError for an empty pattern, a secret, a bad regular expression, or too many
    patterns.
    """
    if isinstance(match, str) or isinstance(regexes, str):
        raise PatternError("Give the patterns as a list, not as one text.")
    found = dict.fromkeys(_pattern(each, "substring") for each in match)
    found |= dict.fromkeys(_pattern(each, "regex") for each in regexes)
    if len(found) > MAX_PATTERNS:
        raise PatternError(
            f"A commit has at most {MAX_PATTERNS:,} patterns, these are {len(found):,}. "
            "Pin the commit instead, or say in words what must survive."
        )
    return tuple(found)


def _pattern(text: str, mode: MatchMode) -> Pattern:
    if not text.strip():
        raise PatternError("A retention pattern is empty; give a text that a summary must contain.")
    if len(text) > LONGEST_PATTERN:
        raise PatternError(
            f"A retention pattern has at most {LONGEST_PATTERN:,} characters, this has "
            f"{len(text):,}: {text[:40]!r}..."
        )
    from reviewer.text.secrets import mask  # late: reading commits needs no secret patterns

    if secrets := mask(text).kinds:
        raise PatternError(
            f"A retention pattern contains a secret ({secrets[0]}); secrets are never stored, so "
            "no summary can match it."
        )
    if mode == "regex":
        compiled(text)
    return Pattern(text, mode)


@lru_cache(maxsize=4096)
def compiled(text: str) -> Any:
    """A regular expression that searches NFC-normalised text.

    Raises PatternError with the column of the error.
    """
    if (elements := expanded_size(text)) > MAX_ELEMENTS:
        raise PatternError(
            f"The regular expression {text[:60]!r} has {elements:,} elements with its repeats "
            f"expanded; at most {MAX_ELEMENTS:,} are allowed: repeat less."
        )
    import regex  # late: takes 13 ms, not needed for listing commits

    try:
        return regex.compile(unicodedata.normalize("NFC", text))
    except regex.error as problem:
        column = getattr(problem, "pos", None)
        where = "" if column is None else f" at column {column + 1}"
        fault = f"{problem.msg}."
        sentence = f"The regular expression {text!r} is bad{where}: {fault}"
        raise PatternError(sentence, column, fault) from None
    except (RecursionError, OverflowError, ValueError) as problem:
        raise PatternError(
            f"The regular expression {text[:60]!r} cannot be compiled: {problem}."
        ) from None


def check_patterns(
    patterns: Sequence[Pattern],
    text: str,
    *,
    seconds_a_pattern: float = SECONDS_A_PATTERN,
    seconds_in_all: float = SECONDS_IN_ALL,
) -> tuple[PatternCheck, ...]:
    """Check each pattern against a text, in order.

    Everything is NFC-normalised; substrings are case sensitive and match with white space folded.
    A pattern that takes longer than `seconds_a_pattern`, or is reached after `seconds_in_all`, is
    `slow`: whether it matches is unknown.
    """
    deadline = time.monotonic() + seconds_in_all
    folded, normal = fold(text), unicodedata.normalize("NFC", text)
    checks = []
    for pattern in patterns:
        left = deadline - time.monotonic()
        if left <= 0:
            checks.append(
                PatternCheck(
                    pattern,
                    "slow",
                    message=f"Not checked: earlier patterns took {seconds_in_all:g} s.",
                )
            )
        elif pattern.mode == "substring":
            wanted = fold(pattern.text)
            times = min(folded.count(wanted), MAX_MATCHES) if wanted else 0
            checks.append(_checked(pattern, times))
        else:
            checks.append(_search(pattern, normal, min(seconds_a_pattern, left)))
    return tuple(checks)


def _search(pattern: Pattern, text: str, seconds: float) -> PatternCheck:
    try:
        found = compiled(pattern.text).finditer(text, timeout=seconds)
        return _checked(pattern, sum(1 for _ in islice(found, MAX_MATCHES)))
    except PatternError as problem:
        return PatternCheck(
            pattern, "bad", column=problem.column, message=str(problem), fault=problem.fault
        )
    except TimeoutError:
        return PatternCheck(
            pattern,
            "slow",
            message=f"Takes more than {seconds:.2g} s here; write it without nested repeats.",
        )


def _checked(pattern: Pattern, times: int) -> PatternCheck:
    if not times:
        return PatternCheck(pattern, "missing", message="Does not occur here.")
    often = f"{times:,} times" if times > 1 else "once"
    more = " or more" if times == MAX_MATCHES else ""
    return PatternCheck(pattern, "matches", times, message=f"Occurs {often}{more}.")


def matches_everything(pattern: Pattern) -> bool:
    """Whether a pattern matches the empty string, and so every summary."""
    if pattern.mode == "substring":
        return False
    try:
        return compiled(pattern.text).search("", timeout=SECONDS_A_PATTERN) is not None
    except TimeoutError:
        return False


LONGEST_INSTRUCTIONS = 4_000

_decoder = msgspec.json.Decoder(RetentionCriteria)
NO_CRITERIA = RetentionCriteria()


def clean_instructions(text: str) -> str:
    """Retention instructions for storing: stripped, secrets masked.

    Raises ReviewerError when it is empty or longer than LONGEST_INSTRUCTIONS characters.
    """
    from reviewer.text.secrets import mask  # late: reading commits needs no secret patterns

    kept = mask(text.encode("utf-8", "replace").decode().strip()).text
    if not kept:
        raise ReviewerError(
            "The retention criterion is empty; say what must survive, or give a priority alone."
        )
    if len(kept) > LONGEST_INSTRUCTIONS:
        raise ReviewerError(
            f"Retention in words has at most {LONGEST_INSTRUCTIONS:,} characters, this has "
            f"{len(kept):,}. Pin the commit instead."
        )
    return kept


def encode_criteria(criteria: RetentionCriteria) -> str | None:
    """The value for the column `retention_json`; None without criteria."""
    return msgspec.json.encode(criteria).decode() if criteria else None


def decode_criteria(stored: str | None) -> RetentionCriteria:
    """The criteria in the column `retention_json`; empty for NULL."""
    return _decoder.decode(stored) if stored else NO_CRITERIA
