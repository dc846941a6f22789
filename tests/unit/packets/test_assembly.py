"""Whole packets: budget, order, reasons."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from reviewer.packets.assembly import (
    CONSTITUTION_FIRST,
    READ_IN_FULL,
    TITLE,
    assemble,
    text_within,
)
from reviewer.packets.context_folder import read_folder
from reviewer.packets.output import to_json
from reviewer.packets.prepared import Prepared
from reviewer.packets.token_counts import CountedText, Measurer
from reviewer.packets.values import Packet, Rule, Section, State
from reviewer.text.tokens import counter
from tests.unit.packets.conftest import NOW, PacketOf

TIGHT = 370
"""Too little for everything."""
BUDGETS = (0, 1, 100, 200, 300, 400, 500, 700, 1000, 10_000, 10**12)


def used(packet: Packet, section: Section) -> int:
    return next(each.used for each in packet.sections if each.name is section)


def test_the_text_has_the_tokens_that_it_says_and_never_more_than_the_budget(
    folder: Path, packet_of: PacketOf
) -> None:
    floor = packet_of(folder, 0).tokens_used
    for budget in BUDGETS:
        packet = packet_of(folder, budget)
        text = " ".join(packet.markdown.split())
        assert "A receipt is printed **before** the drawer opens, also when the printer" in text
        assert packet.tokens_used == counter().count(packet.markdown)
        assert packet.tokens_used == sum(each.used for each in packet.sections)
        assert packet.tokens_used <= max(budget, floor)
        assert packet.over_budget is (floor > budget)
        assert used(packet, Section.TASKS) <= 0.4 * budget
        assert used(packet, Section.CONVENTIONS) <= 0.2 * budget


def test_no_budget_gives_constitution_instruction_and_reading_order_only(
    folder: Path, packet_of: PacketOf
) -> None:
    packet = packet_of(folder, 0)
    assert [each.name for each in packet.sections if each.used] == [
        Section.INSTRUCTION, Section.READ_ORDER, Section.CONSTITUTION
    ]  # fmt: skip
    assert "Never round an amount" in packet.markdown
    assert "1. .context/CONSTITUTION.md" in packet.markdown
    assert packet.over_budget
    assert to_json(packet)["over_by"] == packet.tokens_used


def test_all_of_it_where_all_of_it_fits(folder: Path, packet_of: PacketOf) -> None:
    packet = packet_of(folder, 10_000)
    assert packet.markdown.startswith(f"{TITLE}\n\n{CONSTITUTION_FIRST}\n\n## Read order")
    assert READ_IN_FULL in packet_of(folder, packet.tokens_used - 20).markdown
    assert {item.state for item in packet.items} == {State.FULL}
    assert "Also noted" not in packet.markdown
    assert "### [2026-01-11] Coins are counted by hand (superseded)" in packet.markdown
    assert "- Names: **Files by what they hold**: never `util`\n  - `drawer.c`" in packet.markdown
    tasks = ("Make the printer retry", "Write down how", "Count the coins in")
    places = [packet.markdown.index(task) for task in tasks]
    assert places == sorted(places)


def test_what_does_not_fit_is_shortened_noted_and_dropped(
    folder: Path, packet_of: PacketOf
) -> None:
    seen = set()
    for budget, task in product(
        range(300, 700, 20), ("", "who counts the coins of the drawers by weight")
    ):
        packet = packet_of(folder, budget, task=task)
        for item in packet.items:
            seen.add(item.state)
            assert bool(item.shown) is (item.state is not State.DROPPED)
            assert item.shown in packet.markdown
            if item.state is State.TITLE:
                assert item.shown in packet.markdown.partition("Also noted:\n\n")[2]
            if item.state is State.DROPPED:
                assert f"] {item.title}\n" not in packet.markdown
    assert seen == set(State)


def test_superseded_entries_are_dropped_unless_everything_fits(
    folder: Path, packet_of: PacketOf
) -> None:
    whole = packet_of(folder, 10_000).tokens_used
    packet = packet_of(folder, whole - 1)
    dropped = packet.in_state(State.DROPPED)
    assert [(item.title, item.rule) for item in dropped] == [
        ("Coins are counted by hand", Rule.SUPERSEDED)
    ]


def test_an_outdated_item_says_so_in_every_form(tmp_path: Path, packet_of: PacketOf) -> None:
    folder = tmp_path / "old" / ".context"
    folder.mkdir(parents=True)
    text = "Coins are counted by hand. " + "They lie in a tray of wood in the back room. " * 8
    (folder / "CONVENTIONS.md").write_text(
        f"# Conventions\n\n- ~~{text.strip()}~~\n- Coins are weighed in the hall\n"
    )
    whole = packet_of(folder, 10_000).markdown
    assert "- (struck out) ~~Coins are counted by hand." in whole
    short = packet_of(folder, 300, task="coins by hand").markdown
    assert "Coins are counted by hand (struck out) [CONVENTIONS.md:3]" in short
    assert short.index("Coins are weighed") < short.index("counted by hand")


def test_the_task_decides_what_comes_first_in_every_section(
    folder: Path, packet_of: PacketOf
) -> None:
    def first(task: str, section: Section) -> str:
        items = packet_of(folder, 400, task=task).items
        return next(item.title for item in items if item.section is section)

    assert first("", Section.DECISIONS) == "Receipts before drawers"
    assert first("where is the kiosk, in which hall", Section.DECISIONS) == (
        "A decision that nobody dated"
    )
    assert first("a scale weighs coins", Section.DECISIONS) == "Coins are counted by weight"
    assert first("a scale weighs coins", Section.TASKS) == "Count the coins in the evening"
    assert first("one test for the hinge", Section.CONVENTIONS) == "One kiosk, one test"


@pytest.mark.parametrize("task", ["", "the printer, the drawer and its coins"])
def test_a_larger_budget_never_shows_fewer_in_full(
    folder: Path, packet_of: PacketOf, task: str
) -> None:
    whole, shown = packet_of(folder, 10_000, task=task).tokens_used, 0
    for budget in range(packet_of(folder, 0).tokens_used, whole, 7):
        packet = packet_of(folder, budget, task=task)
        assert packet.tokens_used <= budget
        full = len(packet.in_state(State.FULL))
        assert full >= shown
        shown = full
    assert packet.tokens_used > whole - 130, "room that is left is used"


def test_an_estimate_holds_the_budget_in_its_own_count(folder: Path) -> None:
    prepared = Prepared(read_folder(folder), Measurer(estimated=True), now=NOW)
    packet = assemble(prepared, 500)
    assert packet.counted_with == "estimate"
    assert len(packet.markdown.encode()) / 4 <= packet.tokens_used <= 500


@pytest.mark.parametrize("task", ["", "Count the coins by weight"])
def test_the_text_alone_is_that_of_the_packet(folder: Path, encoder: Measurer, task: str) -> None:
    prepared = Prepared(read_folder(folder), encoder, now=NOW, task=task)
    for budget in (200, 500, 10_000):
        whole = assemble(prepared, budget)
        text, places = text_within(prepared, budget)
        assert text == whole.markdown
        assert {item.place for item in whole.items if item.shown} <= set(places)
        assert any(item.shown for item in whole.items)


def test_without_entries_there_is_no_text(tmp_path: Path, encoder: Measurer) -> None:
    folder = tmp_path / ".context"
    folder.mkdir()
    (folder / "TASKS.md").write_text("")
    prepared = Prepared(read_folder(folder), encoder, now=NOW)
    assert text_within(prepared, 1_000) == ("", ())


class Recorded(Measurer):
    """Remembers the texts that it was asked for."""

    def __init__(self) -> None:
        super().__init__(estimated=True)
        self.asked: list[str] = []

    def piece(self, text: str) -> CountedText:
        self.asked.append(text)
        return super().piece(text)


def test_the_text_alone_looks_at_no_entry_that_has_no_room(folder: Path) -> None:
    """An agent waits for it at the start of a session."""
    entries = "".join(
        f"## [2026-0{1 + day % 6}-11] Belt {day}\n\nThe belt {day} is oiled by hand.\n\n"
        for day in range(300)
    )
    (folder / "LEARNINGS.md").write_text(f"# Learnings\n\n{entries}")
    measurer = Recorded()
    text = text_within(Prepared(read_folder(folder), measurer, now=NOW), 800).text
    shown = text.count("Belt ")
    assert 10 < shown < 150
    assert sum("Belt " in each for each in set(measurer.asked)) < 2 * shown
