"""The output of the session readers: turns, and rewinds between them.

A format needs one function that yields the turns of a file. Positions, damage, repeated turns and
tallies are handled elsewhere for all formats.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec import Struct

from reviewer.sources.events import Origin, Rewind
from reviewer.sources.fields import Fields, words
from reviewer.sources.parts import Part
from reviewer.sources.reading import Reading, Spot
from reviewer.sources.records import RecordUse, Role, Shape

RECORDED_TWICE = "recorded twice"
"""The reason under which a second copy of the same text is counted."""


class Turn(Struct, frozen=True, kw_only=True, gc=False):
    """One message of a session, or one section of a note."""

    origin: Origin
    role: Role
    parts: list[Part]
    rewound: bool = False
    """On a branch that the person left."""
    shape: Shape = Shape.TURN
    headings: tuple[str, ...] = ()
    """Titles from the outermost heading down to its own (notes only)."""
    facts: dict[str, str] | None = None
    """A note's own facts: title, date. None for a turn of a session."""


TurnReader: TypeAlias = Callable[[Reading], Iterator[Turn | Rewind]]
"""Yields the turns of a file in the order in which their fate becomes known. A `Rewind` follows
abandoned turns."""


class Session(Struct, kw_only=True):
    """A session's state so far; makes its turns.

    A turn without its own id gets a key that depends on the session and on all turns before it:
    repeated text in a session makes two records, a copy of a session has the same keys, and a
    session that has grown adds only what is new.
    """

    id: str = ""
    cwd: str = ""
    branch: str = ""
    """The branch up to the agent's next turn."""
    model: str = ""
    version: str = ""
    subagent: bool = False
    """A sub-agent's own session: its questions come from an agent."""
    modified_ns: int = 0
    number: int = 0
    """Distinguishes sessions without ids in one file."""
    _chain: bytes = b""

    def enter(self, session: str) -> None:
        """Switch to the session with this id."""
        if session and session != self.id:
            self.id = session
            self.seed(session)

    def learn(self, record: Fields, **names: str) -> None:
        """Take over facts from a record, if it has them: `cwd="workingFolder"`."""
        for fact, name in names.items():
            setattr(self, fact, words(record.get(name)) or getattr(self, fact))

    def seed(self, text: str) -> None:
        """Base the following keys on this instead of the session's id."""
        self._chain = _hash(text)

    def next_key(self, *said: str) -> str:
        """The key of the next turn without an id."""
        chain = self._chain or _hash(self.id)
        self._chain = hashlib.sha256(chain + _encoded("\0".join(said))).digest()
        return f"sha256:{self._chain.hex()}"

    def key_of(self, role: Role, parts: list[Part], *names: str) -> str:
        """The key of the next turn without an id, with this content."""
        return self.next_key(*names, role, *(part.kind + part.call + part.text for part in parts))

    def turn(
        self,
        spot: Spot,
        role: Role,
        parts: list[Part],
        *,
        key: str | None = None,
        name: str | None = None,
        at: str | None = None,
        apart: bool = False,
        rewound: bool = False,
        cwd: str = "",
        model: str = "",
    ) -> Turn:
        """A turn. `key`: its own id; None: derived from the turns so far; empty: the hash of its
        bytes. `name`: its id within the session, or an empty text if that is missing. `apart`: it
        is a sub-agent's, or its task.
        """
        apart = apart or self.subagent
        if name is not None:
            key = f"{self.id}:{name}" if name else ""
        origin = spot.origin(
            self.key_of(role, parts) if key is None else key,
            at=at,
            session=self.id or None,
            sidechain=apart,
            cwd=cwd or self.cwd,
            branch=self.branch,
            model=model or self.model,
            version=self.version,
            conversation=self.number,
        )
        if role is Role.ASSISTANT:
            self.branch = ""  # it may be another one from here on, unless it is learnt again
        if apart and role is Role.USER:
            role = Role.ASSISTANT
        return Turn(origin=origin, role=role, parts=parts, rewound=rewound)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hash(text: str) -> bytes:
    return hashlib.sha256(_encoded(text)).digest()


def rewind_at(spot: Spot, first: int) -> Rewind:
    """The person went back: the record at `spot` continues from before line `first`."""
    return Rewind(spot.origin(), first, spot.line_start)


class Trail:
    """Finds rewinds in a format whose entries refer to the previous one."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._last = ""

    def follow(self, name: str, before: str, line: int) -> int | None:
        """Process the next entry; returns the first line that it abandons."""
        first = self._lines.get(before) if before != self._last else None
        self._lines[name], self._last = line, name
        return None if first is None else first + 1


def message_text(turn: Turn) -> str:
    """The spoken text of a turn or, if there is none, its other text."""
    texts = [part for part in turn.parts if part.kind == "text" and not part.is_data]
    spoken = [part for part in texts if use_of(turn, part) is RecordUse.MESSAGE] or texts
    return "\n\n".join(part.text for part in spoken)


def is_left(turn: Turn, part: Part) -> bool:
    """Whether a part was said or done on a branch that the person left."""
    return turn.rewound and use_of(turn, part) in (RecordUse.MESSAGE, RecordUse.TOOL)


def use_of(turn: Turn, part: Part) -> RecordUse:
    """The use of a part: its own, or by its kind and the turn's role."""
    if part.use is not None:
        return part.use
    if part.kind == "tool_result":
        return RecordUse.TOOL
    return RecordUse.BOOT if turn.role is Role.SYSTEM and part.kind == "text" else RecordUse.MESSAGE
