"""Text for agents: everything handed to one is an `AgentText`.

`mypy` rejects any other text where packets, exports, marked blocks, memory folders, hooks and MCP
answers are written, and `tests/test_doors.py` finds texts made elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NewType

from reviewer.text import tags
from reviewer.text.clip import clip

AgentText = NewType("AgentText", str)
"""Text for an agent: inert, without secrets or control characters."""

NOTHING = AgentText("")

OPENING, CLOSING = AgentText(tags.OPENING), AgentText(tags.CLOSING)

LONGEST_SENTENCE = 1_000
"""Maximum characters of a sentence of our own, which may quote an outside name."""

_AMP = r"&(?:(?:amp|#0*38|#x0*26);)*+"
_LESS = rf"(?:[<＜﹤]|{_AMP}(?:lt|#0*+60|#x0*+3c);?|\\(?:u00|x)3c|%3c)"
_SQUARE = rf"(?:[\[［]|{_AMP}(?:lbrack|lsqb|#0*+91|#x0*+5b);?|\\(?:u00|x)5b)"
_CLOSING = rf"(?:⟨U\+\w++⟩)?(?:[\]］]|{_AMP}(?:rbrack|rsqb|#0*+93|#x0*+5d);?|\\(?:u00|x)5d|%5d)"
_COLON = rf"(?:[:：﹕]|{_AMP}(?:colon|#0*+58|#x0*+3a);?|\\(?:u00|x)3a)"
"""A sign in plain form and as escaped in HTML, JSON, JavaScript and URLs."""


def _wide(word: str) -> str:
    """A pattern for a word that also matches full-width letters."""
    return "".join(f"[{each}{chr(ord(each) + 0xFEE0)}]" for each in word)


_OF_HOSTS = (
    "(?:system|user|assistant|human|developer|model|tool|function|instruction|reminder|memory"
    r"|context|think|sys|inst|invoke|antml|attachment|turn|env)\w*"
)
_FRAME = re.compile(
    # `</tag>`, comments, `<|im_end|>`, also with blanks or marks of invisible characters
    rf"{_LESS}(?=\s*+(?:[/!?|\\]|[^\x00-\x7f\w\s‹]|%2f|&#|&\w{{1,12}};))"
    # `<tag`; one plain word (`show <id>`), or after a word or in a path (`List<String>`,
    # `specs/<name>.md`), is a placeholder, unless it can only be a tag
    rf"|(?<![\w/]){_LESS}(?=[^\W\d])(?![A-Za-z][A-Za-z0-9]*+>)"
    rf"|{_LESS}(?={_OF_HOSTS}\W|s>|\w{{1,40}}[-_:]|[^\W\d]\w*+\s++[\w-]++\s*+=)"
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
"""Frames in which hosts give instructions to a model, and conversation turns: outside text must
neither open nor close one, not even in code spans."""


def as_markdown(text: str) -> AgentText:
    """Readable, inert Markdown: no `@path`, image, HTML or open fence."""
    return masked_markdown(text)[0]


def masked_markdown(text: str) -> tuple[AgentText, int]:
    """Like `as_markdown`, with the number of secrets masked now.

    No line ends with white space and the text does not start with it: exact token totals depend on
    that.
    """
    from reviewer.text.display import display_text  # late: these slow down a hook
    from reviewer.text.inert_markdown import inert
    from reviewer.text.secrets import mask

    without = mask(text)
    shown = inert(unframed(display_text(without.text).strip()))
    lines = "\n".join(line.rstrip() for line in shown.split("\n"))
    return AgentText(lines), len(without.kinds)


def unframed(text: str) -> str:
    """The text with every tag, special token and turn mark broken, including in code spans.

    Idempotent, linear time.
    """
    if any(sign in text for sign in "<＜﹤&\\%"):
        text = _FRAME.sub("‹", text)
    if any(sign in text for sign in "[［&\\"):
        text = _TEMPLATE.sub(r"(\1)", text)
    if "---" in text:
        text = _DIVIDER.sub("- - -", text)
    return _TURN.sub(r"\1(\2)", text)


def without_tags(text: str) -> AgentText:
    """The text with any tags of recalled memory broken."""
    return AgentText(unframed(_shown(text)).strip())


def between_tags(text: str) -> AgentText:
    """A text inside the tags that transcript readers skip."""
    return joined([OPENING, without_tags(text), CLOSING])


def enclosed(text: AgentText) -> AgentText:
    """Like `between_tags`, for a text made here: two adjacent parts may form a frame."""
    return joined([OPENING, AgentText(unframed(text).strip()), CLOSING])


def first_lines(text: AgentText, most: int) -> AgentText:
    """The leading whole lines of a text, in at most `most` characters."""
    kept: list[str] = []
    for line in text.splitlines():
        most -= len(line) + 1
        if most < 0:
            break
        kept.append(line)
    return AgentText("\n".join(kept))


def sentence(text: str) -> AgentText:
    """A sentence of our own, possibly with outside names, on one line."""
    return AgentText(clip(unframed(_shown(text)), LONGEST_SENTENCE))


def joined(texts: Iterable[AgentText], between: str = "\n") -> AgentText:
    """Several texts, with line ends between them."""
    return AgentText(between.join(texts))


def _shown(text: str) -> str:
    if not text:
        return text
    from reviewer.text.display import display_text
    from reviewer.text.secrets import mask

    return display_text(mask(text).text)
