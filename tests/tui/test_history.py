"""The ledger on the screen: acts, their changes, and undoing them from there."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.promotion.decisions.history import ActView, ChangeView
from reviewer.promotion.views import QueueQuery
from reviewer.tui.history.screen import HistoryScreen, act_blocks, act_parts
from reviewer.tui.kit.text import lay_out
from reviewer.tui.theme import DARK, GLYPHS, palette_of
from tests.present import present
from tests.tui.conftest import Screen, opened


def act(**fields: object) -> ActView:
    known: dict[str, object] = {
        "id": 12, "at": "2026-02-14T10:22:00.000Z", "actor": "you", "scope": "decision",
        "kind": "reject", "title": "Rejected #3", "rows": 1, "target": None,
        "undone": False,
    }  # fmt: skip
    return ActView(**{**known, **fields})  # type: ignore[arg-type]


def row(width: int, **fields: object) -> str:
    parts = act_parts(act(**fields), "", width, palette_of(DARK).on_row(here=False), GLYPHS)
    assert sum(len(text) for text, _ in parts) <= width
    return "".join(text for text, _ in parts)


def history(screen: Screen) -> HistoryScreen:
    return screen.top(HistoryScreen)


# as text


def test_a_row_has_id_time_actor_and_title_as_far_as_there_is_room() -> None:
    assert "    12 02-14" in row(80)
    assert "you" in row(100)
    assert "you" not in row(80)
    assert "02-14" not in row(40)
    for width in (100, 60, 40):
        assert "Rejected #3" in row(width)


def test_a_change_is_shown_field_by_field() -> None:
    change = ChangeView(
        "memory", 3, {"status": "candidate", "decided_at": None, "seen": 1},
        {"status": "active", "decided_at": "2026-02-14T10:22:00.000Z", "seen": 1}, "Use X",
    )  # fmt: skip
    shown = [line.text.rstrip() for line in lay_out(act_blocks(act(), [change], [], GLYPHS), 60)]
    assert " memory #3 changed  Use X" in shown
    assert "   status          waiting -> promoted" in shown
    assert not any("decided" in line for line in shown)
    assert not any("seen" in line for line in shown)


# on the screen


@pytest.fixture
def rejected(stocked: Engine) -> int:
    """The row that was rejected last."""
    number = stocked.queue.ids(QueueQuery())[0]
    stocked.triage.reject([number])
    return number


async def test_the_newest_act_comes_first_with_its_changes(stocked: Engine, rejected: int) -> None:
    async with opened(stocked, on="f8") as screen:
        first = present(history(screen).acts.current)
        assert first.title == f"Rejected #{rejected}"
        assert history(screen).words[first.id] == stocked.queue.candidate(rejected).content
        await screen.until(lambda: "waiting -> rejected" in screen.text)


async def test_u_takes_the_last_decision_back_and_z_does_it_again(
    stocked: Engine, rejected: int, screen: Screen
) -> None:
    await screen.press("f8", "u")
    await screen.press("u")
    assert stocked.queue.candidate(rejected).status == "candidate"
    assert screen.status == f"Undone: Rejected #{rejected} - Z to redo"
    assert "✗ undone" in screen.text
    assert "Undid" not in screen.text
    assert "undone 2026-03-02" in screen.text
    await screen.press("Z")
    assert stocked.queue.candidate(rejected).status == "invalid"
    assert screen.status == f"Redone: Rejected #{rejected} - u to undo"
    assert "✗ undone" not in screen.text
    assert screen.text.count(f"Rejected #{rejected}") == 3, "in the list, beside it, in the status"
    assert "redone 2026-03-02" in screen.text
    await screen.press("u", "u")
    assert "undo" in screen.status.lower()


async def test_x_takes_back_the_act_under_the_cursor_and_only_that(stocked: Engine) -> None:
    one, two = stocked.queue.ids(QueueQuery())[:2]
    stocked.triage.reject([one])
    stocked.triage.promote([two])
    async with opened(stocked) as screen:
        await screen.press("f8", "j", "x")
        assert stocked.queue.candidate(one).status == "candidate"
        assert stocked.queue.candidate(two).status == "active"
        chosen = present(history(screen).acts.current)
        assert chosen.title == f"Rejected #{one}"
        assert chosen.undone


async def test_the_cursor_comes_back_to_its_act(stocked: Engine) -> None:
    numbers = stocked.queue.ids(QueueQuery())[:4]
    acts = [stocked.triage.reject([each]).act for each in numbers]
    async with opened(stocked) as screen:
        await screen.press("f8", "j", "j")
        assert history(screen).acts.current_id == acts[1]
        await screen.press("f7")
        stocked.triage.restore(numbers[3:])
        await screen.press("f8")
        assert history(screen).acts.current_id == acts[1]
        await screen.press("slash", *f"#{numbers[2]}", "enter")
        assert history(screen).acts.current_id == acts[2]
        await screen.press("f7", "f8")
        assert history(screen).acts.current_id == acts[2]
        await screen.press("escape")
        assert history(screen).acts.current_id == acts[2]


@pytest.mark.usefixtures("rejected")
async def test_the_key_of_undo_is_not_offered_for_an_undone_act(stocked: Engine) -> None:
    async with opened(stocked, on="f8") as screen:
        assert "x undoes this act" in screen.text
        await screen.press("x")
        assert "x undoes this act" not in screen.text
        await screen.press("Z")
        assert "x undoes this act" in screen.text


async def test_an_act_that_a_later_one_builds_on_names_the_one_to_undo_first(
    stocked: Engine, rejected: int
) -> None:
    later = stocked.triage.restore([rejected])
    async with opened(stocked, size=(140, 40)) as screen:
        await screen.press("f8")
        assert "x undoes this act" in screen.text
        await screen.press("j")
        assert "x undoes this act" not in screen.text
        await screen.press("x")
        assert screen.status == (
            f'"Rejected #{rejected}" cannot be reversed: #{rejected} has changed since. Nothing was'
            f' changed. Undo first: act {later.act} ("{later.title}")'
        )


async def test_the_decision_of_another_person_is_undone_after_a_question(
    stocked: Engine, rejected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(stocked.history), "decided_by_another", lambda *_: "ana")
    async with opened(stocked) as screen:
        await screen.press("f8", "x")
        assert "is a decision of ana" in screen.text
        await screen.press("n", "enter")
        assert stocked.queue.candidate(rejected).status == "invalid"
        await screen.press("x", "y", "enter")
        assert stocked.queue.candidate(rejected).status == "candidate"


async def test_a_filter_finds_acts_by_the_day_and_the_name_that_they_show(stocked: Engine) -> None:
    one, two = stocked.queue.ids(QueueQuery())[:2]
    stocked.triage.reject([one])
    other = Engine.open(stocked.path, actor="anna", clock=stocked.clock)
    act = other.triage.reject([two]).act
    other.close()
    async with opened(stocked, on="f8") as screen:
        acts = list(history(screen).acts.ids)
        await screen.press("slash")
        assert "who did it" in screen.text
        await screen.press(*"03-02", "enter")
        assert list(history(screen).acts.ids) == acts
        await screen.press("slash", "space", *"by", "space", *"Anna", "enter")
        assert list(history(screen).acts.ids) == [act]


async def test_a_filter_finds_acts_by_the_words_of_their_titles(stocked: Engine) -> None:
    one, two = stocked.queue.ids(QueueQuery())[:2]
    stocked.triage.reject([one])
    stocked.triage.promote([two])
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("f8", "slash", *"REJ", "enter")
        assert f"Rejected #{one}" in screen.text
        assert "Promoted" not in screen.text
        await screen.press("x")
        assert stocked.queue.candidate(one).status == "candidate"
        await screen.press("slash", *"uux", "enter")
        assert "Nothing matches / REJuux" in screen.text
        await screen.press("escape")
        assert f"Promoted #{two}" in screen.text


async def test_an_edit_is_told_in_the_words_of_a_person(stocked: Engine) -> None:
    number = stocked.queue.ids(QueueQuery())[0]
    stocked.triage.edit(number, "Receipts are printed on demand", promote=False)
    async with opened(stocked, on="f8") as screen:
        shown = " ".join(screen.text.split())
        assert f"memory #{number} changed Receipts are printed on demand" in shown
        assert "words" in shown
        assert "edited no -> yes" in shown
        assert "history #" not in shown
        assert "_" not in shown


async def test_a_priority_names_its_turn_and_session(engine: Engine) -> None:
    talk = engine.contexts.create("acme", "harbour").id
    turn = engine.contexts.add(talk, role="user", text="The ferry waits.")
    engine.contexts.annotate(turn.row.id, priority="pinned")
    async with opened(engine, project="acme", on="f8") as screen:
        await screen.until(lambda: "pinned “The ferry waits.” in harbour" in screen.flowing)


async def test_an_act_about_a_turn_shows_no_memory_although_the_turn_quotes_a_number(
    stocked: Engine, rejected: int
) -> None:
    talk = stocked.contexts.create("acme", "harbour").id
    turn = stocked.contexts.add(talk, role="user", text=f"Fix #{rejected} today.")
    act = stocked.contexts.annotate(turn.row.id, priority="pinned").act
    async with opened(stocked, on="f8") as screen:
        newest = present(history(screen).acts.current)
        assert (newest.id, newest.title) == (act, f"Pinned “Fix #{rejected} today.”")
        assert act not in history(screen).words


async def test_an_empty_ledger_says_what_to_do(engine: Engine) -> None:
    async with opened(engine) as screen:
        await screen.press("f8", "j", "G", "x", "u", "Z", "tab")
        assert "No acts yet." in screen.text
        assert "Reading sessions that bring proposals is one" in screen.text


async def test_the_list_has_one_act_for_an_ingestion_and_days_have_names(
    stocked: Engine,
) -> None:
    async with opened(stocked, on="f8") as screen:
        assert "Ingested 1 file" in screen.text
        assert "Started reading" not in screen.text
        assert "records of 1 file" not in screen.text
        await screen.press("/", *"today", "enter")
        assert "Ingested 1 file" in screen.text
        await screen.press("/", "ctrl+u", *"yesterday", "enter")
        assert "Nothing matches / yesterday" in screen.text
        await screen.press("/", "ctrl+u", *"by:me", "enter")
        assert "The only field is since:" in screen.text
        await screen.press("/", "ctrl+u", *"ingested since:2026-03", "enter")
        assert "Ingested 1 file" in screen.text
        await screen.press("/", "ctrl+u", *"since:2026-03-03", "enter")
        assert "Nothing matches / since:2026-03-03" in screen.text
        await screen.press("/", "ctrl+u", *"since:soon")
        assert screen.status.startswith("since: takes a date such as 2026-03-01")


async def test_a_reading_that_brought_nothing_is_no_act(stocked: Engine, notes: Path) -> None:
    stocked.intake.ingest([notes], project="acme")
    async with opened(stocked) as screen:
        await screen.press("f8")
        assert "Ingested 1 file" in screen.text
        assert "Ingested 0 files" not in screen.text


async def test_the_queue_has_the_rows_again_that_an_undo_here_put_back(stocked: Engine) -> None:
    rows = list(stocked.queue.ids(QueueQuery()))
    act = stocked.triage.reject(rows[:1]).act
    async with opened(stocked) as screen:
        assert screen.queue.list.total == len(rows) - 1
        await screen.press("f8", "x")
        assert stocked.history.is_undone(act)
        await screen.press("f2")
        assert list(screen.queue.model.ids) == rows
        assert f"Queue {len(rows)}" in screen.text


async def test_the_newest_act_is_at_the_cursor_again_whichever_it_is(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("a", "f8")
        await screen.pilot.press("ctrl+q")
    stocked.state.set("acme", "region", "north")
    async with opened(stocked, project="acme") as screen:
        assert screen.top(HistoryScreen).acts.cursor == 0
        await screen.press("j")
        here = screen.top(HistoryScreen).acts.current_id
        await screen.pilot.press("ctrl+q")
    stocked.state.set("acme", "region", "south")
    async with opened(stocked, project="acme") as screen:
        assert screen.top(HistoryScreen).acts.current_id == here
