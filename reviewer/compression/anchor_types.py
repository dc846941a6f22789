"""The eight kinds of anchor, in one table: importance, section of a brief summary, and cues.

To add a kind, add a member to `AnchorType`. Cues read lower-case text, and every repeat in their
patterns is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Self


class Section(StrEnum):
    """The sections of a summary, in the order in which somebody who goes on needs them."""

    REQUEST = "Request"
    INSTRUCTIONS = "Instructions and corrections"
    DECISIONS = "Decisions"
    DISCUSSED = "Discussed"
    MESSAGES = "Messages"
    DONE = "Done"
    NOW = "Now"
    NEXT = "Next"
    LISTS = "Lists in play"
    FOUND = "Found out"
    COMMANDS = "Commands"
    FILES = "Files"
    STEPS = "Last steps"


USER = frozenset({"user"})
ANYBODY = frozenset({"user", "assistant", "note"})


class Cue(NamedTuple):
    """A sign of an anchor: the roles that may use it, and a search in lower-case text."""

    roles: frozenset[str]
    search: Callable[[str], re.Match[str] | None]


_OPENERS = r"^(?:(?:ok(?:ay)?|so|and|but|also|oh|hmm+|yes|yeah|well|sorry|ah)\b[\s,.:;!–—-]*){0,3}"
_CORRECTION = re.compile(
    _OPENERS + r"(?:(?:no|nope|nah)(?:[,.:;!–—-]|\s+(?:not|don'?t|that|it|we|you|use|i)\b)"
    r"|(?:actually|wrong|not quite|not that|hold on)\b[\s,.:;!–—-]"
    r"|(?:that'?s|this is|it'?s|that is) (?:not (?:what|right|how|true|correct|it)|wrong"
    r"|incorrect))"
    r"|\b(?:i (?:meant|said|asked (?:for|you))|you (?:forgot|missed|misunderstood|misread|broke"
    r"|should(?: not|n'?t)(?: have)?|were supposed to)|should(?:n'?t| not) (?:it|we|that|this|you)"
    r"|use [^\s,]{1,60},? (?:not|instead of|rather than)\b|[^\s,]{1,60}, not [^\s,]{1,60}[.!]?$"
    r"|(?:revert|undo) (?:that|this|it|the)\b|i changed my mind)"
)
_NO_CORRECTION = re.compile(
    _OPENERS
    + r"no(?:,? (?:problem|worries|need|idea|rush|thanks|thank you|more|matter|question)\b)"
)
_DECISION = re.compile(
    r"\b(?:decided (?:to|on|that|against|not)|decision\b\W{0,6}(?:is|was|:|to)|chose (?:to|the"
    r"|a|not)"
    r"|(?:we|i)(?:'ve| have)? (?:chosen|opted|settled|picked|agreed)\b|opted (?:for|to)"
    r"|settled on|(?:we(?:'re| are)?|i(?:'m| am)?|let'?s|let us) (?:go(?:ing)?|went) (?:with|for)\b"
    r"|going with|went with|we(?:'ll| will) (?:use|keep|stay with|stick|drop)\b"
    r"|(?:let'?s|let us|we should) (?:use|keep|stay with|stick|drop|move|switch"
    r"|skip|leave|make|do it|put|call|name|add|remove|replace|store|target|ship)\b"
    r"|stick(?:ing)? (?:with|to)\b|we agreed|agreed (?:that|to|on)\b"
    r"|(?:the )?(?:chosen|final|agreed) (?:approach|design|option|plan|name)\b)"
    r"|^(?:decision|decided|agreed|resolved|resolution)\b\s*:"
)
_COMMITMENT = re.compile(
    r"\b(?:(?:i|we)(?:'ll| will| shall| promise to| commit to| am going to|'m going to|'re going to"
    r"| are going to))\s+(?:also |then |now |always |never |only |definitely "
    r"|not )*(?!be (?:honest|able)"
    r"|now\b|need\b|have to\b)(?P<verb>[a-z']{2,20})"
    r"|^(?:todo|action item|follow[- ]up|next steps?)\b\s*:\s*\S.{6,}"
    r"|\b(?:by|before|until) (?:tomorrow|tonight|monday|tuesday|wednesday|thursday|friday|next week"
    r"|the end of (?:the )?(?:day|week|month|quarter)|eod|\d{4}-\d\d-\d\d)\b"
)
# Verbs of the agent's next step ("I'll look"), which are not commitments.
_PASSING_LIST = """
look check read search start begin continue examine explore take run try see find verify go help
wait let first use list view open inspect review investigate analyze analyse dig proceed scan grep
need want know think guess say tell show get understand assume just quickly explain summarize
summarise mark have be do collect gather fetch launch spawn poll monitor report
"""
_PASSING = frozenset(_PASSING_LIST.split())
VALUE = (
    r"(?:[$€£]\s?\d[\d.,]*\s?(?:k|m|bn)?\b|\d{4}-\d\d-\d\d|`[^`\n]{1,80}`|\b(?:https?|wss?|ssh"
    r"|git)://"
    r"[^\s<>\"')\]]{3,200}|\bv?\d+(?:\.\d+){1,4}\b|\b[a-z]{1,12}_[a-z0-9_]{2,60}\b"
    r"|\d[\d.,:]*\s?(?:%|[a-z]{1,10}\b)?"
    r"|[\"“][^\"”\n]{1,80}[\"”]|~?/[\w./-]{3,120}|(?:jan|feb|mar|apr|may|june?|july?|aug|sep"
    r"|oct|nov|dec)"
    r"[a-z]{0,6}\.? \d{1,2}\b)"
)
_FACT = re.compile(
    r"\b(?:budget|deadline|due date|limit|cap|quota|maximum|minimum|max|min|threshold|timeout"
    r"|port|host"
    r"|url|endpoint|address|database|(?:base|default|target|release) branch|region|version"
    r"|price|cost|rate|size|width|height"
    r"|default"
    r"|password policy|licen[cs]e|account|ticket|release|hard stop|schema|encoding|protocol"
    r"|interval"
    r"|retention|at most|at least|no more than|no fewer than|exactly|requires?|must be"
    r"|must not exceed"
    r"|root cause|the (?:bug|problem|issue|cause|culprit|reason) (?:is|was)|turns? out|set to"
    r"|equals)\b"
    r"[^.!?\n]{0,80}?"
    + VALUE
    + r"|\b(?:the )?(?:root cause|real (?:bug|problem|issue|cause)|culprit) (?:is|was)\b.{12,}"
)
_OPEN = re.compile(
    r"\b(?:open (?:question|issue|point)s?\b|still (?:unclear|unknown|undecided|open)"
    r"|not (?:yet )?(?:clear"
    r"|sure|decided) (?:whether|if|how|which|why|what)|to be (?:decided|clarified|determined"
    r"|confirmed)"
    r"|tbd\b|we (?:still )?need to (?:decide|clarify|figure out|find out)"
    r"|don'?t know (?:yet )?(?:whether"
    r"|if|why|how|which))"
)
_PREFERENCE = re.compile(
    r"\b(?:(?:i|we)(?:'d| would)? (?:(?:really|strongly|usually|generally|much|always"
    r"|never) )?(?:prefer"
    r"|hate|dislike|rather|favou?r)\b|(?:i|we) (?:really )?(?:like|love) (?:to|it when|when"
    r"|using|having)"
    r"|my (?:preference|favou?rite)\b|i(?:'d| would)? (?:like|want|need) (?:you|it|this|that"
    r"|the|them|all)\b"
    r"|from now on|going forward|in (?:the )?future\b|as a rule|remember (?:that|to)|keep in mind"
    r"|every time you|(?:we|i|you should|you must) (?:always|never))"
    r"|"
    + _OPENERS
    + r"(?:please )?(?:always|never|don'?t|do not|avoid|make sure|only|prefer)\b\s\S"
)
_ERROR = re.compile(
    r"(?:^|[\s:>\"'(])(?:[a-z_]\w{0,60}(?:error|exception)|error|fatal|panic|failed|failure"
    r"|exception)"
    r"(?:\[\w{1,12}\])?:\s*\S|\btraceback \(most recent"
    r"|\b(?:exit(?:ed)? (?:with )?(?:code|status) [1-9]\d{0,2}|(?:status"
    r"|http) (?:code )?[45]\d\d\b)"
    r"|\b(?:no such file|command not found|permission denied|connection (?:refused|reset)"
    r"|out of memory"
    r"|segmentation fault|assertion failed|undefined (?:reference|variable|symbol)"
    r"|cannot find module"
    r"|timed out|not found:|is not defined)\b"
    r"|^---? fail\b"
)
_FAILURE_REPORTED = re.compile(
    r"\b(?:fail(?:s|ed|ing)?|broke|crash(?:es|ed)|did(?: not|n'?t) work|does(?: not|n'?t) work"
    r"|errors? out"
    r"|threw|raises?d?)\b.{0,80}\b(?:with|because|since|due to|when|on|in|error|code|status)\b.{4,}"
)
_MAKES = re.compile(
    r"\b(?:creat|add|wr(?:ite|ote|itten)|implement|modif|updat|edit|renam|mov(?:e|ed)\b|delet"
    r"|remov|fix|chang"
    r"|introduc|extract|refactor|replac|defin|lives? in|located|declar|migrat|generat|patch"
    r"|export|call"
    r"|return|see\b)"
)


def _correction(lower: str) -> re.Match[str] | None:
    return None if _NO_CORRECTION.match(lower) else _CORRECTION.search(lower)


def _commitment(lower: str) -> re.Match[str] | None:
    for match in _COMMITMENT.finditer(lower):
        if match["verb"] is None or match["verb"] not in _PASSING:
            return match
    return None


class AnchorType(StrEnum):
    """A kind of span that must survive.

    `importance` is its weight before its position counts; statements with one of the `cues` are
    anchors of the kind. The first kind in this order whose cue matches names the statement.
    """

    importance: float
    section: Section
    cues: tuple[Cue, ...]

    def __new__(
        cls, value: str, importance: float = 0.0, section: Section = Section.FOUND, *cues: Cue
    ) -> Self:
        """The defaults are for type checkers, which take `AnchorType("Decision")` for this call."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.importance, kind.section, kind.cues = importance, section, cues
        return kind

    CORRECTION = "Correction", 1.0, Section.INSTRUCTIONS, Cue(USER, _correction)
    DECISION = "Decision", 0.95, Section.DECISIONS, Cue(ANYBODY, _DECISION.search)
    COMMITMENT = "Commitment", 0.9, Section.NEXT, Cue(ANYBODY, _commitment)
    CRITICAL_FACT = "CriticalFact", 0.85, Section.FOUND, Cue(ANYBODY, _FACT.search)
    UNRESOLVED_QUESTION = "UnresolvedQuestion", 0.8, Section.NEXT, Cue(ANYBODY, _OPEN.search)
    USER_PREFERENCE = "UserPreference", 0.75, Section.INSTRUCTIONS, Cue(USER, _PREFERENCE.search)
    ERROR_CONTEXT = (
        "ErrorContext",
        0.7,
        Section.FOUND,
        Cue(ANYBODY, _ERROR.search),
        Cue(ANYBODY, _FAILURE_REPORTED.search),
    )
    CODE_ARTIFACT = "CodeArtifact", 0.65, Section.FILES


