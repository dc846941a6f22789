"""What the screen knows when a key is pressed, and the sentences that say why it does nothing.

Every reason is a function from a `Situation` to None (go on) or one sentence that a person can act
on. The registry in `actions.py` names them; help shows them beside the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewer.engine import QueueRow


@dataclass(frozen=True)
class Situation:
    """The state that decides which actions can run now."""

    row: QueueRow | None = None
    """The row under the cursor."""
    decided: bool = False
    """The row under the cursor is no longer waiting."""
    rows: int = 0
    """How many rows the list has."""
    marked: int = 0
    """How many rows are marked, the range in progress included."""
    filtered: bool = False
    editing: bool = False
    expanded: bool = False
    """The cluster of the row is open, or the row is a member of an open one."""
    beyond_cap: int = 0
    undo: str | None = None
    """The title of what `undo` would take back."""
    redo: str | None = None
    zoomed: bool = False
    stacked: bool = False


def not_while_editing(now: Situation) -> str | None:
    """Everything but the edit itself waits until the edit is left."""
    if now.editing:
        return "Finish the edit first: ctrl+s promotes it, escape keeps it as a draft."
    return None


def needs_row(now: Situation) -> str | None:
    """Needs a row under the cursor."""
    if now.row is None:
        return not_while_editing(now) or "There is no candidate under the cursor."
    return not_while_editing(now)


def needs_waiting(now: Situation) -> str | None:
    """Needs marked rows, or a row that still waits."""
    if now.marked:
        return not_while_editing(now)
    if now.row is not None and now.decided:
        return f"#{now.row.id} is decided already: u takes the last decision back, r this one."
    return needs_row(now)


def needs_one_waiting(now: Situation) -> str | None:
    """Works on one row that still waits, whatever is marked."""
    if now.row is not None and now.decided:
        return f"#{now.row.id} is decided already: u takes the last decision back, r this one."
    return needs_row(now)


def needs_decided(now: Situation) -> str | None:
    """Needs marked rows, or a row that was decided or put off."""
    if now.row is not None and not now.marked and not now.decided and not now.row.deferred:
        return f"#{now.row.id} waits in the queue already."
    return needs_row(now)


def needs_rows(now: Situation) -> str | None:
    """Needs a list that shows something."""
    if not now.rows:
        return not_while_editing(now) or "The list is empty."
    return not_while_editing(now)


def needs_cluster(now: Situation) -> str | None:
    """Needs a row with near duplicates behind it."""
    if now.row is not None and not now.row.members:
        return not_while_editing(now) or f"#{now.row.id} has no near duplicates behind it."
    return needs_row(now)


def needs_open_cluster(now: Situation) -> str | None:
    """Needs a cluster that is open."""
    if now.row is not None and not now.expanded:
        return not_while_editing(now) or "No cluster is open here: enter opens one."
    return needs_row(now)


def needs_undo(now: Situation) -> str | None:
    """Needs a decision to take back."""
    return not_while_editing(now) or (None if now.undo else "There is nothing to undo.")


def needs_redo(now: Situation) -> str | None:
    """Needs an undone decision."""
    return not_while_editing(now) or (None if now.redo else "There is nothing to redo.")


def needs_more(now: Situation) -> str | None:
    """Needs candidates that an ingestion left beyond its cap."""
    if not now.beyond_cap:
        return not_while_editing(now) or "Nothing was left beyond the cap."
    return not_while_editing(now)


def needs_zoom(now: Situation) -> str | None:
    """Needs a pane that fills the screen."""
    return None if now.zoomed else "No pane is zoomed: + fills the screen with one."
