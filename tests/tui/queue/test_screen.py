"""Clearing a queue with the keyboard: every decision, and the cursor afterwards."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.promotion.views import QueueQuery
from reviewer.tui.memory.screen import MemoryScreen
from tests.present import present
from tests.tui.conftest import NOW, SET_A_VALUE, Screen, opened, status_of


@pytest.mark.parametrize(
    ("key", "status", "verb"),
    [("a", "active", "Promoted"), ("x", "invalid", "Rejected"), ("s", "candidate", "Deferred")],
)
async def test_one_key_decides_and_the_cursor_goes_to_the_next(
    stocked: Engine, key: str, status: str, verb: str, screen: Screen
) -> None:
    first, second = screen.model.ids[:2]
    await screen.press(key)
    assert status_of(stocked, first) == status
    assert screen.status == f"{verb} #{first} - u to undo"
    assert screen.model.current_id == second
    assert screen.model.ids[0] == first, "the decided row stays"
    assert screen.model.is_dimmed(0)


@pytest.mark.parametrize(
    ("case", "keys", "cursor"),
    [
        ("down", ("a",), 1),
        ("twice", ("a", "x"), 2),
        ("over a decided row", ("j", "a", "k", "k", "x"), 2),
        ("up at the end", ("G", "a"), -2),
        ("undo goes back", ("a", "x", "u"), 1),
        ("undo twice", ("a", "x", "u", "u"), 0),
        ("undo from afar", ("a", "G", "u"), 0),
        ("redo goes on", ("a", "u", "Z"), 1),
        ("bulk goes on below", ("space", "space", "a"), 2),
        ("undo of bulk: the first", ("j", "space", "space", "a", "G", "u"), 1),
        ("filtered: down", ("a",), 1),
        ("filtered: undo goes back", ("a", "x", "u"), 1),
        ("undo of a rejection with its reason", ("j", "w", "enter", "G", "u"), 1),
        ("filtered: undo of a rejection with its reason", ("j", "w", "enter", "u"), 1),
        ("filtered: bulk goes on below", ("space", "space", "a"), 2),
    ],
)
async def test_where_the_cursor_is(
    case: str, keys: tuple[str, ...], cursor: int, screen: Screen
) -> None:
    if "filtered" in case:
        await screen.press("slash", *"conf>0.1", "enter")
        assert screen.queue.query_asked.filter == "conf>0.1"
    expected = cursor if cursor >= 0 else len(screen.model.ids) + cursor
    await screen.press(*keys)
    assert screen.model.cursor == expected, case


async def test_bulk_is_one_act_with_its_count(stocked: Engine, screen: Screen) -> None:
    ids = list(screen.model.ids[:3])
    acts = len(stocked.history.acts(limit=10_000))
    await screen.press("space", "space", "space", "x")
    assert screen.status == "Rejected 3 candidates - u to undo"
    assert len(stocked.history.acts(limit=10_000)) == acts + 1
    await screen.press("u")
    assert [status_of(stocked, number) for number in ids] == ["candidate"] * 3
    assert screen.status == "Undone: Rejected 3 candidates - Z to redo"


async def test_a_decided_row_says_why_it_cannot_be_decided_again(
    stocked: Engine, screen: Screen
) -> None:
    first = screen.model.ids[0]
    acts = len(stocked.history.acts(limit=10_000))
    await screen.press("a", "k", "a")
    assert screen.status.startswith(f"#{first} is already decided")
    assert len(stocked.history.acts(limit=10_000)) == acts + 1


@pytest.mark.parametrize("keys", ["sxaxg", "sxax", "jsxaxkkk"])
async def test_refresh_does_not_follow_a_deferred_row(keys: str, screen: Screen) -> None:
    waits = list(screen.model.ids)[5 if keys[0] == "j" else 4]
    await screen.press(*keys, "ctrl+l")
    assert screen.model.current_id == waits
    assert len(screen.model.ids) == screen.queue.engine.queue.counts(None).waiting


async def test_undoing_many_goes_to_the_first_row_that_came_back(seeded: Engine) -> None:
    async with opened(seeded) as screen:
        middle = screen.model.ids[20:39]
        screen.queue.list.move_to(20)
        await screen.press(*["space"] * 19)
        await screen.press("x", "ctrl+l", "g", "u")
        assert screen.model.current_id == middle[0]
        assert screen.model.cursor == 20


async def test_a_decision_on_more_than_twenty_rows_says_the_number_and_asks_once(
    seeded: Engine,
) -> None:
    async with opened(seeded) as screen:
        rows = len(screen.model.ids)
        acts = len(seeded.history.acts(limit=10_000))
        await screen.press("*", "x")
        assert f"Yes, all {rows:,}" in screen.text
        await screen.press("escape")
        assert len(seeded.history.acts(limit=10_000)) == acts
        await screen.press("x", "enter")
        assert len(seeded.history.acts(limit=10_000)) == acts + 1
        assert screen.status == f"Rejected {rows:,} candidates - u to undo"


async def test_a_message_leaves_after_a_while(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer.tui.kit.bars.SAID_SECONDS", 0.05)
    async with opened(stocked) as screen:
        await screen.press("a")
        await screen.until(lambda: not screen.status)


async def test_rows_set_aside_do_not_wait(screen: Screen) -> None:
    waiting = len(screen.model.ids)
    await screen.press("s", "ctrl+l")
    assert len(screen.model.ids) == waiting - 1
    assert f"F2 Queue {waiting - 1}" in screen.text
    assert " · 1 deferred (under .)" in screen.text
    for filter_, found in (("conf>0", waiting - 1), ("is:deferred", 1)):
        await screen.press("slash", *filter_, "enter")
        assert len(screen.model.ids) == found
        await screen.press("escape")
    await screen.choose("other rows", "deferred")
    await screen.choose("put back")
    assert f"F2 Queue {waiting}" in screen.text


@pytest.mark.parametrize(
    "keys", [(), ("slash", *"conf>0", "enter"), ("slash", *"conf>0", "enter", "G"), ("f5", "j")]
)
async def test_the_menu_names_its_keys_and_leaves_its_row_in_sight(
    stocked: Engine, keys: tuple[str, ...]
) -> None:
    stocked.triage.promote(list(stocked.queue.ids(QueueQuery()))[:3])
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press(*keys)
        row = next(line for line in screen.text.splitlines() if line.startswith("▌"))
        await screen.press("full_stop")
        assert "type what you want to do" in screen.text
        assert row[1:] in screen.text
        await screen.press(*"history")
        assert "F8         History" in screen.text


async def test_undo_typed_fast_names_what_was_done_elsewhere_once(stocked: Engine) -> None:
    first, *others = stocked.queue.ids(QueueQuery())[:4]
    for each in (first, *others):
        stocked.triage.reject([each])
    async with opened(stocked) as screen:
        await screen.press(*"uuuu")
        assert [status_of(stocked, each) for each in others] == ["candidate"] * 3
        assert status_of(stocked, first) == "invalid", "the first key only named it"
        await screen.press("f4", "f2", "u")
        assert status_of(stocked, first) == "invalid", "it is named again after a while elsewhere"


async def test_a_text_being_edited_stays_with_its_project_as_a_draft(
    stocked: Engine, notes: Path
) -> None:
    stocked.intake.ingest([notes], project="other")
    async with opened(stocked, project="acme") as screen:
        number = present(screen.model.current_id)
        wording = stocked.queue.candidate(number).content
        await screen.press("e", "!", "f8", "p", *"other", "enter", "f2")
        assert screen.queue.editing is None
        assert stocked.drafts.load(number) == wording + "!"
        await screen.press("p", *"acme", "enter")
        await screen.press("e")
        assert screen.status == f"Edit #{number}: this is your draft; empty it to discard it."
        await screen.press("f8", "f2", "escape")
        assert screen.status == f"Edit #{number}: the draft is kept; e continues it."


async def test_the_queue_is_as_it_was_left_after_the_start_screen(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("x", "j", "space")
        before = (list(screen.model.ids), screen.model.cursor, screen.model.marks)
        await screen.choose("start screen")
        await screen.press("escape")
        assert (list(screen.model.ids), screen.model.cursor, screen.model.marks) == before
        await screen.press("u")
        assert screen.status.startswith("Undone: Rejected")


@pytest.mark.parametrize("key", ["pagedown", "pageup"])
async def test_a_question_without_room_for_its_lines_can_be_paged(
    stocked: Engine, key: str
) -> None:
    async with opened(stocked, size=(60, 4)) as screen:
        await screen.press("full_stop", key, "escape")
        assert screen.queue.is_active


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("is:foo", "deferred, edited, unused, retired or disputed"),
        ("type:xq", "preference, project"),
    ],
)
async def test_a_filter_for_an_unknown_value_names_the_values(
    typed: str, values: str, screen: Screen
) -> None:
    everything = len(screen.model.ids)
    await screen.press("slash", *typed)
    assert values in " ".join(screen.status.split())
    assert len(screen.model.ids) == everything


async def test_the_filter_answers_while_it_is_typed_and_escape_clears_it(screen: Screen) -> None:
    everything = len(screen.model.ids)
    word = max(present(screen.model.current).content.split(), key=len)
    await screen.press("slash", *word.lower())
    assert 0 < len(screen.model.ids) < everything
    assert word in present(screen.model.current).content
    await screen.press("escape")
    assert len(screen.model.ids) == everything


async def test_the_fields_of_a_filter_stand_in_the_field_until_it_is_typed(stocked: Engine) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("slash")
        assert "by:me  words  -word" in screen.text
        await screen.press(*"conf>0", "enter", "slash", *" tpye:x")
        assert '"tpye"' in screen.status
        await screen.press("escape")
        assert screen.status == ""


async def test_a_filter_without_matches_says_how_to_continue(screen: Screen) -> None:
    await screen.press("slash", *"zzzz", "enter")
    assert "Nothing matches / zzzz" in screen.text
    assert 'esc clears the filter. Decided ones: . "other rows"' in screen.text


async def test_an_edit_is_promoted_with_its_wording(stocked: Engine, screen: Screen) -> None:
    first, second = screen.model.ids[:2]
    await screen.press("e", "space", *"indeed")
    assert "Against the original" in screen.text
    await screen.press("ctrl+s")
    found = stocked.queue.candidate(first)
    assert found.content.endswith(" indeed")
    assert found.status == "active"
    assert screen.model.current_id == second
    assert stocked.drafts.load(first) is None


async def test_the_list_stays_while_a_row_is_edited(screen: Screen) -> None:
    await screen.press("e", "tab", "j", "a")
    assert screen.model.cursor == 0
    assert screen.status.startswith("Finish this first: ctrl+s saves it")


async def test_the_place_is_remembered_beyond_the_first_page(
    seeded: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reviewer.tui.queue import screen as queue_screen

    monkeypatch.setattr(queue_screen, "FIRST_PAGE", 20)
    async with opened(seeded) as screen:
        await screen.press("G")
        left_at = screen.model.current_id
        await screen.pilot.press("ctrl+q")
    async with opened(seeded) as screen:
        assert len(screen.model.ids) > 20
        assert screen.model.current_id == left_at


async def test_the_last_screen_and_each_filter_and_row_are_there_again(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("slash", *"-zebra", "enter", "a", "a", "j")
        waiting = screen.model.current_id
        await screen.press("f5", "slash", *"-zebra", "enter", "j")
        promoted = screen.top(MemoryScreen).facts.current_id
        await screen.pilot.press("ctrl+q")
    async with opened(stocked, project="acme") as screen:
        assert screen.top(MemoryScreen).facts.cursor == 1
        assert screen.top(MemoryScreen).facts.current_id == promoted
        assert "\n / -zebra" in screen.text
        await screen.press("f2")
        assert screen.queue.query_asked.filter == "-zebra"
        assert screen.model.current_id == waiting
        await screen.press("escape")
        assert screen.model.current_id == waiting
        await screen.pilot.press("ctrl+q")
    async with opened(stocked, project="acme") as screen:
        assert screen.queue.is_active
        assert not screen.queue.filter_text


@pytest.mark.parametrize("keys", [("ctrl+l",), ("slash", "c", "a", "escape")])
async def test_a_row_far_down_keeps_the_cursor(
    seeded: Engine, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]
) -> None:
    from reviewer.tui.queue import screen as queue_screen

    monkeypatch.setattr(queue_screen, "FIRST_PAGE", 20)
    async with opened(seeded) as screen:
        await screen.press("G", "k")
        here, rows = screen.model.current_id, len(screen.model.ids)
        await screen.press(*keys)
        assert screen.model.current_id == here
        assert len(screen.model.ids) == rows


async def test_a_damaged_place_file_is_ignored(stocked: Engine) -> None:
    Path(f"{stocked.path}.places.json").write_text("{", "utf-8")
    async with opened(stocked) as screen:
        assert screen.model.cursor == 0


async def test_others_writes_are_noticed_without_losing_the_cursor(
    stocked: Engine, tmp_path: Path
) -> None:
    other = Engine.open(stocked.path, actor="somebody else", clock=lambda: NOW)
    more = tmp_path / "more.md"
    more.write_text("# Decisions\n\nWe decided to keep audit logs for ten years.\n", "utf-8")
    async with opened(stocked) as screen:
        await screen.press("j")
        here, above = screen.model.current_id, screen.model.ids[0]
        other.triage.reject([above])
        other.intake.ingest([more], project="acme")
        screen.queue.watch_store()
        await screen.until(lambda: "ctrl+l to show" in screen.status)
        assert screen.status == "1 new candidate - ctrl+l to show"
        assert screen.model.current_id == here
        assert screen.model.is_dimmed(0)
        before = len(screen.model.ids)
        await screen.press("ctrl+l")
        assert screen.model.current_id == here
        assert len(screen.model.ids) == before  # one came, one left
    other.close()


async def test_a_conflict_with_another_writer_is_a_sentence(stocked: Engine) -> None:
    other = Engine.open(stocked.path, actor="somebody else", clock=lambda: NOW)
    async with opened(stocked) as screen:
        first = screen.model.current_id
        other.triage.promote([present(first)])
        await screen.press("x")
        assert "already" in screen.status
        await screen.until(lambda: "promoted a moment ago by somebody else" in screen.text)
        assert status_of(stocked, present(first)) == "active"
    other.close()


async def test_undo_says_that_the_latest_decision_is_somebody_elses(stocked: Engine) -> None:
    other = Engine.open(stocked.path, actor="anna", clock=lambda: NOW)
    async with opened(stocked) as screen:
        other.triage.promote([present(screen.model.current_id)])
        await screen.press("u")
        said = "You have nothing to undo: anna made the latest decision."
        assert screen.status == said
    other.close()


async def test_other_rows(stocked: Engine, screen: Screen) -> None:
    first = screen.model.ids[0]
    await screen.press("a")
    await screen.choose("other rows", "promoted")
    assert list(screen.model.ids) == [first]
    assert "─ Promoted" in screen.text
    await screen.choose("put back")
    assert status_of(stocked, first) == "candidate"


async def test_a_project_has_its_own_filter_and_row_again(stocked: Engine, notes: Path) -> None:
    stocked.intake.ingest([notes], project="other")
    async with opened(stocked, project="acme") as screen:
        await screen.press("slash", *"-zebra", "enter", "j")
        here = screen.model.current_id
        await screen.press("p", *"other", "enter")
        assert screen.queue.filter_text == ""
        await screen.press("p", *"acme", "enter")
        assert (screen.queue.filter_text, screen.model.current_id) == ("-zebra", here)
        assert "\n / -zebra" in screen.text


async def test_marks_outlast_a_look_at_another_screen(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("space", "space", "f8")
        stocked.state.set("acme", "region", "north")
        await screen.press("f2")
        assert len(screen.model.marks) == 2


async def test_rows_that_wait_are_not_put_back(screen: Screen) -> None:
    for marks in ((), ("space", "space")):
        await screen.press(*marks, "full_stop")
        assert "other rows" in screen.text
        assert "put back" not in screen.text
        await screen.press("escape")
    await screen.press("escape", "a", "k", "full_stop")
    assert "put back" in screen.text


async def test_copy_puts_the_wording_on_the_clipboard(screen: Screen) -> None:
    await screen.press("y")
    assert screen.app.clipboard == present(screen.model.current).content


async def test_help_gives_the_reason_and_runs_the_other_actions(
    stocked: Engine, screen: Screen
) -> None:
    first = screen.model.current_id
    await screen.press("question_mark")
    assert "There is nothing to undo." in screen.text
    await screen.press("enter")
    assert status_of(stocked, present(first)) == "active"


async def test_escape_goes_back_from_other_rows_to_those_that_wait(screen: Screen) -> None:
    waiting = len(screen.model.ids)
    await screen.press("s")
    await screen.choose("other rows", "deferred")
    assert len(screen.model.ids) == 1
    await screen.press("escape")
    assert len(screen.model.ids) == waiting - 1
    await screen.press("escape")
    assert screen.status.startswith("ctrl+q quits")


async def test_ctrl_c_leaves_a_question(screen: Screen) -> None:
    await screen.press("p", "x", "ctrl+c")
    assert screen.queue.is_active
    assert "quits" not in screen.status


async def test_as_long_as_nothing_is_decided_the_queue_says_what_it_is_for(
    stocked: Engine,
) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        asks = "What may agents remember? a keeps, x rejects, enter shows where it was said."
        await screen.until(lambda: screen.status == asks)
        await screen.press("a")
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.settle()
        assert screen.status == ""


async def test_that_a_folder_was_bound_is_said_in_the_status_line(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = ["/src/acme is bound to project acme from now on."]
    monkeypatch.setattr(
        type(stocked), "say_binding", lambda _: sentences.pop() if sentences else ""
    )
    async with opened(stocked) as screen:
        await screen.press("a")
        assert screen.status.endswith(
            "- u to undo. /src/acme is bound to project acme from now on."
        )
        await screen.press("a")
        assert screen.status.endswith("- u to undo")


SCREEN_KEYS = ("f3", "f4", "f5", "f6", "f7", "f8")


async def test_what_another_screen_did_is_named_before_it_is_taken_back(stocked: Engine) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        for key in SCREEN_KEYS:
            first, rows = present(screen.model.current), len(screen.model.ids)
            await screen.press("x", "ctrl+l", key, "escape", "u")
            named = f"Done earlier or elsewhere: Rejected #{first.id} - u again to undo it"
            assert screen.status == named, key
            await screen.press("u")
            assert screen.status == f"Undone: Rejected #{first.id} - Z to redo"
            assert f"F2 Queue {rows}" in screen.text
            await screen.press("f2", "ctrl+l")
            assert first.id in screen.model.ids


async def test_what_cannot_be_taken_back_is_said_once_and_is_not_in_the_way(
    stocked: Engine,
) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press("a", "a")
        first, second = screen.model.ids[:2]
        stocked.forgetting.erase(stocked.forgetting.memories([second]))
        await screen.press("u")
        assert "cannot be undone" in screen.status
        await screen.press("u")
        assert screen.status.startswith(f"Undone: Promoted #{first} ")


async def test_u_takes_back_what_was_done_last_and_names_it_first_if_done_elsewhere(
    stocked: Engine,
) -> None:
    async with opened(stocked, size=(80, 24)) as screen:
        await screen.press(
            "a", "f5", *SET_A_VALUE, *"region", "enter", *"north", "ctrl+s", "f2", "x", "f5"
        )
        await screen.press("u")
        assert screen.status.startswith("Done earlier or elsewhere: Rejected ")
        await screen.press("f2", "u")
        assert screen.status.startswith("Undone: Rejected ")
        await screen.press("f5", "u")
        assert screen.status.startswith("Undone: ")
        assert not stocked.state.all(None)
        await screen.press("f2", "u")
        assert [stocked.queue.counts(None).rejected, stocked.queue.counts(None).promoted] == [0, 0]


@pytest.mark.parametrize("key", ["escape", "q", "ctrl+c"])
async def test_keys_of_other_programs_say_how_to_quit_on_every_screen(
    key: str, screen: Screen
) -> None:
    for tab in ("f2", *SCREEN_KEYS[1:]):
        await screen.press("space", "escape", tab, key)
        shown = screen.app.screen
        await screen.press(key)
        assert screen.app.screen is shown
        assert screen.status == "ctrl+q quits; your place and drafts are kept.", tab


async def test_ctrl_z_goes_to_the_shell(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    await screen.press("ctrl+z")
    assert screen.status == "There is no shell to go to here."
    monkeypatch.setattr(type(screen.app._driver), "can_suspend", True)
    stopped: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *call: stopped.append(call))
    await screen.press("ctrl+z")
    assert stopped == [(os.getpid(), signal.SIGTSTP)]


async def test_the_number_that_waits_is_the_same_on_every_screen(screen: Screen) -> None:
    rows = len(screen.model.ids)
    await screen.press("a", "f8", "x", "f4")
    assert f"F2 Queue {rows}" in screen.text


async def test_a_filter_that_finds_nothing_ends_the_zoom_of_a_pane(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("tab", "+", "/", *"zzzz", "enter")
        assert "Nothing matches / zzzz" in screen.text
        assert "esc clears the filter." in screen.text
