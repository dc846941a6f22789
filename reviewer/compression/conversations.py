"""The conversations of a file that may have several: an export, a database, aider's history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from reviewer.compression.turn_events import is_notice
from reviewer.errors import SourceError
from reviewer.sources.open import open_blocks, recognise
from reviewer.sources.records import Block, RecordUse

_READ = frozenset({RecordUse.MESSAGE, RecordUse.TOOL, RecordUse.SUMMARY, RecordUse.WRAPPER})


class Conversation(Struct):
    """A conversation of a file.

    `number` counts from 1 in the order of the file. `said`: whether anyone speaks in it.
    """

    key: str
    number: int
    name: str = ""
    """Its id in the format; empty if there is none."""
    latest: str = ""
    """The time of its last turn, if known."""
    said: bool = False
    aside: bool = True
    """Whether all of it was a sub-agent's."""


def holds_several(path: Path) -> bool:
    """Whether files of this format may have several conversations. Raises SourceError."""
    found = recognise(path)
    return found.several or found.outlines is not None


def is_read(block: Block) -> bool:
    """Whether a block is read: words, a thought, a tool, or a notice such as the end of a task;
    other text of the client is not.
    """
    return block.use in _READ and (bool(block.text.strip()) or block.kind == "tool_result")


def key_of(block: Block) -> str:
    """The key shared by the blocks of a conversation."""
    return f"{block.origin.session or ''}\n{block.origin.conversation}"


def conversations_in(path: Path) -> list[Conversation]:
    """The conversations of a file, in its order.

    Sub-agents' conversations and silent ones are left out, unless there are no others. Raises
    SourceError.
    """
    return listed(open_blocks(path))


def listed(blocks: Iterable[Block]) -> list[Conversation]:
    """As `conversations_in`, of blocks."""
    found: dict[str, Conversation] = {}
    for block in blocks:
        if not is_read(block):
            continue
        key, at = key_of(block), block.origin
        if key not in found:
            found[key] = Conversation(key, 0, at.session or "")
        each = found[key]
        each.latest = max(each.latest, at.at or "")
        each.said = each.said or (block.kind == "text" and not is_notice(block))
        each.aside = each.aside and at.sidechain
    main = [each for each in found.values() if not each.aside] or list(found.values())
    main = [each for each in main if each.said] or main
    for number, each in enumerate(main, 1):
        each.number = number
    return main


def last_of(conversations: list[Conversation]) -> Conversation:
    """The latest conversation; if no times are known, the last of the file."""
    return max(conversations, key=lambda each: (each.latest, each.number))


def named(path: Path, conversations: list[Conversation], name: str) -> Conversation:
    """A conversation by its id, the beginning of it, or its number. Raises SourceError."""
    for each in conversations:
        if name == each.name or (name.isdigit() and int(name) == each.number):
            return each
    begun = [each for each in conversations if len(name) >= 4 and each.name.startswith(name)]
    if len(begun) == 1:
        return begun[0]
    raise SourceError(
        f"{path} has no conversation {name!r}: it has {len(conversations):,}, numbered from 1."
    )


def blocks_of(path: Path, conversation: Conversation) -> Iterator[Block]:
    """The blocks of one conversation. Raises SourceError."""
    only = frozenset((conversation.name,)) if recognise(path).outlines is not None else None
    for block in open_blocks(path, sessions=only):
        if key_of(block) == conversation.key:
            yield block
