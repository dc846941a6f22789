"""The lines an extractive summary can take, the section of each, and which to leave out."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct

from reviewer.compression.anchor_types import QUESTION_END, Section, find_cue, mentions_error
from reviewer.compression.extractive.names import values_of
from reviewer.compression.values import Turn
from reviewer.compression.words import FREQUENCIES, FUNCTION_WORDS, SPOKEN
from reviewer.extraction.rejections import (
    CLIENT_TEXT,
    FRAGMENT,
    NARRATION,
    THANKS,
    gives_reason,
    narrated,
    rejection,
)
from reviewer.extraction.rejections import LONGEST as LONGEST_SCREENED
from reviewer.sources.claude_words import BOOT_STARTS, SUMMARY_START, WRAPPER_STARTS
from reviewer.text.units import UnitKind, units

LONGEST = 400
"""Characters of a unit; longer lines are cut between clauses, or else between words."""
LONGEST_CALL = 160
COMMAND = "$ "


class Form(StrEnum):
    """The kind of a unit."""

    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"
    CODE = "code"
    CALL = "call"
    ERROR = "error"
    ROW = "row"
    OUTPUT = "output"


class SourceUnit(Struct, frozen=True, gc=False):
    """One line as a summary shows it. `turn`: the index of its turn.

    `source`: the line with its emphasis and backticks, which `text` leaves out to save tokens.
    `heading`: the one above it. `part`: its number within a statement that was cut.
    """

    turn: int
    form: Form
    text: str
    source: str = ""
    heading: str = ""
    part: int = 0


_FORMS = {
    UnitKind.SENTENCE: Form.PROSE,
    UnitKind.LIST_ITEM: Form.ITEM,
    UnitKind.HEADING: Form.HEADING,
    UnitKind.QUOTE: Form.PROSE,
    UnitKind.TRACE: Form.ERROR,
    UnitKind.TABLE_ROW: Form.ROW,
}
_WORDS = frozenset({Form.PROSE, Form.ITEM, Form.HEADING})
_MARKUP = re.compile(r"\*\*|`")
_TITLE_ITEM = re.compile(
    r"(?:\*\*|__)(?P<bold>[^*_\n]{2,80}?)(?:\*\*:?|__:?)\s*|(?P<plain>[^\n:]{2,60}):\s*"
)
"""An item that is a title of the items below it."""
_WIDE_END = re.compile(r"(?<=[。！？])(?=\S)")
"""The end of a sentence in scripts without spaces."""
_MEANING = re.compile(r"[^\W_]")
_ARGUMENT_LIST = """
file_path notebook_path path filename command query pattern url subject title skill description
prompt
"""
_ARGUMENTS = _ARGUMENT_LIST.split()
"""Arguments of a call to show, in order of preference."""
_BARE_CODE = re.compile(r"\s*exit(?:ed)?(?: with)? (?:code|status) \d+\W*", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*\d+[→│|\t:]|^\s*(?://|#|\*|[+-] )")


def source_units(turns: Sequence[Turn]) -> list[SourceUnit]:
    """Every unit of the turns in order; thoughts only if there are no other turns."""
    thoughts = all(turn.kind == "thinking" for turn in turns)
    return [unit for number, turn in enumerate(turns) for unit in _of_turn(number, turn, thoughts)]


def strip_markup(text: str) -> str:
    """The text without emphasis and backticks."""
    return _MARKUP.sub("", text)


def _of_turn(number: int, turn: Turn, thoughts: bool) -> Iterator[SourceUnit]:
    if turn.kind == "tool_use":
        text = call_line(turn)
        if text:
            yield SourceUnit(number, Form.CALL, text, text)
    elif turn.kind == "tool_result":
        yield from _errors(number, turn.text)
    elif turn.kind == "text" or thoughts:
        yield from _units_of_text(number, turn.text)


def _units_of_text(turn: int, text: str) -> Iterator[SourceUnit]:
    title, depth = "", 0
    for unit in units(text):
        piece = text[unit.start : unit.end]
        if unit.kind is UnitKind.HEADING or (unit.marker and unit.depth <= depth):
            title = ""
        if unit.marker and (match := _TITLE_ITEM.fullmatch(piece)):
            title, depth = match["bold"] or match["plain"], unit.depth
        form = _FORMS.get(unit.kind, Form.CODE)
        if form in (Form.CODE, Form.ROW):
            lines = (line.strip() for line in piece.split("\n"))
            parts = [line for line in lines if not line.startswith(("```", "~~~"))]
        else:
            parts = _WIDE_END.split(" ".join(piece.split()))
        for part in parts:
            for number, line in enumerate(split_line(part)):
                if _MEANING.search(line):
                    marked = f"{unit.marker} {line}" if unit.marker and not number else line
                    shown = _shown(form, marked)
                    yield SourceUnit(turn, form, shown, marked, title or unit.heading, number)


def _shown(form: Form, text: str) -> str:
    if form is Form.ROW:
        return " | ".join(cell.strip() for cell in strip_markup(text).strip("| ").split("|"))
    return strip_markup(text) if form in _WORDS else text


def split_line(line: str) -> Iterator[str]:
    """The line in pieces of at most `LONGEST` characters."""
    while len(line) > LONGEST:
        head = line[:LONGEST]
        cut = max(head.rfind(mark, LONGEST // 3) for mark in _CUTS)
        if cut < 0:
            cut = head.rfind(" ", LONGEST // 3)
        cut = LONGEST if cut < 0 else cut + 1
        yield line[:cut].strip()
        line = line[cut:].lstrip()
    if line:
        yield line


_CUTS = (". ", "; ", ", ", "! ", "? ", ": ", "。", "，", "！", "？")


def call_line(turn: Turn) -> str:
    """A call in one line: the command, or the tool with its main argument."""
    text = turn.text.strip()
    if not text.startswith(("{", "[")):
        first = text.split("\n", 1)[0]
        return f"{COMMAND}{_short(first)}" if first else turn.name
    try:
        value = msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return f"{turn.name} {_short(text)}".strip()
    about = ""
    if isinstance(value, dict):
        strings = {key: item for key, item in value.items() if isinstance(item, str) and item}
        found = next((strings[key] for key in _ARGUMENTS if key in strings), None)
        about = found if found is not None else next(iter(strings.values()), "")
    return f"{turn.name or 'call'} {_short(about)}".strip()


def _short(text: str) -> str:
    line = " ".join(text[: 4 * LONGEST_CALL].split())
    return line if len(line) <= LONGEST_CALL else line[: LONGEST_CALL - 1].rstrip() + "…"


def _errors(turn: int, text: str) -> Iterator[SourceUnit]:
    """The last error line of a tool's output."""
    if not mentions_error(text.lower()):
        return
    lines = [line for line in text.split("\n") if line.strip()]
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if mentions_error(line[:LONGEST].lower()) and not _NUMBERED.match(line):
            if _BARE_CODE.fullmatch(line) and number + 1 < len(lines):
                line += f" {lines[number + 1].strip()}"
            line = _short(line)
            yield SourceUnit(turn, Form.ERROR, line, line)
            return


