"""What no person would put into a summary: machine text, boilerplate, offers and half sentences."""

from __future__ import annotations

import re

from reviewer.compression.anchor_rules import tells_error
from reviewer.compression.extractive.expected import FUNCTION_WORDS, SPOKEN
from reviewer.compression.extractive.source_units import Form, SourceUnit
from reviewer.compression.values import Turn
from reviewer.compression.words import FUNCTION_WORDS as COMMON_WORDS
from reviewer.extraction.rejections import (
    CLIENT_TEXT,
    FRAGMENT,
    LONGEST,
    NARRATION,
    THANKS,
    gives_reason,
    rejection,
)
from reviewer.sources.claude_words import BOOT_STARTS, SUMMARY_START, WRAPPER_STARTS

DATA = 0.12
"""Share of signs from which on a line is data rather than words."""
FEWEST_WORDS = 4
"""Words that a line of the user needs at least to say something by itself."""
FEWEST_CONTENT = 4
"""Words of content that a sentence of the agent needs, if it has no name and tells no state."""
OFFER_LENGTH = 110
"""Characters up to which an offer is taken to have no content of its own."""

_SIGNS = re.compile(r"[\"{}\[\]<>=|\\;]")
_MARK = re.compile(r"^(?:[-*+•]|\d{1,3}[.)]|\d{1,3} \||[a-z]\))\s+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LOG = re.compile(
    r"^[\[(]?(?:\d{4}[-/]\d\d[-/]\d\d[T ,])?\d\d:\d\d:\d\d\S*[\s\])|-]*"
    r"(?:\[?(?:INFO|DEBUG|WARN|ERROR|TRACE|FATAL)|\{|\[?\w+=)|^\{\"|\b(?:level|msg|ts)="
    r"|^(?:INFO|DEBUG|WARN(?:ING)?|TRACE|ERROR)\b[\s:\]]+\S*\d|^[-dl][rwx-]{9}\b|^[├└│╭╰┌]",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"^(?://|/\*|\*/|#include\b|#!|@@ |diff --git |\+\+\+ |--- [ab]/|[})\]]+[,;)]*$)"
    r"|\{$|[)}\]\"'];$|\(\);$|\),$|^[\w.]+\(.*\)[,;]?$|^\w[\w.\[\]]* :?= \S"
    r"|^(?:return|import) [\w.]+;?$|^from \S+ import\b|^return\b.*;$"
    r"|^(?:return|package|const|var|let|func|def|class|if|else|elif|for|while|public|private"
    r"|static|export|async|await|type)\b[^.!?]*(?:\w\(| :?= |[{;]$|\):$)"
)
_LISTED = re.compile(r"^\S{0,200}\.[a-z]\w{0,5}[-:]\d+[-:]")
"""A line as a search prints it, behind its file and number."""
_BOILERPLATE = re.compile(
    r"^(?:the (?:summary|conversation) below (?:covers|is)|continue (?:with the last task|the"
    r" conversation from)|please continue (?:the conversation|with the last task)|analysis:$"
    r"|if you need specific details from before|read the full transcript at"
    r"|primary request and intent:$|generated with \[?|co-authored-by:)"
)
_OFFER = re.compile(
    r"^(?:(?:do you |would you (?:like|prefer)|want (?:me )?to\b|should i\b|shall (?:i|we)\b"
    r"|(?:does|do) (?:this|that|it) (?:make sense|help|look|sound)|anything else|any (?:other )?"
    r"(?:questions|thoughts)|what would you like|how would you like|ready (?:to|for)|sounds? good"
    r"|which (?:one )?would you|what do you think).*\?$|let me know\b|happy to\b|feel free\b)"
)

_NAMED = re.compile(r"[`_#\d]|\w/\w|\w\.\w|[a-z][A-Z]")
_STATE = re.compile(
    r"\b(?:tests?|builds?|lint|commit(?:ted)?|pushed|merged|deployed|fail\w*)\b", re.I
)

_LOOKS = re.compile(
    r"(?:cd \S+ && )?(?:ls|cat|head|tail|grep|rg|find|pwd|echo|which|wc|sed -n|tree|stat|sleep"
    r"|git (?:-C \S+ )?(?:log|status|diff|show|branch|remote|rev-parse|ls-files|ls-tree|blame"
    r"|config --get|cat-file|reflog)|gh (?:pr|issue|run|repo) (?:view|list|status|checks))\b"
)


def is_wrapper(text: str) -> bool:
    """Whether a text was put there by the client and not by anybody who spoke."""
    opening = text.lstrip(" \t*_>-")
    if opening.startswith((SUMMARY_START, *WRAPPER_STARTS, *BOOT_STARTS)):
        return True
    lower = opening.lower()
    return bool(_BOILERPLATE.match(lower)) or rejection(opening[:LONGEST], "") == CLIENT_TEXT


def is_summary(turn: Turn) -> bool:
    """Whether a turn is an earlier compaction's summary, which stands there as the user's words."""
    return turn.text.lstrip().startswith(SUMMARY_START)


def is_machine_text(text: str) -> bool:
    """Whether a line is code, a log record or what a search printed, and nobody's sentence."""
    text = _MARK.sub("", text.strip())
    if _LOG.search(text) or _CODE.search(text) or _LISTED.match(text):
        return True
    return len(_SIGNS.findall(text)) > DATA * len(text)


def unfit(unit: SourceUnit, turn: Turn) -> bool:
    """Whether a unit has no place among the sentences of a brief summary."""
    form = unit.form
    if form in (Form.CODE, Form.HEADING):
        return True
    if form is Form.CALL:
        return False
    text = _MARK.sub("", unit.text)
    if form is Form.ERROR:
        if listed := _LISTED.match(text):  # a compiler's message stays, a line of code goes
            return listed[0].endswith("-") or is_machine_text(text[listed.end() :])
        return bool(_LOG.search(text)) and not tells_error(text.lower())
    if is_machine_text(text):
        return True
    if _WIDE.search(text):  # written without spaces: what follows counts words
        return False
    by_user = turn.role == "user" and not is_summary(turn)
    if not by_user and text.endswith(":"):
        return True
    lower = text.lower()
    if not by_user and len(text) <= OFFER_LENGTH and _OFFER.match(lower):
        return True
    reason = rejection(text[:LONGEST], "")
    if by_user:
        return reason == CLIENT_TEXT or (
            not turn.name and len(_WORD.findall(text)) < FEWEST_WORDS and not _names_something(text)
        )
    if reason == NARRATION:
        return not gives_reason(text)
    if reason in (THANKS, FRAGMENT):
        return True
    return form is Form.PROSE and _says_little(text)


def only_looks(command: str) -> bool:
    """Whether a command changes nothing that anybody has to know of."""
    return _LOOKS.match(command) is not None


def bare(text: str) -> str:
    """The text without the sign or number of its list."""
    return _MARK.sub("", text)


def _says_little(text: str) -> bool:
    words = {word.lower() for word in _WORD.findall(text)}
    content = words - FUNCTION_WORDS.keys() - SPOKEN - COMMON_WORDS
    return len(content) < FEWEST_CONTENT and not _names_something(text) and not _STATE.search(text)


def _names_something(text: str) -> bool:
    return _NAMED.search(text) is not None
