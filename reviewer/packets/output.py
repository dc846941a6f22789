"""Packets as JSON, and as a table that explains them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reviewer.packets.values import Item, Packet, PacketItem, Section, State
from reviewer.text.for_agents import as_markdown


def to_json(packet: Packet) -> dict[str, Any]:
    """One object: figures, sections, and every item with its form and the reason."""
    shown = {section.name: list(section.items) for section in packet.sections}
    return {
        "source": packet.source,
        "as_of": packet.as_of.date().isoformat(),
        "budget": packet.budget,
        "tokens_used": packet.tokens_used,
        "over_budget": packet.over_budget,
        "over_by": max(packet.tier_1 - packet.budget, 0),
        "tier_1_tokens": packet.tier_1,
        "counted_with": packet.counted_with,
        "task": packet.task,
        "keywords": list(packet.keywords),
        "instruction": packet.instruction,
        "read_order": list(packet.read_order),
        "constitution": shown[Section.CONSTITUTION],
        "tasks": _bodies(packet, Section.TASKS),
        "conventions": _bodies(packet, Section.CONVENTIONS),
        "decisions": _bodies(packet, Section.DECISIONS),
        "learnings": _bodies(packet, Section.LEARNINGS),
        "summaries": [item.shown for item in packet.in_state(State.TITLE)],
        "sections": [
            {
                "name": str(section.name),
                "max_tokens": section.max_tokens,
                "used": section.used,
                "items": list(section.items),
            }
            for section in packet.sections
        ],
        "included": [item.to_json() for item in packet.in_state(State.FULL)],
        "summarized": [item.to_json() for item in packet.in_state(State.SHORT, State.TITLE)],
        "dropped": [item.to_json() for item in packet.in_state(State.DROPPED)],
        "masked": packet.masked,
        "problems": [
            {"file": problem.file, "line": problem.line, "problem": problem.what}
            for problem in packet.problems
        ],
    }


def item_json(item: Item) -> dict[str, Any]:
    """One item in full, with secrets masked."""
    return {
        "id": item.id,
        "section": str(item.section),
        "title": as_markdown(item.title),
        "text": as_markdown(item.text),
        "at": item.at and item.at.isoformat(),
        "source": item.place,
        "superseded": item.superseded,
    }


def explained(packet: Packet) -> Iterator[tuple[str, ...]]:
    """A row for every item: id, section, state, tokens, score, title, why."""
    for item in packet.items:
        yield (
            item.id,
            str(item.section),
            str(item.state),
            _tokens(item),
            "" if item.score is None else f"{item.score.total:.2f}",
            item.title,
            item.why,
        )


def _tokens(item: PacketItem) -> str:
    """`120`, or `14 of 120` if only a part is shown."""
    if item.state is State.FULL or item.full_tokens is None:
        return f"{item.tokens:,}"
    return f"{item.tokens:,} of {item.full_tokens:,}"


def _bodies(packet: Packet, section: Section) -> list[str]:
    """The shown items of a section, in full or in short."""
    return [
        item.shown for item in packet.in_state(State.FULL, State.SHORT) if item.section is section
    ]
