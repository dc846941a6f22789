"""The queue tells the truth: who undid an act, what a filter shows, which rows a mark includes."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from textual.widgets import Input

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.tui.help import every_row
from reviewer.tui.kit.edit_pane import EditorArea
from reviewer.tui.kit.screen import KitScreen
from reviewer.tui.queue.keys import MERGE
from tests.present import present
from tests.stored import planted
from tests.tui.conftest import Screen, opened, status_of

TWINS = """# Notes

- Never deploy the billing service on a Friday afternoon before a holiday starts.
- Never deploy the billing service on a Monday afternoon before a holiday starts.
- Always rotate the signing keys of the gateway before each of its audits.
- Always rotate the signing keys of the gateway before two of its audits.
"""


@pytest.fixture
def twins(engine: Engine, tmp_path: Path) -> Engine:
    """A store with two rows that each lead a near duplicate."""
    path = tmp_path / "twins.md"
    path.write_text(TWINS, "utf-8")
    engine.intake.ingest([path], project="acme")
    rows = {row.content: row.id for row in engine.queue.rows(engine.queue.ids(QueueQuery()))}
    with planted(engine.path, "compare") as act:
        for word in ("Never deploy", "Always rotate"):
            leader, member = (rows[each] for each in sorted(rows) if each.startswith(word))
            act.update("memory", member, leader_id=leader)
    return engine


@pytest.fixture
def capped(engine: Engine, tmp_path: Path) -> Engine:
    """A store with more candidates than one ingestion queues."""
    path = tmp_path / "many.md"
    words = ("ledger", "gateway", "invoice", "queue", "mailer", "cache")
    lines = [
        f"- Never let the {word} of team {number} wait for {number * 7} reports about {word}s."
        for number in range(12)
        for word in words
    ]
    path.write_text("# Rules\n\n" + "\n".join(lines) + "\n", "utf-8")
    engine.intake.ingest([path], project="acme")
    return engine


async def test_queueing_more_is_undone_and_redone_in_its_turn(capped: Engine) -> None:
    def waiting() -> int:
        return capped.queue.counts(None).waiting

    async with opened(capped) as screen:
        first = present(screen.model.current_id)
        await screen.press("a", "s", "u")
        before = waiting()
        await screen.choose("queue more")
        assert screen.status.endswith("u to undo")
        more = waiting()
        assert more > before
        await screen.press("Z")
        assert screen.status == "There is nothing to redo."
        await screen.press("x", "u")
        assert screen.status.startswith("Undone: Rejected")
        await screen.press("u")
        assert screen.status.startswith("Undone: Queued")
        assert (waiting(), status_of(capped, first)) == (before, "active")
        await screen.press("f2", "Z")
        assert waiting() == more
        await screen.press("u", "u")
        assert (waiting(), status_of(capped, first)) == (before + 1, "candidate")


async def test_a_clear_queue_names_the_candidates_beyond_the_cap(capped: Engine) -> None:
    async with opened(capped) as screen:
        await screen.press("*", "x", "enter", "ctrl+l")
        assert "All clear" not in screen.text
        assert 'held back: . "queue more" queues them.' in screen.text


async def test_only_rows_of_open_clusters_are_decided_alone(twins: Engine) -> None:
    leaders = [one for one in twins.queue.ids(QueueQuery()) if twins.queue.members(one)]
    assert len(leaders) == 2
    async with opened(twins) as screen:
        first, second = (one for one in screen.model.ids if one in leaders)
        ahead = twins.queue.members(first)[0].id
        behind = twins.queue.members(second)[0].id
        screen.queue.list.move_to(present(screen.model.index_of([first])))
        await screen.settle()
        assert "a promote +1 alike  x reject +1 alike" in screen.text
        await screen.press("right")
        assert "a promote  x reject" in screen.text, "an open row is decided alone"
        screen.model.marks = {first, second}
        screen.queue.say_marked()
        assert "x reject 2 marked +1 alike" in screen.text
        await screen.press("x")
        assert status_of(twins, ahead) == "candidate", "its cluster is open"
        assert status_of(twins, behind) == "invalid", "its cluster is closed"


async def test_after_the_row_of_an_open_cluster_comes_the_one_behind_it(twins: Engine) -> None:
    async with opened(twins) as screen:
        leader = present(screen.model.current_id)
        (alike,) = twins.queue.members(leader)
        await screen.press("right", "x")
        assert (status_of(twins, leader), status_of(twins, alike.id)) == ("invalid", "candidate")
        assert screen.model.current_id == alike.id
        await screen.press("u", "left", "x")
        assert status_of(twins, alike.id) == "invalid"


async def test_closing_a_cluster_unmarks_its_rows_and_says_no_more_about_them(
    twins: Engine,
) -> None:
    async with opened(twins) as screen:
        await screen.press("right")
        assert screen.status == "Each of these rows is now decided by itself."
        await screen.press("left")
        assert "by itself" not in screen.status
        await screen.press("right", "j", "space")
        assert screen.status == "1 marked"
        await screen.press("k", "left")
        assert "marked" not in screen.status
        rows = len(screen.model.ids)
        await screen.press("right", "escape")
        assert len(screen.model.ids) == rows, "back closes it, too"


async def test_escape_closes_a_cluster_and_leaves_the_cursor_on_its_row(twins: Engine) -> None:
    async with opened(twins) as screen:
        await screen.press("right", "G")
        here = present(screen.model.current_id)
        await screen.press("escape")
        assert screen.model.current_id == here
        await screen.press("g", "right", "j", "escape")
        assert screen.model.current_id == screen.model.ids[0], "a row in it gives way to its first"


async def test_rewording_says_and_takes_what_goes_with_a_row_unless_it_is_open(
    twins: Engine,
) -> None:
    async with opened(twins) as screen:
        first, second = screen.model.ids[:2]
        behind = [twins.queue.members(each)[0].id for each in (first, second)]
        await screen.press("e", *"xyz")
        assert "ctrl+s promote +1 alike" in screen.text
        await screen.press("ctrl+s", "right", "e", *"xyz")
        assert "+1 alike" not in screen.text
        await screen.press("ctrl+s")
        assert [status_of(twins, each) for each in (first, second)] == ["active", "active"]
        assert [status_of(twins, each) for each in behind] == ["superseded", "candidate"]


async def test_a_question_about_many_rows_counts_those_that_go_with_them(
    twins: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer.tui.queue.screen.MANY_AT_ONCE", 1)
    async with opened(twins) as screen:
        await screen.press("*", "x")
        assert "Rejecting 2 rows at once, +2 alike" in screen.text
        await screen.press("escape", "s")
        assert "Deferring 2 rows at once ─" in screen.text


async def test_enter_keeps_a_filter_open_that_cannot_be_understood(screen: Screen) -> None:
    everything = list(screen.model.ids)
    await screen.press("slash", *"conf>x", "enter")
    field = screen.app.query_one(Input)
    assert screen.focused(Input) is field
    assert "conf" in screen.status
    await screen.press("escape")
    assert not field.has_focus
    assert field.value == ""
    assert list(screen.model.ids) == everything
    assert screen.queue.query_asked.filter == ""
    assert "conf>x" not in screen.text


async def test_leaving_the_field_otherwise_puts_the_filter_of_the_list_into_it(
    screen: Screen,
) -> None:
    await screen.press("slash", *"staging", "enter", "slash", *" conf>x")
    await screen.press("tab")
    field = screen.app.query_one(Input)
    assert field.value == screen.queue.query_asked.filter
    assert field.value.startswith("staging")
    assert not field.value.endswith("x"), "what means nothing is gone"


async def test_footer_and_help_say_how_many_are_marked(screen: Screen) -> None:
    await screen.press("space", "space", "space")
    assert "x reject 3 marked" in screen.text.splitlines()[-1]
    await screen.press("question_mark")
    assert "reject 3 marked" in screen.text
    await screen.press("escape", "escape")
    assert "marked" not in screen.text.splitlines()[-1]
    await screen.press("g", "space", "space", "x")
    assert "marked" not in screen.text.splitlines()[-1]


@pytest.mark.parametrize("width", [118, 60])
async def test_a_row_says_how_many_are_alike_and_each_of_them_has_its_own_words(
    twins: Engine, width: int
) -> None:
    async with opened(twins, size=(width, 30)) as screen:
        first = present(screen.model.row(0)).content[:20]
        assert f"▌   +1: {first}" in screen.text
        await screen.press("right")
        (alike,) = screen.model.leader_of
        assert f"▌   {first}" in screen.text, "it is decided by itself now"
        assert f"└ {twins.queue.candidate(alike).content[:20]}" in screen.text
        await screen.press("left")
        assert f"▌   +1: {first}" in screen.text


def merging(screen: Screen) -> str:
    """What the help says about merging."""
    return next(e.explanation for e in every_row(screen.top(KitScreen)) if e.action is MERGE)


async def test_a_merge_takes_the_marked_rows_and_the_menu_names_them(seeded: Engine) -> None:
    async with opened(seeded) as screen:
        _, second, third, fourth = screen.model.ids[:4]
        await screen.press("j", "space", "space", "g", "full_stop", *"merge")
        assert f"merge #{third} into #{second}" in screen.text, "the first marked, not this row"
        await screen.press("enter")
        kept = "which keeps its wording: e changes it"
        assert screen.status == f"Merged #{third} into #{second}, {kept} - u to undo"
        assert screen.model.current_id == second
        assert seeded.queue.candidate(third).superseded_by == second
        assert "→" in screen.text
        assert "✗" not in screen.text
        await screen.press("u", "g", "j", "space", "space", "space", "k")
        await screen.press("full_stop", *"merge")
        assert f"merge 2 rows into #{fourth}" in screen.text, "the cursor is on a marked row"
        await screen.press("enter")
        assert screen.status == f"Merged 2 candidates into #{fourth}, {kept} - u to undo"
        assert [status_of(seeded, each) for each in (second, third)] == ["superseded"] * 2
        await screen.press("u")
        assert [status_of(seeded, each) for each in (second, third)] == ["candidate"] * 2
        await screen.press("g", "space")
        assert "Mark at least two waiting rows" in merging(screen)


async def test_the_menu_says_which_of_two_rows_alike_goes_into_which(twins: Engine) -> None:
    async with opened(twins) as screen:
        leader = present(screen.model.current_id)
        alike = twins.queue.members(leader)[0].id
        words = f"merge #{alike} into #{leader}"
        assert "Mark the rows to merge" in merging(screen)
        await screen.press("right", "j", "full_stop", *"merge")
        assert words in screen.text
        await screen.press("enter")
        assert screen.status.startswith(f"Merged #{alike} into #{leader}")


async def test_the_number_of_rows_alike_follows_what_not_knowing_has_cost(twins: Engine) -> None:
    with planted(twins.path, "cost") as act:
        act.update("memory", twins.queue.ids(QueueQuery())[0], cost=3, sessions=4)
    async with opened(twins, size=(80, 24)) as screen:
        assert "▌   4 sessions, 3 wasted calls +1: " in screen.text
    async with opened(twins, size=(120, 40)) as screen:
        assert "▌   4 sessions, 3 calls +1: " in screen.text


async def test_a_draft_is_worded_on_and_never_promoted_around(
    stocked: Engine, screen: Screen
) -> None:
    first = screen.model.current_id
    await screen.press("e", *"xyz", "escape")
    await screen.until(lambda: "· draft kept" in screen.text)
    await screen.press("a")
    assert screen.status.startswith(f"#{first} has a draft: e opens it")
    assert status_of(stocked, present(first)) == "candidate"
    await screen.press("e", "ctrl+s")
    assert stocked.queue.candidate(present(first)).content.endswith("xyz")
    assert status_of(stocked, present(first)) == "active"


async def test_promoting_many_leaves_rows_with_drafts_out(stocked: Engine, screen: Screen) -> None:
    first, second, third = screen.model.ids[:3]
    await screen.press("e", *"xyz", "escape", "space", "space", "space", "a")
    assert screen.status == "Promoted 2 candidates, skipped 1 row with a draft - u to undo"
    assert [status_of(stocked, one) for one in (first, second, third)] == [
        "candidate", "active", "active",
    ]  # fmt: skip
    assert present(stocked.drafts.load(first)).endswith("xyz")


async def test_a_draft_is_discarded_by_its_key(stocked: Engine, screen: Screen) -> None:
    first = screen.model.current_id
    await screen.press("e", *"xyz", "escape")
    await screen.choose("discard draft")
    assert screen.status.startswith(f"Draft of #{first} discarded")
    assert stocked.drafts.load(present(first)) is None
    await screen.press("a")
    assert not stocked.queue.candidate(present(first)).content.endswith("xyz")


async def test_a_paste_too_large_to_save_is_kept_as_a_draft(
    stocked: Engine, screen: Screen
) -> None:
    first = screen.model.current_id
    await screen.press("e")
    screen.app.screen.query_one(EditorArea).insert("word " * 1_000)
    await screen.press("ctrl+s")
    assert "A memory has at most 4,000 characters" in screen.status
    await screen.press("escape")
    assert "word word" in present(stocked.drafts.load(present(first)))


async def test_the_screen_lives_while_another_program_writes(stocked: Engine) -> None:
    other = sqlite3.connect(stocked.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async with opened(stocked) as screen:
        first = screen.model.current_id
        await screen.pilot.press("a")
        await screen.until(lambda: screen.status.startswith("Waiting for another program"))
        await screen.pilot.press("j")
        assert screen.model.cursor == 1
        await screen.pilot.press("x")
        assert screen.status.endswith("Key ignored.")
        other.execute("ROLLBACK")
        await screen.until(lambda: screen.status == f"Promoted #{first} - u to undo")
        assert status_of(stocked, present(first)) == "active"
        assert screen.model.cursor == 1
        await screen.press("x")
        assert status_of(stocked, screen.model.ids[1]) == "invalid"
    other.close()


@pytest.mark.parametrize("index", [60, 150, 199])
async def test_the_row_of_last_time_is_among_its_neighbours(seeded: Engine, index: int) -> None:
    async with opened(seeded, size=(80, 24)) as screen:
        screen.queue.list.move_to(index)
        await screen.settle()
        await screen.app.action_quit()
    async with opened(seeded, size=(80, 24)) as screen:
        assert screen.model.cursor == index
        shown = screen.queue.list
        above = index - shown.scroll_offset.y
        last = len(screen.model.ids) - shown.height
        assert above == shown.height // 2 or shown.scroll_offset.y == last


async def test_only_a_row_that_cost_calls_has_a_column_for_them(stocked: Engine) -> None:
    first, second = stocked.queue.ids(QueueQuery())[:2]
    with planted(stocked.path) as act:
        act.update("memory", first, cost=14)
    async with opened(stocked, size=(80, 24)) as screen:
        shown = screen.text.splitlines()[1:3]
        words = [stocked.queue.candidate(each).content[:20] for each in (first, second)]
        assert f"14 wasted calls: {words[0]}" in shown[0]
        assert shown[1].lstrip().startswith(words[1])
        assert shown[1].index(words[1]) < 6


async def test_footer_tabs_and_help_can_be_clicked(stocked: Engine, screen: Screen) -> None:
    first = screen.model.current_id
    line = screen.text.splitlines()[-1]
    await screen.pilot.click("#footer", offset=(line.index("x reject"), 0))
    await screen.settle()
    assert status_of(stocked, present(first)) == "invalid"
    tabs = screen.text.splitlines()[0]
    await screen.pilot.click("#header", offset=(tabs.index("Packet") + 2, 0))
    await screen.settle()
    assert screen.app.screen is not screen.queue
    await screen.pilot.click("#header", offset=(tabs.index("Queue") + 2, 0))
    await screen.settle()
    assert screen.app.screen is screen.queue
    line = screen.text.splitlines()[-1]
    await screen.pilot.click("#footer", offset=(line.index("? help"), 0))
    await screen.settle()
    assert "What you can do here" in screen.text


async def test_a_row_decided_with_the_ones_alike_counts_once(twins: Engine) -> None:
    async with opened(twins) as screen:
        waiting = len(screen.model.ids)
        while not present(screen.model.current).members:
            await screen.press("j")
        await screen.press("a")
        assert f"of {waiting:,}, {waiting - 1:,} waiting" in screen.text