DATA = 0.12
"""Share of punctuation from which on a line counts as data."""
FEWEST_WORDS = 4
"""Words that a line of the user needs to be understood by itself."""
FEWEST_CONTENT = 4
"""Content words that a sentence of the agent needs if it has no name and reports no state."""
OFFER_LENGTH = 110
"""Characters up to which an offer is left out."""

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
_SEARCH_HIT = re.compile(r"^\S{0,200}\.[a-z]\w{0,5}[-:]\d+[-:]")
"""A line of a search result: file and line number first."""
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
    """Whether the client wrote a text around the words of people and agents."""
    opening = text.lstrip(" \t*_>-")
    if opening.startswith((SUMMARY_START, *WRAPPER_STARTS, *BOOT_STARTS)):
        return True
    lower = opening.lower()
    return (
        bool(_BOILERPLATE.match(lower)) or rejection(opening[:LONGEST_SCREENED], "") == CLIENT_TEXT
    )


def is_summary(turn: Turn) -> bool:
    """Whether a turn is the summary of an earlier compaction, which has the role of the user."""
    return turn.text.lstrip().startswith(SUMMARY_START)


def is_machine_text(text: str) -> bool:
    """Whether a line is code, a log record or a search result."""
    text = _MARK.sub("", text.strip())
    if _LOG.search(text) or _CODE.search(text) or _SEARCH_HIT.match(text):
        return True
    return len(_SIGNS.findall(text)) > DATA * len(text)


