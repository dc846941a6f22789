"""What the next session needs of a session: the hand-over, and what a compaction must keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from reviewer.compression.anchor_types import Section
from reviewer.compression.file_summary import turns_of
from reviewer.compression.offline.shape import ALSO, Account
from reviewer.sources.open import open_blocks
from reviewer.text.inert_markdown import inert
from reviewer.text.tokens import counter

BRIEF_TOKENS, KEEP_TOKENS = 2_000, 700
LEAST_TOKENS = 100
KEPT = (
    Section.REQUEST,
    Section.INSTRUCTIONS,
    Section.DECISIONS,
    Section.NOW,
    Section.NEXT,
    Section.LISTS,
    Section.COMMANDS,
)
"""Sections of which a compaction must keep the words."""
FRAME = 60
"""Tokens for the title and the marks of headings."""
_TITLES = {f"{section.value}:": section.value for section in Section}


class Handover(Struct, frozen=True):
    """A text for an agent about a session. Tokens are those of `encoding`."""

    path: str
    text: str
    tokens: int
    original_tokens: int
    encoding: str

    def to_json(self) -> dict[str, Any]:
        """The fields that scripts read."""
        return {
            "path": self.path,
            "content": self.text,
            "tokens": self.tokens,
            "original_tokens": self.original_tokens,
            "encoding": self.encoding,
        }


def write_brief(
    path: Path, *, max_tokens: int = BRIEF_TOKENS, session: str | None = None
) -> Handover:
    """The hand-over of a session as plain Markdown. `session`: only this one of a file that has
    several. Raises SourceError.
    """
    count = counter()
    turns = turns_of(open_blocks(path, sessions=_only(session)), count)
    account = Account(turns, count.count)
    title = f"# Hand-over of the session {session or path.stem}"
    body = ""
    room = max_tokens - count.count(title) - FRAME
    while room > 0:
        body = as_markdown(account.write(room))
        if count.count(f"{title}\n\n{body}\n") <= max_tokens:
            break
        room -= FRAME // 2
    text = f"{title}\n\n{body}" if body else ""
    return _handover(path, text, sum(turn.tokens for turn in turns))


def write_keep(
    path: Path, *, max_tokens: int = KEEP_TOKENS, session: str | None = None
) -> Handover:
    """What a compaction of a session must keep, as instructions. `session` as for `write_brief`.

    Raises SourceError.
    """
    count = counter()
    turns = turns_of(open_blocks(path, sessions=_only(session)), count)
    account = Account(turns, count.count)
    account.lines = [line for line in account.lines if line.section in KEPT]
    text, room = "", max_tokens - FRAME
    while room > 0:
        body = inert(_without_names(account.write(room)))
        text = f"{ORDER}\n\n{body}" if body else ""
        if count.count(text) <= max_tokens:
            break
        room -= FRAME // 2
    return _handover(path, text, sum(turn.tokens for turn in turns))


ORDER = (
    "Keep all of this in the summary, in these words; say of each file and check whether it was "
    "written, tested and committed, and mark what was only proposed."
)


def _handover(path: Path, text: str, original: int) -> Handover:
    count = counter()
    return Handover(str(path), text, count.count(text), original, count.name)


def _only(session: str | None) -> frozenset[str] | None:
    return None if session is None else frozenset((session,))


def as_markdown(text: str) -> str:
    """A summary with its titles as headings of Markdown, and nothing live in it."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line in _TITLES:
            lines += [""] * bool(lines) + [f"## {_TITLES[line]}", ""]
        else:
            lines.append(line)
    return inert("\n".join(lines))


def _without_names(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not line.startswith(ALSO))
