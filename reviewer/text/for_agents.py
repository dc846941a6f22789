"""Makes every text that an agent reads: whatever is handed to one is an `AgentText`.

`mypy` refuses any other text where packets, exports, marked blocks, memory folders, hooks and MCP
answers are written, and `tests/test_doors.py` looks for texts that were made elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NewType

AgentText = NewType("AgentText", str)
"""Text for an agent: without secrets and control characters, and nothing in it acts."""

NOTHING = AgentText("")

OPENING = AgentText('<recalled-memory source="reviewer">')
CLOSING = AgentText("</recalled-memory>")

LONGEST_SENTENCE = 1_000
"""Characters of a sentence of our own, which may quote a name from outside."""

_AMP = r"&(?:(?:amp|#0*38|#x0*26);)*+"
_LESS = rf"(?:[<＜﹤]|{_AMP}(?:lt|#0*+60|#x0*+3c);?|\\(?:u00|x)3c|%3c)"
_SQUARE = rf"(?:[\[［]|{_AMP}(?:lbrack|lsqb|#0*+91|#x0*+5b);?|\\(?:u00|x)5b)"
_CLOSING = rf"(?:⟨U\+\w++⟩)?(?:[\]］]|{_AMP}(?:rbrack|rsqb|#0*+93|#x0*+5d);?|\\(?:u00|x)5d|%5d)"
_COLON = rf"(?:[:：﹕]|{_AMP}(?:colon|#0*+58|#x0*+3a);?|\\(?:u00|x)3a)"
"""A sign itself, and as HTML, JSON, JavaScript and an address spell it."""


def _wide(word: str) -> str:
    """A pattern of a word whose letters may be full-width."""
    return "".join(f"[{each}{chr(ord(each) + 0xFEE0)}]" for each in word)


_OF_HOSTS = (
    "(?:system|user|assistant|human|developer|model|tool|function|instruction|reminder|memory"
    r"|context|think|sys|inst|invoke|antml)\w*"
)
_FRAME = re.compile(
    # `</tag>`, comments, `<|im_end|>`, also behind blanks and marks of invisible characters
    rf"{_LESS}(?=\s*+(?:[/!?|\\]|[^\x00-\x7f\w\s‹]|%2f|&#|&\w{{1,12}};))"
    # `<tag>`; after a word or in a path (`List<String>`, `specs/<name>.md`) it is a placeholder,
    # unless it can only be a tag
    rf"|(?<![\w/]){_LESS}(?=[^\W\d])"
    rf"|{_LESS}(?={_OF_HOSTS}\W|\w{{1,40}}[-_:]|[^\W\d]\w*+\s++[\w-]++\s*+=)"
    rf"|{_LESS}(?=\s++[^\W\d][\w.:-]{{0,60}}(?:\s[^<>]{{0,200}})?[>＞])",
    re.IGNORECASE,
)
_TURN = re.compile(
    rf"^([^\w\n]*+)({'|'.join(map(_wide, ('Human', 'Assistant', 'System', 'User')))})"
    rf"(?=[^\w)]{{0,8}}{_COLON})",
    re.MULTILINE | re.IGNORECASE,
)
_WORDS = ("INST", "SYSTEM", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_CALLS", "TOOL_RESULTS")
_TEMPLATE = re.compile(
    rf"{_SQUARE}((?:⟨U\+\w++⟩|%2f|&#?\w{{1,8}};|[^\w\[\]]){{0,20}}+"
    rf"(?:{'|'.join(map(_wide, _WORDS))})\s*+){_CLOSING}",
    re.IGNORECASE,
)
_DIVIDER = re.compile(r"---(?=\s*+(?:(?:end of )?context from\b|project-doc\b))", re.IGNORECASE)
"""Frames in which hosts give a model their own words, and the turns of a conversation: text from
outside must neither open nor close one, in code spans neither.
"""


def as_markdown(text: str) -> AgentText:
    """Markdown that can be read and does nothing: no `@path`, image or HTML, no open fence."""
    return masked_markdown(text)[0]


def masked_markdown(text: str) -> tuple[AgentText, int]:
    """The same, and the number of secrets that were masked now.

    No line ends with white space, and the text does not start with it: exact sums of tokens depend
    on that.
    """
    from reviewer.text.display import display_text  # late: these cost a hook time
    from reviewer.text.inert_markdown import inert
    from reviewer.text.secrets import mask

    without = mask(text)
    shown = inert(unframed(display_text(without.text).strip()))
    lines = "\n".join(line.rstrip() for line in shown.split("\n"))
    return AgentText(lines), len(without.kinds)


def unframed(text: str) -> str:
    """The text with every tag, special token and turn mark in it broken, code spans included.

    Idempotent, in linear time.
    """
    if any(sign in text for sign in "<＜﹤&\\%"):
        text = _FRAME.sub("‹", text)
    if any(sign in text for sign in "[［&\\"):
        text = _TEMPLATE.sub(r"(\1)", text)
    if "---" in text:
        text = _DIVIDER.sub("- - -", text)
    return _TURN.sub(r"\1(\2)", text)


def without_tags(text: str) -> AgentText:
    """Text that cannot begin or end the tags of recalled memory."""
    return AgentText(unframed(_shown(text)).strip())


def between_tags(text: str) -> AgentText:
    """A text between the tags that readers of transcripts leave out."""
    return joined([OPENING, without_tags(text), CLOSING])


def enclosed(text: AgentText) -> AgentText:
    """The same for a text that was made here: side by side, two of its parts may make a frame."""
    return joined([OPENING, AgentText(unframed(text).strip()), CLOSING])


def first_lines(text: AgentText, most: int) -> AgentText:
    """The first whole lines of a text, in at most `most` characters."""
    kept: list[str] = []
    for line in text.splitlines():
        most -= len(line) + 1
        if most < 0:
            break
        kept.append(line)
    return AgentText("\n".join(kept))


def sentence(text: str) -> AgentText:
    """A sentence of our own, also with names from outside in it, on one line."""
    line = " ".join(unframed(_shown(text)).split())
    return AgentText(line if len(line) <= LONGEST_SENTENCE else f"{line[:LONGEST_SENTENCE]}…")


def joined(texts: Iterable[AgentText], between: str = "\n") -> AgentText:
    """Several texts, with line ends between them."""
    return AgentText(between.join(texts))


def _shown(text: str) -> str:
    if not text:
        return text
    from reviewer.text.display import display_text
    from reviewer.text.secrets import mask

    return display_text(mask(text).text)