def is_unfit(unit: SourceUnit, turn: Turn) -> bool:
    """Whether a unit does not belong among the sentences of a brief summary."""
    form = unit.form
    if form in (Form.CODE, Form.HEADING):
        return True
    if form is Form.CALL:
        return False
    text = _MARK.sub("", unit.text)
    if form is Form.ERROR:
        if listed := _SEARCH_HIT.match(text):  # keeps messages of compilers, drops lines of code
            return listed[0].endswith("-") or is_machine_text(text[listed.end() :])
        return bool(_LOG.search(text)) and not mentions_error(text.lower())
    if is_machine_text(text):
        return True
    if _WIDE.search(text):  # the checks below count words, which have spaces between
        return False
    by_user = turn.role == "user" and not is_summary(turn)
    if not by_user and text.endswith(":"):
        return True
    lower = text.lower()
    if not by_user and len(text) <= OFFER_LENGTH and _OFFER.match(lower):
        return True
    reason = rejection(text[:LONGEST_SCREENED], "")
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
    """Whether a command only reads."""
    return _LOOKS.match(command) is not None


def strip_bullet(text: str) -> str:
    """The text without its bullet or number."""
    return _MARK.sub("", text)


def _says_little(text: str) -> bool:
    words = {word.lower() for word in _WORD.findall(text)}
    content = words - FREQUENCIES.keys() - SPOKEN - FUNCTION_WORDS
    return len(content) < FEWEST_CONTENT and not _names_something(text) and not _STATE.search(text)


def _names_something(text: str) -> bool:
    return _NAMED.search(text) is not None


CUED, NARRATED, PASTED, CALLED, PLAIN = 1.25, 0.4, 0.2, 0.4, 1.0
"""Factors of a unit's worth: with a cue, narration ("Let me look"), pasted data, a call, else."""
CUT = 0.6
"""Factor for the later parts of a statement that was cut."""

_ASKS = re.compile(
    r"^(?:(?:ok(?:ay)?|so|and|but|also|yes|yeah|now|then|please|great|perfect)[\s,.!]*){0,3}"
    r"(?:can|could|would|will) (?:you|we|i)\b|\b(?:please|i(?:'d)? (?:want|need|like)|let'?s|let us"
    r"|we (?:need|should|have to)|make sure|add|fix|write|run|implement|change|remove|use|create"
    r"|update|check|review|merge|rename|replace|move|test|explain|look (?:at|into))\b"
)
_HEADINGS = (
    (Section.GOAL, re.compile(r"\b(?:goal|intent|objective|request|user messages?)")),
    (Section.DECISIONS, re.compile(r"\bdecisions?\b")),
    (Section.TRIED, re.compile(r"\b(?:errors?|fail(?:ed|ures?)|tried|dead ends?)\b")),
    (
        Section.STATE,
        re.compile(r"\b(?:next steps?|pending|to-?dos?|remaining|current (?:work|state|status))\b"),
    ),
)
"""Headings that decide the section of the lines below them."""
_DONE = re.compile(
    r"\b(?:done|fixed|implemented|completed?|committed|pushed|merged|all (?:\w+ )?tests pass"
    r"|(?:is|are) now|now (?:uses?|has|have|works?|passes)|next steps?|remaining|still (?:need|to)"
    r"|left to do|ready (?:to|for)|want me to|pending|in progress)\b"
)
_FAILED = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|did(?: not|n'?t) work|does(?: not|n'?t) work|broken?|crash\w*"
    r"|reverted|rolled back|dead end|wrong|regression|root cause|the (?:bug|problem|issue) (?:is"
    r"|was))\b"
)


