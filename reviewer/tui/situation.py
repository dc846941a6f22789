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
    fact: str = ""
    """On the State screen: `state`, `entity` or `memory` under the cursor; empty for none."""
    related: bool = False
    """The entity under the cursor leads on to others."""
    plan: str | None = None
    """Why an export cannot be written now; empty when it can."""
    about: object = None
    """What the Commits, Compress, Packet and Pipelines screens know; see their files in `keys/`."""


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


def needs_no_conflict(now: Situation) -> str | None:
    """Needs marked rows, or a row that still waits and is no conflict."""
    return (None if now.marked else _conflict(now)) or needs_waiting(now)


def needs_wording(now: Situation) -> str | None:
    """Works on one row that still waits and is no conflict."""
    return _conflict(now) or needs_one_waiting(now)


def needs_conflict(now: Situation) -> str | None:
    """Needs an open conflict under the cursor."""
    if now.row is not None and now.row.kind != "conflict":
        return not_while_editing(now) or f"#{now.row.id} is no conflict: this key settles one."
    if now.row is not None and now.decided:
        return f"Conflict #{now.row.id} is settled already: u takes the last decision back."
    return needs_row(now)


def _conflict(now: Situation) -> str | None:
    if now.row is None or now.row.kind != "conflict" or now.decided or now.editing:
        return None
    return (
        f"#{now.row.id} is a conflict: 1 keeps the left side, 2 the right, b both, x dismisses it."
    )


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


def needs_fact(now: Situation) -> str | None:
    """Needs a row on the State screen."""
    return not_while_editing(now) or (None if now.fact else "Nothing is under the cursor.")


def needs_trusted(now: Situation) -> str | None:
    """Needs a key of trusted state."""
    if now.fact in ("memory", "entity"):
        return not_while_editing(now) or (
            f"This is no trusted state: r puts this {now.fact} back into the queue."
        )
    return needs_fact(now)


def needs_untrusted(now: Situation) -> str | None:
    """Needs a memory or an entity."""
    if now.fact == "state":
        return not_while_editing(now) or (
            "Trusted state was written by hand, so it has no place in the queue: x unsets it."
        )
    return needs_fact(now)


def needs_memory(now: Situation) -> str | None:
    """Needs a memory."""
    if now.fact == "entity":
        return not_while_editing(now) or "This is an entity already."
    return needs_untrusted(now)


def needs_entity(now: Situation) -> str | None:
    """Needs an entity."""
    if now.fact == "memory":
        return not_while_editing(now) or "Only entities have relations: p graduates this memory."
    if now.fact == "state":
        return not_while_editing(now) or "Only entities have relations."
    return needs_fact(now)


def needs_related(now: Situation) -> str | None:
    """Needs something to go along to."""
    if now.fact and not now.related:
        return not_while_editing(now) or "Nothing is related to this."
    return needs_fact(now)


def needs_plan(now: Situation) -> str | None:
    """Needs a difference that can be written."""
    return now.plan or None
