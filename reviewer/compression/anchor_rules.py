"""How each of the eight kinds of anchor is told, by what a unit of text says.

Patterns are in lower case and read the lower-case text; every repeat is bounded. A rule says what
part of the unit it means: the whole statement, or only the span that carries the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from reviewer.compression.values import AnchorType

BASE_IMPORTANCE = {
    AnchorType.CORRECTION: 1.0,
    AnchorType.DECISION: 0.95,
    AnchorType.COMMITMENT: 0.9,
    AnchorType.CRITICAL_FACT: 0.85,
    AnchorType.UNRESOLVED_QUESTION: 0.8,
    AnchorType.USER_PREFERENCE: 0.75,
    AnchorType.ERROR_CONTEXT: 0.7,
    AnchorType.CODE_ARTIFACT: 0.65,
}
"""How much a kind weighs before its position counts (settled.md, "Levels and anchors")."""

USER, AGENT = frozenset({"user"}), frozenset({"assistant"})
ANYBODY = frozenset({"user", "assistant", "note"})


class AnchorRule(Struct, frozen=True):
    """A kind of anchor, who may say it, and where in a statement (lower case) it is said."""

    type: AnchorType
    by: frozenset[str]
    find: Callable[[str], re.Match[str] | None]


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
# What an agent says that it is about to do in the next second promises nothing.
_PASSING_LIST = """
look check read search start begin continue examine explore take run try see find verify go help
wait let first use list view open inspect review investigate analyze analyse dig proceed scan grep
need want know think guess say tell show get understand assume just quickly explain summarize
summarise mark have be do
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
    r"|url|endpoint|address|database|branch|region|version|price|cost|rate|size|width|height"
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
_FAILURE_TOLD = re.compile(
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


RULES = (
    AnchorRule(AnchorType.CORRECTION, USER, _correction),
    AnchorRule(AnchorType.DECISION, ANYBODY, _DECISION.search),
    AnchorRule(AnchorType.COMMITMENT, ANYBODY, _commitment),
    AnchorRule(AnchorType.CRITICAL_FACT, ANYBODY, _FACT.search),
    AnchorRule(AnchorType.UNRESOLVED_QUESTION, ANYBODY, _OPEN.search),
    AnchorRule(AnchorType.USER_PREFERENCE, USER, _PREFERENCE.search),
    AnchorRule(AnchorType.ERROR_CONTEXT, ANYBODY, _ERROR.search),
    AnchorRule(AnchorType.ERROR_CONTEXT, ANYBODY, _FAILURE_TOLD.search),
)
"""Rules over statements in prose; the first that fits names the statement."""

tells_error = _ERROR.search
"""Whether a line in lower case, of a tool or a trace, tells an error."""

tells_making = _MAKES.search
"""Whether a statement in lower case tells what was made or changed, and so names artifacts."""

DECLARATION = re.compile(
    r"^[ \t]{0,12}(?:export |public |async |pub |static )*(?:def|class|func|function|fn"
    r"|interface|struct|enum|type"
    r"|trait|impl|CREATE TABLE|ALTER TABLE|module) +[A-Za-z_(][^\n]{2,110}",
    re.MULTILINE | re.IGNORECASE,
)
"""The line that declares something, in a block of code."""

WRITTEN_FILE = re.compile(
    r'"(?:file_path|notebook_path|path|filename|target_file)"\s*:\s*"(?P<path>(?:[^"\\\n]|\\.){2,300})"'
)
"""The file that a tool call is about, in the JSON of its input."""

WRITING_TOOLS = re.compile(r"write|edit|create|patch|replace|insert|save", re.IGNORECASE)
"""Names of tools that change files."""

QUESTION_END = re.compile(r"\?[\"')\]*_”’]{0,4}$")
"""How a question ends."""

EMPTY_QUESTION = re.compile(
    r"^(?:right|ok(?:ay)?|yes|no|really|what|why|how|huh|hmm+|sorry|pardon|yeah|so|and"
    r"|isn'?t it|you know"
    r"|anything else|any questions|does that (?:make sense|work|sound good))\b.{0,12}\?"
)
"""A question (lower case) that asks for nothing that could get lost."""
