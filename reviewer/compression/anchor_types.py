"""The eight kinds of anchor, in one table: importance and signs.

To add a kind, add a member to `AnchorType`. Signs are matched against lower-case statements of the
person, or of anyone.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Literal, Self

Who = Literal["person", "anybody"]

VALUE = r"(?:[$€£]\s?\d|\d{4}-\d\d-\d\d|`[^`\n]{1,80}`|https?://\S|\bv?\d+(?:[.:,]\d+)*\b)"
"""An amount, a date, a name in code, an address or a number."""
_OPENER = r"^(?:(?:ok(?:ay)?|so|and|but|also|please)\b[\s,.:;!–—-]*){0,3}"


class AnchorType(StrEnum):
    """A kind of span that must survive.

    `importance`: its weight, before its position is taken into account. A statement's kind is the
    first in this order with a sign in it.
    """

    importance: float
    who: Who
    sign: re.Pattern[str] | None

    def __new__(
        cls, value: str, importance: float = 0.0, who: Who = "anybody", sign: str = ""
    ) -> Self:
        """The defaults are for type checkers, which take `AnchorType("Decision")` for this call."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.importance, kind.who = importance, who
        kind.sign = re.compile(sign) if sign else None
        return kind

    CORRECTION = (
        "Correction",
        1.0,
        "person",
        rf"{_OPENER}(?:no(?:pe)?[,.:;!–—-]|(?:actually|wrong|not quite|hold on)\b)"
        r"|\b(?:i meant|i said|that'?s (?:not|wrong)|you (?:forgot|missed|misunderstood)"
        r"|instead of|rather than|use [^\s,]{1,60},? not)\b",
    )
    DECISION = (
        "Decision",
        0.95,
        "anybody",
        r"\b(?:decided|decision|chose|chosen|agreed|settled on|opted for|go(?:ing)? with|went with"
        r"|let'?s (?:use|keep|drop|go)|we(?:'ll| will) (?:use|keep|drop))\b",
    )
    COMMITMENT = (
        "Commitment",
        0.9,
        "anybody",
        r"\b(?:i|we)(?:'ll| will| shall) (?:also |then |always |never )?(?:add|fix|write|send|make"
        r"|update|remove|implement|test|release|ship|move|change|keep|deliver|publish|replace)\b"
        r"|^(?:todo|action item|follow[- ]up)\b\s*:|\bmust be \w+ (?:by|before)\b"
        r"|\b(?:by|before) (?:tomorrow|(?:mon|tues|wednes|thurs|fri)day|next week"
        r"|\d{4}-\d\d-\d\d|the (?:release|deployment|deadline))\b",
    )
    CRITICAL_FACT = (
        "CriticalFact",
        0.85,
        "anybody",
        r"\b(?:budget|deadline|limit|cap|maximum|minimum|threshold|timeout|port|host|endpoint"
        r"|version|price|cost|default|at most|at least|exactly|requires?|must be|hard stop|set to)"
        rf"\b[^.!?\n]{{0,80}}?{VALUE}|\b(?:root cause|culprit|the (?:bug|cause|problem))"
        r" (?:is|was)\b",
    )
    UNRESOLVED_QUESTION = (
        "UnresolvedQuestion",
        0.8,
        "anybody",
        r"\b(?:open (?:question|issue|point)s?|still (?:unclear|unknown|undecided|open)"
        r"|to be (?:decided|clarified|confirmed)|tbd)\b",
    )
    USER_PREFERENCE = (
        "UserPreference",
        0.75,
        "person",
        rf"\b(?:i|we) (?:\w+ )?prefer\b|\b(?:from now on|going forward|remember (?:that|to))\b"
        rf"|{_OPENER}(?:always|never|don'?t|do not|avoid|make sure)\b\s\S"
        r"|\b(?:you|we) (?:should|must) (?:always|never)\b",
    )
    ERROR_CONTEXT = (
        "ErrorContext",
        0.7,
        "anybody",
        r"(?:^|[\s:>\"'(])(?:\w{0,60}(?:error|exception)|fatal|panic|failed)(?:\[\w{1,12}\])?:\s*\S"
        r"|\btraceback \(most recent|\bexit(?:ed)? (?:with )?(?:code|status) [1-9]"
        r"|\b(?:no such file|command not found|permission denied|connection refused)\b",
    )
    CODE_ARTIFACT = "CodeArtifact", 0.65


def find_sign(
    role: str, lower: str, *, headed: bool = False
) -> tuple[AnchorType, re.Match[str]] | None:
    """The kind of anchor in a lower-case statement of a role, and the match of its sign. `headed`:
    it is under a heading, and so part of a document that corrects nobody.
    """
    for kind in AnchorType:
        if kind.sign is None or (kind.who == "person" and role != "user"):
            continue
        if kind is AnchorType.CORRECTION and headed:
            continue
        if match := kind.sign.search(lower):
            return kind, match
    return None


QUESTION_END = re.compile(r"\?[\"')\]*_”’]{0,4}$")
