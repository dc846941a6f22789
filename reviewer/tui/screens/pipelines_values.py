"""What the Pipelines screen has read, as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from reviewer.engine import Carried, KeptTurn, Preamble, RunHistory, RunView, Way
    from reviewer.tui.screens.pipelines_model import NodeState

MODES = ("full", "truncate", "compact", "summary:low", "summary:medium", "summary:high")
"""In the order of the keys 1 to 6."""


class RunShown(Struct, frozen=True):
    """A run as it stands: its row, how each node stands, what preambles tell of it."""

    view: RunView
    history: RunHistory
    states: dict[str, NodeState]
    turns: Sequence[KeptTurn] = ()
    trouble: str = ""
    """Why its checkpoint cannot be read, as a sentence."""


class Handed(Struct, frozen=True):
    """What a node gets in each mode, and what it said last. `stages`: how many ran before."""

    way: Way
    preambles: dict[str, Preamble]
    carried: Carried
    session: str
    """What the thread's session holds, as text."""
    session_tokens: int
    session_turns: int
    stages: int
    again: bool
    """The node ran already: this is what it had then, with the context as it is now."""
    said: KeptTurn | None = None