def section_of(unit: SourceUnit, turn: Turn, first_request: int) -> tuple[Section, float]:
    """The section of a unit, and the factor of its worth."""
    if unit.form is Form.ERROR:
        return Section.TRIED, PLAIN
    if unit.form is Form.CALL:
        return Section.COMMANDS, CALLED
    if is_machine_text(unit.text):
        return Section.FINDINGS, PASTED
    if unit.form in (Form.CODE, Form.HEADING):
        return Section.FINDINGS, PLAIN
    if narrated(unit.text):
        return Section.FINDINGS, NARRATED
    section, weight = _section_of_words(unit, turn, first_request)
    return section, weight * CUT if unit.part else weight


def _section_of_words(unit: SourceUnit, turn: Turn, first_request: int) -> tuple[Section, float]:
    lower = unit.text.lower()
    below = unit.heading.lower()
    for section, pattern in _HEADINGS if below else ():
        if pattern.search(below):
            return section, PLAIN
    if cue := find_cue(turn.role, lower):
        return cue[0].section, CUED
    if unit.turn == first_request:
        return Section.GOAL, CUED
    if turn.role == "user" and not turn.name and not is_summary(turn):
        asks = _ASKS.search(lower) or QUESTION_END.search(lower)
        return (Section.GOAL if asks else Section.FINDINGS), PLAIN
    if _FAILED.search(lower):
        return Section.TRIED, CUED
    if _DONE.search(lower) or QUESTION_END.search(lower):
        return Section.STATE, PLAIN
    return Section.FINDINGS, PLAIN


CHARACTERS = 8
"""Characters a token, estimated high."""
_TWO_LETTERS = re.compile(r"[^\W_]{2}")
_INFORMATIVE = re.compile(r"\w/\w|\w\.\w|\b\d+ \w+")
_FIRST, _LAST, _NAMING, _ELSE = range(4)


def tool_lines(
    turns: Sequence[Turn], units: Sequence[SourceUnit], tokens: int
) -> list[tuple[SourceUnit, float]]:
    """Lines of calls and results with their order, the most informative first.

    Errors and first lines come before last lines, these before lines with a name or number, from
    each call and result in turn. `tokens` limits their number.
    """
    owners = [unit.turn for unit in units]
    found: list[tuple[int, int, int, SourceUnit, float]] = []
    for number, turn in enumerate(turns):
        if turn.kind not in ("tool_use", "tool_result"):
            continue
        place = bisect_right(owners, number) - 0.5
        for rank, line, text in _ranked(turn):
            unit = SourceUnit(number, Form.OUTPUT, text, text)
            found.append((rank, line, number, unit, place + line * 1e-6))
    found.sort(key=lambda each: each[:3])
    kept: list[tuple[SourceUnit, float]] = []
    room = tokens * CHARACTERS
    for *_, unit, place in found:
        if room <= 0:
            break
        room -= len(unit.text)
        kept.append((unit, place))
    return kept


def _ranked(turn: Turn) -> Iterator[tuple[int, int, str]]:
    text = turn.text if turn.kind == "tool_result" else "\n".join(values_of(turn.text))
    lines = [line.strip() for line in text.split("\n")]
    lines = [line for line in lines if _TWO_LETTERS.search(line)]
    if turn.kind == "tool_use":
        lines = lines[1:]  # the first is a unit of its own
    number = 0
    for at, line in enumerate(lines):
        if not at or mentions_error(line[:LONGEST].lower()):
            rank = _FIRST
        elif at == len(lines) - 1:
            rank = _LAST
        else:
            rank = _NAMING if _INFORMATIVE.search(line) else _ELSE
        for piece in split_line(line):
            yield rank, number, piece
            number += 1
