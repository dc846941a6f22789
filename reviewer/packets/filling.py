"""Filling one section in a fixed order until its room is used (`smart-retrieval.md`, Graceful
Degradation; settled.md, "Packets"). Pure: costs come in as functions, nothing is counted here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from reviewer.packets.values import Rule, State


class Line(Struct, frozen=True):
    """What an item costs in each form, its share of headings included; see `Piece.cost`.

    `short` is None where there is no short form. `key` is whatever the caller knows it by.
    """

    key: int
    full: Callable[[], int]
    short: Callable[[], int | None]
    title: Callable[[], int]
    pinned: bool = False
    superseded: bool = False


class Fate(Struct):
    """What became of a line. `needed` is its cost in full, where it did not fit into `left`."""

    state: State
    rule: Rule
    needed: int = 0
    left: int = 0


class Filled(Struct):
    """The fates of all lines, by their keys, and what they cost together."""

    fates: dict[int, Fate]
    used: int = 0
    noted: bool = False
    """Whether there is a list of titles."""


def total(lines: Sequence[Line], heading: int, limit: int) -> int:
    """What all lines need in full with their heading, superseded ones left out; 0 without any.

    Stops counting above `limit`.
    """
    needed = 0
    for line in lines:
        if needed > limit:
            break
        if not line.superseded:
            needed += line.full() + (0 if needed else heading)
    return needed


def fill(lines: Sequence[Line], room: int, heading: int, share: float, *, whole: bool) -> Filled:
    """Which lines are shown in full: all of them when they fit into `room`, else from the first
    on until `share` of the room is used. The first that does not fit ends it; later ones that are
    smaller do not jump the queue. Pinned lines come first, may use all of the room, and one that
    does not fit ends nothing. `whole`: superseded lines fit as well, since everything does.

    What is not in full is dropped for now: `note` gives it a title where there is room.
    """
    filled = Filled({})
    if whole or total(lines, heading, room) <= room:
        cost = heading
        for line in lines:
            if line.superseded and not whole:
                filled.fates[line.key] = Fate(State.DROPPED, Rule.SUPERSEDED)
            else:
                filled.fates[line.key] = Fate(State.FULL, Rule.ALL_FIT)
                cost += line.full()
        filled.used = cost if cost > heading else 0
        return filled
    limit = int(room * share)
    used, ended = heading, False
    for line in sorted(lines, key=lambda line: not line.pinned):
        if line.superseded:
            filled.fates[line.key] = Fate(State.DROPPED, Rule.SUPERSEDED)
        elif ended:
            filled.fates[line.key] = Fate(State.DROPPED, Rule.BEHIND)
        elif used + (cost := line.full()) <= (room if line.pinned else limit):
            rule = Rule.PINNED if line.pinned else Rule.IN_ORDER
            filled.fates[line.key] = Fate(State.FULL, rule)
            used += cost
        else:
            left = (room if line.pinned else limit) - used
            filled.fates[line.key] = Fate(State.DROPPED, Rule.TOO_BIG, cost, max(left, 0))
            ended = not line.pinned
    filled.used = used if used > heading else 0
    return filled


def note(filled: Filled, lines: Sequence[Line], room: int, heading: int, noted: int) -> None:
    """Give titles, in order, to the lines that are not in full, until one does not fit; then, when
    every line has at least a title, put short forms in their place, in order, until one does not
    fit. `room` is that of the whole section.
    """
    rest = [line for line in lines if filled.fates[line.key].state is State.DROPPED]
    rest = [line for line in rest if filled.fates[line.key].rule is not Rule.SUPERSEDED]
    used = filled.used
    for place, line in enumerate(rest):
        start = 0 if used else heading
        cost = start + line.title() + (0 if filled.noted else noted)
        if used + cost > room:
            for other in rest[place:]:
                filled.fates[other.key].rule = Rule.NO_ROOM
            break
        used += cost
        filled.noted = True
        filled.fates[line.key].state = State.TITLE
    else:
        used = _shorten(filled, rest, room, used, noted)
    filled.used = used


def _shorten(filled: Filled, rest: Sequence[Line], room: int, used: int, noted: int) -> int:
    titles = len(rest)
    for line in rest:
        short = line.short()
        if short is None:
            continue
        cost = short - line.title() - (noted if titles == 1 else 0)
        if used + cost > room:
            break
        used += cost
        titles -= 1
        filled.fates[line.key].state = State.SHORT
    filled.noted = titles > 0
    return used
