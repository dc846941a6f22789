"""The Commits screen by its keys: priorities, marks, undo, the cursor, the filter, contexts."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from reviewer.engine import Engine
from reviewer.tui.commits_model import CommitsModel
from reviewer.tui.screens.commits import CommitsScreen
from reviewer.tui.screens.compress import CompressScreen
from reviewer.tui.screens.queue import QueueScreen
from reviewer.tui.screens.source import SourceScreen
from tests.tui.commits.driving import TURNS, at, chain, commits, priorities, said, written
from tests.tui.conftest import NOW, opened
from tests.tui.views import HOSTILE

# decisions, the cursor, undo


DECISIONS = [
    # keys, priorities afterwards, cursor afterwards, what is said
    ("one key, the cursor stays", ["j", "p"], "ppnnnn", 1, "Pinned"),
    ("important", ["j", "i"], "pinnnn", 1, "important"),
    ("skip", ["j", "j", "S"], "pnsnnn", 2, "Skipped"),
    ("back to normal", ["n"], "nnnnnn", 0, "normal"),
    ("the same again changes nothing", ["j", "p", "p"], "ppnnnn", 1, "is pinned already."),
    ("space goes down, a key takes all", ["j", "space", "space", "p"], "pppnnn", 3,
     "Pinned 2 commits - u to undo"),
    ("a range upwards", ["G", "v", "k", "k", "i"], "pnniii", 3, "Marked 3 commits important"),
    ("a kept range and a mark", ["v", "j", "v", "j", "j", "space", "S"], "ssnsnn", 4,
     "Skipped 3 commits - u to undo"),
    ("all", ["*", "n"], "nnnnnn", 0, "Made 6 commits normal - u to undo"),
    ("marks are cleared by a decision", ["*", "i", "j", "p"], "ipiiii", 1, "Pinned"),
    ("escape clears the marks", ["*", "escape", "j", "p"], "ppnnnn", 1, "Pinned"),
    ("undo puts the cursor back", ["j", "p", "G", "u"], "pnnnnn", 1, "Undone: Pinned"),
    ("undo takes a bulk back at once", ["*", "S", "G", "u"], "pnnnnn", 0,
     "Undone: Skipped 6 commits - Z to redo"),
    ("redo", ["j", "p", "u", "G", "Z"], "ppnnnn", 1, "Redone: Pinned"),
    ("two undos", ["j", "p", "j", "i", "u", "u"], "pnnnnn", 1, "Undone: Pinned"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "letters", "position", "words"),
    [each[1:] for each in DECISIONS],
    ids=[each[0] for each in DECISIONS],
)
async def test_a_decision(
    fair: Engine, keys: list[str], letters: str, position: int, words: str
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", *keys)
        assert priorities(fair) == letters
        assert at(screen) == position
        assert words in said(screen)
        assert not commits(screen).model.count_marked()


async def test_a_bulk_is_one_act(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        before = fair.history.acts_total()
        await screen.press("f3", "*", "p")
        assert fair.history.acts_total() == before + 1
        assert fair.history.can_undo() == "Pinned 6 commits"


async def test_the_footer_says_how_many_a_key_takes(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "*")
        assert "p pin 6  i important 6  n normal 6" in screen.text
        await screen.press("escape")
        assert "p pin  i important" in screen.text


async def test_undo_of_what_another_session_did_finds_its_commit(fair: Engine) -> None:
    fair.contexts.annotate(chain(fair)[4], priority="pinned")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "u")
        assert at(screen) == 4
        assert priorities(fair) == "pnnnnn"


async def test_undo_goes_to_the_context_of_its_commit(fair: Engine, tmp_path: Path) -> None:
    other = written(tmp_path / "other.jsonl", (("user", "Another thing."), ("user", "And more.")))
    fair.contexts.import_file(other, project="acme")
    fair.contexts.annotate(chain(fair)[3], priority="pinned")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "C", *"other", "enter")
        assert commits(screen).title_rule._title == "other"
        await screen.press("u")
        assert commits(screen).title_rule._title == "fair"
        assert at(screen) == 3
        assert said(screen).startswith("Undone: Pinned")


async def test_undo_under_a_filter_says_where_the_commit_is(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "p", "/", *"deposit", "enter", "u")
        assert "(not in this list)" in said(screen)
        assert priorities(fair) == "pnnnnn"


# the filter


FILTERS = [
    # typed, positions, cursor (when it began on position 3)
    ("deposit", [4, 5], 4),
    ("priority:pinned", [0], 0),
    ("role:user", [1, 3, 5], 3),
    ("role:user -council", [1], 1),
    ("tokens>3", [0, 1, 2, 3, 4, 5], 3),
    ("nothing like it", [], None),
]


@pytest.mark.parametrize(("text", "positions", "cursor"), FILTERS, ids=[one[0] for one in FILTERS])
async def test_the_filter_is_live_and_escape_goes_back_to_the_row(
    fair: Engine, text: str, positions: list[int], cursor: int | None
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "j", "j", "/", *text)
        model = commits(screen).model
        found = [row.position for row in fair.contexts.rows(model.ids)]
        assert found == positions
        assert (model.current.position if model.current else None) == cursor
        if not found:
            assert "Nothing matches / nothing like it" in screen.text
        await screen.press("escape")
        assert len(model.ids) == 6
        assert at(screen) == 3


async def test_a_filter_that_means_nothing_says_so_and_changes_no_list(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "/", *"role:user")
        field = commits(screen).filtering._bar.field
        field.value = "role:user rolle:user"
        await screen.settle()
        assert 'did you mean "role"?' in said(screen)
        assert len(commits(screen).model.ids) == 3
        await screen.press("enter")
        assert commits(screen).filtering.focused
        await screen.press("escape")
        assert commits(screen).list.has_focus
        assert len(commits(screen).model.ids) == 6
        assert said(screen) == ""


async def test_a_decided_row_stays_under_the_filter_until_it_is_read_again(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "/", *"priority:normal", "enter", "p")
        assert len(commits(screen).model.ids) == 5
        assert at(screen) == 1
        await screen.press("R")
        assert len(commits(screen).model.ids) == 4
        assert at(screen) == 2


async def test_a_bulk_takes_what_the_filter_shows(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "/", *"role:user", "enter", "*", "i")
        assert priorities(fair) == "pinini"
        assert said(screen).startswith("Marked 3 commits important - u to undo")


# contexts


async def test_without_a_context_the_screen_says_how_to_get_one(engine: Engine) -> None:
    async with opened(engine, size=(80, 24), project="acme") as screen:
        await screen.press("f3", *"jGpinSrevCtowEyR*", "space", "enter", "slash", "u", "Z")
        assert "No context yet" in screen.text
        assert "reviewer context import FILE" in screen.text
        assert commits(screen).model.current is None


async def test_a_file_is_imported_by_key(engine: Engine, transcript: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "I")
        assert "type the file of a transcript" in screen.text
        field = commits(screen).choosing._pane.field
        field.fill(str(transcript.parent) + "/fai")
        await screen.settle()
        assert "fair.jsonl" in screen.text
        await screen.press("enter")
        await screen.until(lambda: "6 commits imported" in said(screen))
        assert "fair" in screen.text
        assert engine.contexts.all("acme")[0].commits == 6
        await screen.press("I", "enter")


async def test_what_cannot_be_imported_is_a_sentence(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "I")
        commits(screen).choosing._pane.field.fill(f"{tmp_path}/empty.jsonl")
        await screen.settle()
        await screen.press("enter")
        await screen.until(lambda: "holds nothing" in said(screen))
        assert "No context yet" in screen.text
        assert commits(screen).choosing.importing == ""


async def test_a_folder_opens_in_the_chooser(
    engine: Engine, transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    os.rename(transcript, inner / "fair.jsonl")
    monkeypatch.chdir(tmp_path)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "I", *"inn")
        assert "inner/" in screen.text
        await screen.press("enter", "enter")
        await screen.until(lambda: "6 commits imported" in said(screen))


async def test_t_and_the_chooser_go_to_other_contexts_and_places_are_kept(
    fair: Engine, tmp_path: Path
) -> None:
    other = written(tmp_path / "other.jsonl", (("user", "Another thing."), ("user", "And more.")))
    fair.contexts.import_file(other, project="acme")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "C", *"fair", "enter", "j", "j")
        await screen.press("t")
        assert commits(screen).title_rule._title == "other"
        await screen.press("t")
        assert commits(screen).title_rule._title == "fair"
        assert at(screen) == 2
        await screen.press("q", "f3")
        assert commits(screen).title_rule._title == "fair"
        assert at(screen) == 2
        await screen.press("t", "f4")
        levels = screen.app.screen
        assert isinstance(levels, CompressScreen)
        assert levels.reading.context is not None
        assert levels.reading.context.name == "other"


async def test_t_with_one_context_says_so(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "t")
        assert said(screen) == "This is the only context: I imports another transcript."


async def test_what_others_write_appears_and_the_cursor_stays(fair: Engine) -> None:
    ids = chain(fair)
    other = Engine.open(fair.path, clock=lambda: NOW)
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "j", "space")
        await screen.settle()
        other.contexts.annotate(ids[1], priority="important")
        other.contexts.add(1, role="user", text="One more thing.")
        commits(screen).reading.watch()
        await screen.settle()
        model = commits(screen).model
        assert len(model.ids) == 7
        assert at(screen) == 3
        assert model.marks == {ids[2]}
        assert "One more thing." in screen.text
        assert "7 commits" in screen.text
    other.close()


async def test_the_queue_below_draws_nothing_until_it_is_seen_again(
    fair: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "p", "i")
        read: list[str] = []
        monkeypatch.setattr(screen.queue.loader, "work", lambda group, work: read.append(group))
        screen.queue.loader.watch()
        assert read == []
        await screen.press("q")
        assert "others" in read


# looking


async def test_enter_reads_escape_goes_back_and_tab_walks(fair: Engine) -> None:
    async with opened(fair, size=(80, 24), project="acme") as screen:
        await screen.press("f3", "j", "enter")
        assert "Must survive" not in screen.text
        assert "The budget is $50k" in screen.text
        assert commits(screen).text.has_focus
        await screen.press("escape")
        assert commits(screen).list.has_focus
        assert "Must survive" in screen.text
        focused = []
        for key in ("tab", "tab", "tab", "shift+tab"):
            await screen.press(key)
            focused.append(screen.app.focused.id)
        assert focused == ["commit-text", "survival", "commits", "survival"]
        await screen.press("+")
        assert "The budget" not in screen.text
        await screen.press("_", "escape", "escape")
        assert isinstance(screen.app.screen, QueueScreen)


async def test_o_opens_the_transcript_at_the_line(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "j", "o")
        assert isinstance(screen.app.screen, SourceScreen)
        assert "line 3" in screen.text
        await screen.press("escape")
        assert isinstance(screen.app.screen, CommitsScreen)


async def test_c_goes_to_the_levels_of_what_comes_from_here_and_back(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "j", "c")
        levels = screen.app.screen
        assert isinstance(levels, CompressScreen)
        assert levels.reading.start == chain(fair)[2]
        await screen.press("f3")
        assert at(screen) == 2


async def test_y_copies_the_whole_text(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "y")
        assert screen.app.clipboard == TURNS[1][1]


async def test_a_commit_by_hand_has_no_source(fair: Engine) -> None:
    fair.contexts.add(1, role="user", text="By hand.")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "G", "o")
        assert "names no line of a file" in said(screen)
        assert isinstance(screen.app.screen, CommitsScreen)


# editing


async def test_an_edit_is_saved_shown_and_undone(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e", *" Really", "ctrl+s")
        number = chain(fair)[1]
        view = fair.contexts.commit(number)
        assert view.text.endswith(" Really")
        assert view.original == TURNS[1][1]
        assert "Edited" in said(screen)
        assert "the original stays" in screen.text
        await screen.press("G", "u")
        assert fair.contexts.commit(number).text == TURNS[1][1]
        assert at(screen) == 1


async def test_leaving_an_edit_keeps_a_draft(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e", *" Really", "escape")
        assert "is kept: e goes on" in said(screen)
        await screen.press("e")
        assert "goes on where you left it" in said(screen)
        assert commits(screen).editing._pane.content.endswith(" Really")
        assert fair.contexts.commit(chain(fair)[1]).text == TURNS[1][1]


async def test_an_empty_text_is_refused_in_place(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "e")
        commits(screen).editing._pane.editor.load_text("  ")
        await screen.press("ctrl+s")
        assert "needs words" in said(screen)
        assert commits(screen).busy == "edit"


# text from outside


async def test_hostile_text_is_shown_as_marks_everywhere(engine: Engine, tmp_path: Path) -> None:
    path = written(tmp_path / "bad.jsonl", (("user", HOSTILE), ("user", f"x {HOSTILE}\n{HOSTILE}")))
    engine.contexts.import_file(path, project="acme", name="bad")
    engine.contexts.annotate(
        chain(engine), retain=HOSTILE, retain_match=["\x1b[31m"], reason=HOSTILE
    )
    async with opened(engine, size=(100, 30), project="acme") as screen:
        for keys in (("f3",), ("j",), ("enter",), ("escape", "r"), ("tab",), ("escape", "e")):
            await screen.press(*keys)
            strips = screen.app.screen._compositor.render_strips()
            assert {cell_len(strip.text) for strip in strips} == {100}
            text = "".join(strip.text for strip in strips)
            assert not any(each in text for each in "\x1b\x9b\x07\u202e\u2066")


# long chains


def test_a_move_reads_only_the_window(engine: Engine) -> None:
    asked: list[int] = []

    def fetch(ids):
        asked.extend(ids)
        return []

    model = CommitsModel(fetch)
    model.load(array("q", range(20_000)))
    model.window(0, 30)
    model.cursor = 12_000
    model.window(11_990, 12_020)
    assert len(asked) == 60


MODEL: list[tuple[str, Callable[[list[int]], list[int]], int | None, int]] = [
    ("stays on its row", lambda ids: [9, *ids], None, 5),
    ("its row is gone: the next below", lambda ids: [each for each in ids if each != 5], None, 6),
    ("everything below is gone: above", lambda ids: [1, 2], None, 2),
    ("goes to the row that is named", lambda ids: ids, 3, 3),
]


@pytest.mark.parametrize(
    ("change", "here", "row"), [each[1:] for each in MODEL], ids=[each[0] for each in MODEL]
)
def test_the_cursor_when_the_list_is_another(change, here, row) -> None:
    model = CommitsModel(lambda ids: [])
    model.load(array("q", [1, 2, 3, 4, 5, 6]))
    model.cursor, model.marks = 4, {2, 5}
    model.load(array("q", change([1, 2, 3, 4, 5, 6])), here)
    assert model.current_id == row
    assert model.marks == {2, 5} & set(model.ids)
