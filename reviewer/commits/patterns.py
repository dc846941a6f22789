"""Retention patterns: read, compiled when given, checked within a time limit (settled.md)."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

from reviewer.commits.pattern_size import LARGEST, written_out
from reviewer.commits.values import MatchMode, Pattern, PatternCheck
from reviewer.errors import ReviewerError
from reviewer.text.normalise import fold

Given: TypeAlias = "str | re.Pattern[str]"
"""What a person may give as a pattern: a text, whose mode `match_mode` says, or a regex."""

MOST_PATTERNS = 10_000
LONGEST_PATTERN = 2_000
MOST_MATCHES = 1_000
"""Occurrences that are counted of one pattern."""
SECONDS_A_PATTERN = 0.25
SECONDS_IN_ALL = 2.0

_INLINE = {re.ASCII: "a", re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}


class PatternError(ReviewerError):
    """A pattern that can never be checked. `column` is the 0-based place of a regex's fault, and
    `fault` says what is wrong there.
    """

    def __init__(
        self, message: str, pattern: str, column: int | None = None, fault: str = ""
    ) -> None:
        super().__init__(message)
        self.pattern = pattern
        self.column = column
        self.fault = fault


def parse_patterns(
    match: Iterable[Given], regexes: Iterable[Given] = (), *, mode: MatchMode = "substring"
) -> tuple[Pattern, ...]:
    """Patterns as they are kept, doubles once; every one carries its own mode.

    A plain string of `match` has `mode`, one of `regexes` is a regular expression, and so is a
    compiled one anywhere, whose flags become inline flags. Raises PatternError for an empty
    pattern, one that holds a credential, a bad regular expression, or too many of them.
    """
    if isinstance(match, str) or isinstance(regexes, str):
        raise PatternError("Give the patterns as a list, not as one text.", str(match))
    if mode not in ("substring", "regex"):
        raise PatternError(f'There is no match mode "{mode}"; it is substring or regex.', "")
    found = dict.fromkeys(
        [
            *(_pattern(each, mode) for each in match),
            *(_pattern(each, "regex") for each in regexes),
        ]
    )
    if len(found) > MOST_PATTERNS:
        raise PatternError(
            f"A commit has at most {MOST_PATTERNS:,} patterns, these are {len(found):,}. "
            "Pin the commit instead, or say in words what must survive.",
            "",
        )
    return tuple(found)


def _pattern(given: Given, mode: MatchMode) -> Pattern:
    text, mode = (given, mode) if isinstance(given, str) else (_with_flags(given), "regex")
    if not text.strip():
        raise PatternError("A retention pattern is empty; give what a summary must match.", text)
    if len(text) > LONGEST_PATTERN:
        raise PatternError(
            f"A retention pattern has at most {LONGEST_PATTERN:,} characters, this has "
            f"{len(text):,}: {text[:40]!r}...",
            text,
        )
    from reviewer.text.secrets import mask  # late: reading needs no patterns of secrets

    if secrets := mask(text).kinds:
        raise PatternError(
            f"A retention pattern holds a secret ({secrets[0]}); secrets are never stored, so "
            "no summary can match it.",
            text,
        )
    if mode == "regex":
        compiled(text)
    return Pattern(text, mode)


def _with_flags(given: Any) -> str:
    """The expression of a compiled pattern, its flags in front where it does not say them."""
    text, flags = getattr(given, "pattern", None), getattr(given, "flags", None)
    if not isinstance(text, str) or not isinstance(flags, int):
        raise PatternError(
            f"A retention pattern is a text or a compiled regular expression over text, not "
            f"{given!r}.",
            repr(given),
        )
    import regex  # late, as in `compiled`

    try:
        said = regex.compile(text).flags if written_out(text) <= LARGEST else 0
    except regex.error:
        said = 0  # compiling it again, with the flags, says where it is wrong
    missing = "".join(letter for flag, letter in _INLINE.items() if flags & flag & ~said)
    return f"(?{missing}){text}" if missing else text


@lru_cache(maxsize=4096)
def compiled(text: str) -> Any:
    """A regular expression, ready to search NFC-normalised text.

    Raises PatternError, with the place of the fault.
    """
    if (elements := written_out(text)) > LARGEST:
        raise PatternError(
            f"The regular expression {text[:60]!r} comes to {elements:,} elements when its repeats "
            f"are written out, and {LARGEST:,} are the most; repeat less.",
            text,
        )
    import regex  # late: 13 ms, which a list of commits need not wait for

    try:
        return regex.compile(unicodedata.normalize("NFC", text))
    except regex.error as problem:
        column = getattr(problem, "pos", None)
        where = "" if column is None else f" at column {column + 1}"
        raise PatternError(
            f"The regular expression {text!r} is bad{where}: {problem.msg}.",
            text,
            column,
            f"{problem.msg}.",
        ) from None
    except (RecursionError, OverflowError, ValueError) as problem:
        raise PatternError(
            f"The regular expression {text[:60]!r} cannot be compiled: {problem}.", text
        ) from None


def check_patterns(
    patterns: Sequence[Pattern],
    text: str,
    *,
    seconds_a_pattern: float = SECONDS_A_PATTERN,
    seconds_in_all: float = SECONDS_IN_ALL,
) -> tuple[PatternCheck, ...]:
    """How each pattern stands against a text, in order.

    Substrings are looked for with white space folded, both NFC-normalised, case counting; regular
    expressions in the NFC-normalised text. One that takes longer than `seconds_a_pattern`, or
    comes up when `seconds_in_all` are over, is `slow`: nobody knows whether it matches.
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
                    message=f"Not checked: the patterns before it took {seconds_in_all:g} s.",
                )
            )
        elif pattern.mode == "substring":
            wanted = fold(pattern.text)
            times = min(folded.count(wanted), MOST_MATCHES) if wanted else 0
            checks.append(_checked(pattern, times))
        else:
            checks.append(_search(pattern, normal, min(seconds_a_pattern, left)))
    return tuple(checks)


def _search(pattern: Pattern, text: str, seconds: float) -> PatternCheck:
    try:
        found = compiled(pattern.text).finditer(text, timeout=seconds)
        return _checked(pattern, sum(1 for _ in islice(found, MOST_MATCHES)))
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
    more = " or more" if times == MOST_MATCHES else ""
    return PatternCheck(pattern, "matches", times, message=f"Occurs {often}{more}.")


def matches_everything(pattern: Pattern) -> bool:
    """Whether a pattern matches the empty text, so that every summary passes it."""
    if pattern.mode == "substring":
        return False
    try:
        return compiled(pattern.text).search("", timeout=SECONDS_A_PATTERN) is not None
    except TimeoutError:
        return False
