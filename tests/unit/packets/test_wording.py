"""The short form of an entry: what it says in a line or two, and where the rest is."""

from __future__ import annotations

import pytest

from reviewer.packets.values import Item, Section
from reviewer.packets.wording import lead_of, short_form


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        (
            "**Context**: Asked twice.\n\n**Lesson**: Two drawers serve two needs:\n\n"
            "1. coins\n2. paper rolls\n",
            "Two drawers serve two needs: 1. coins 2. paper rolls",
        ),
        (
            "**Lesson**: The day begins so:\n- open the till\n- [ ] count the coins\n\nMore.",
            "The day begins so: - open the till - [ ] count the coins",
        ),
        (
            "**Decision**: Keep to this order:\n\n1. Lamp\n2. Shelf\n\n**Rationale**: Habit.",
            "Keep to this order: 1. Lamp 2. Shelf",
        ),
        ("**Lesson**: Oil it by hand.\n\n- with care", "Oil it by hand."),
    ],
)
def test_what_is_announced_comes_with_its_announcement(text: str, lead: str) -> None:
    assert lead_of(text) == lead


def test_a_title_of_many_sentences_is_cut_where_its_gist_follows() -> None:
    item = Item(
        id="a",
        section=Section.LEARNINGS,
        title="The printer swallows " + "every second line of a long receipt " * 9,
        text="**Lesson**: Wait for the cutter.\n\n**Context**: " + "It was busy that day. " * 20,
        place="LEARNINGS.md:4",
        heading=True,
    )
    head, _, gist = (short_form(item, marks=False) or "").partition("\n\n")
    assert len(head) < 190
    assert head.startswith("### The printer swallows every second line")
    assert head.endswith("… [LEARNINGS.md:4]")
    assert gist == "Wait for the cutter."