_CUES = tuple((kind, cue) for kind in AnchorType for cue in kind.cues)


def find_cue(role: str, lower: str) -> tuple[AnchorType, re.Match[str]] | None:
    """The kind of anchor that a statement (lower case) of a role is, and the match of its cue."""
    for kind, cue in _CUES:
        if role in cue.roles and (match := cue.search(lower)):
            return kind, match
    return None


mentions_error = _ERROR.search
"""The first error in a line (lower case) of a tool's output or a trace."""

mentions_change = _MAKES.search
"""The first word in a statement (lower case) for something made or changed."""

DECLARATION = re.compile(
    r"^[ \t]{0,12}(?:export |public |async |pub |static )*(?:def|class|func|function|fn"
    r"|interface|struct|enum|type"
    r"|trait|impl|CREATE TABLE|ALTER TABLE|module) +[A-Za-z_(][^\n]{2,110}",
    re.MULTILINE | re.IGNORECASE,
)
"""A line that declares something, in a block of code."""

WRITTEN_FILE = re.compile(
    r'"(?:file_path|notebook_path|path|filename|target_file)"\s*:\s*"(?P<path>(?:[^"\\\n]|\\.){2,300})"'
)
"""The file in the JSON input of a tool call."""

WRITING_TOOLS = re.compile(r"write|edit|create|patch|replace|insert|save", re.IGNORECASE)
"""Tools that change files."""

QUESTION_END = re.compile(r"\?[\"')\]*_”’]{0,4}$")

EMPTY_QUESTION = re.compile(
    r"^(?:right|ok(?:ay)?|yes|no|really|what|why|how|huh|hmm+|sorry|pardon|yeah|so|and"
    r"|isn'?t it|you know"
    r"|anything else|any questions|does that (?:make sense|work|sound good)"
    r"|(?:do you )?want (?:me )?to (?:proceed|continue|go ahead)"
    r"|(?:shall|should) (?:i|we) (?:proceed|continue|go ahead)"
    r"|ready to (?:proceed|continue))\b.{0,12}\?"
)
"""A question (lower case) that needs no answer later."""

OFFER = re.compile(
    r"(?:\w+,? ){0,2}(?:want me to|do you want|would you (?:like|rather|prefer)|shall i|should i)\b"
)
"""How a question (lower case) begins in which an agent offers its next step."""
