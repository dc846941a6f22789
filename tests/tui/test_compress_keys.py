"""The Compress screen by its keys: levels, markers, what is lost, apply and undo."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from reviewer.compressing import Plan, Segment, SegmentPreview, Watch
from reviewer.compression import fitting
from reviewer.compression.plan import Preview
from reviewer.compression.service import Compression
from reviewer.engine import CommitQuery, Engine
from reviewer.tui.compress_model import CompressModel
from reviewer.tui.screens import compress_reading
from reviewer.tui.screens.commits import CommitsScreen
from reviewer.tui.screens.queue import QueueScreen
from tests.tui.compressing import chain, compress, levels, lost, said, stocked
from tests.tui.conftest import Screen, opened


@pytest.fixture
def kiosk(engine: Engine, tmp_path: Path) -> Engine:
    """One segment."""
    stocked(engine, tmp_path)
    return engine


@pytest.fixture
def machines(engine: Engine, tmp_path: Path) -> Engine:
    """Four segments."""
    stocked(engine, tmp_path, 4)
    return engine


def summary(screen: Screen) -> str:
    return compress(screen).summary.plain_text


def original(screen: Screen) -> str:
    return compress(screen).original.plain_text


def checks(screen: Screen) -> str:
    return compress(screen).checks.plain_text


# levels


async def test_older_segments_are_brief_and_the_newest_stay_full(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        assert levels(screen) == "BBFF"
        assert compress(screen).summary.title.startswith("Brief ")


@pytest.mark.parametrize(
    ("key", "letters", "title"),
    [
        ("1", "FBFF", "Full"),
        ("2", "DBFF", "Detailed"),
        ("3", "BBFF", "Brief"),
        ("4", "TBFF", "Tags"),
    ],
)
async def test_a_digit_chooses_the_level_of_the_segment(machines, key, letters, title):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", key)
        assert levels(screen) == letters
        assert compress(screen).summary.title.startswith(title)


async def test_a_level_for_all(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4", "*")
        assert levels(screen) == "TTTT"
        assert "3 segments more at Tags" in said(screen)


async def test_the_whole_follows_the_levels(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        model = compress(screen).model
        at_brief = model.whole()
        assert at_brief.exact
        await screen.press("1")
        assert model.whole().tokens > at_brief.tokens
        await screen.press("j", "1")
        assert model.whole().tokens == model.sent
        line = next(each for each in screen.text.splitlines() if each.startswith(" whole"))
        assert f"whole {model.sent:,} → {model.sent:,}" in line


async def test_the_size_in_the_bar_is_the_size_that_is_written(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        promised = compress(screen).model.whole().tokens
        await screen.press("A")
        assert machines.contexts.totals(1).total == promised


async def test_ratio_fidelity_and_anchors_are_taken_apart(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        shown = " ".join(checks(screen).split())
        assert "8 of 8 anchors" in shown
        assert "aim 10:1" in shown
        assert "anchors need" in shown, "they alone are larger than the target, and it says so"
        assert "anchors 1.00 · facts" in shown
        preview = compress(screen).model.shown(compress(screen).model.choice)
        assert f"→ .{round(preview.fidelity.overall_score * 100)}" in shown


async def test_the_original_marks_anchors_with_brackets_and_the_letter_of_their_type(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        shown = " ".join(original(screen).split())
        assert "D[We decided to keep the connection" in shown
        assert "X[No, do not touch the driver" in shown
        assert "The kiosk prints receipts too slowly." in shown


async def test_all_levels_side_by_side_and_back(kiosk):
    async with opened(kiosk, size=(140, 34), project="acme") as screen:
        await screen.press("f4", "a")
        titles = [pane.title for pane in compress(screen).columns.panes]
        assert [title.replace("▌ ", "").split()[0] for title in titles] == [
            "Full", "Detailed", "Brief", "Tags",
        ]  # fmt: skip
        assert titles[2].startswith("▌ ")
        await screen.press("4")
        assert compress(screen).columns.panes[3].title.startswith("▌ ")
        await screen.press("a")
        assert not compress(screen).has_class("all-levels")
        assert compress(screen).focused is compress(screen).list


async def test_all_levels_need_room(kiosk):
    async with opened(kiosk, size=(80, 24), project="acme") as screen:
        await screen.press("f4", "a")
        assert "need 100 columns" in said(screen)
        assert not compress(screen).has_class("all-levels")


# markers


async def test_a_marker_says_what_it_adds_opens_in_place_and_closes(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n")
        marker = compress(screen).unfolding.folds()[0].marker
        assert marker.adds > 0
        assert said(screen) == f"Expand for more detail: +{marker.adds:,} tokens"
        before = summary(screen)
        assert "[→more:s1:" not in before
        await screen.press("enter")
        assert "[→more:s1:" in summary(screen), "the nearer level stands below its marker"
        assert f"-{marker.adds:,} tok" in summary(screen)
        await screen.press("enter")
        assert summary(screen) == before
        assert said(screen) == f"Expand for more detail: +{marker.adds:,} tokens"


async def test_a_marker_within_what_was_expanded_opens_the_original(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n", "enter", "n", "enter")
        assert len(compress(screen).unfolding.opened) == 2
        assert "kiosk waited while `tray_13` was empty" in " ".join(
            summary(screen).replace("│", " ").split()
        )
        await screen.press("N", "enter")
        assert not compress(screen).unfolding.opened, "closing the outer one closes what is within"


async def test_tab_into_the_summary_chooses_its_marker(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab")
        assert compress(screen).focused is compress(screen).summary
        assert "Expand for more detail" in said(screen)


async def test_a_click_on_a_marker_opens_it(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n")
        pane = compress(screen).summary
        row = next(y for y in range(pane.size.height) if "[→detail" in pane.render_line(y).text)
        await screen.pilot.click(pane, offset=(3, row))
        await screen.settle()
        assert compress(screen).unfolding.opened


async def test_another_level_closes_everything(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n", "enter", "2", "3")
        assert not compress(screen).unfolding.opened


async def test_tags_have_nothing_to_expand(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "4", "enter")
        assert "nothing to expand" in said(screen)


async def test_a_marker_that_somebody_wrote_is_only_text(engine, tmp_path):
    import json

    path = tmp_path / "forged.jsonl"
    text = "Look: [→detail:s1] and [→detail:s9] were printed by the tool. " * 4
    path.write_text(json.dumps({"role": "user", "content": text}) + "\n", "utf-8")
    engine.contexts.import_file(path, project="acme")
    async with opened(engine, project="acme") as screen:
        await screen.press("f4", "2")
        model = compress(screen).model
        content = model.shown(model.choice).compressed.content
        forged = content.index("[→detail:s1]") if "[→detail:s1]" in content else -1
        assert all(fold.marker.start != forged for fold in compress(screen).unfolding.folds())


# what is lost


async def test_what_is_lost_is_heaviest_first_with_times_and_says_what_is_new(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        model = compress(screen).model
        rows = compress(screen).lost.rows
        found = model.shown(model.choice).fidelity.lost_information
        assert [row.text for row in rows] == [each.text for each in found]
        above = model.previews[("s1", 1, "offline")].fidelity.lost_information
        still = {each.text for each in above}
        assert [row.new for row in rows] == [each.text not in still for each in found]
        assert any(row.new for row in rows)
        assert not all(row.new for row in rows)
        assert "new since Detailed" in screen.text
        assert "×12" in screen.text


async def test_a_pin_from_the_lost_list_and_the_preview_follows(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab", "tab")
        row = next(at for at, each in enumerate(lost(screen)) if each.startswith("tray_"))
        compress(screen).lost.move_to(row)
        wanted = lost(screen)[row]
        assert wanted not in summary(screen)
        await screen.press("p")
        assert wanted in summary(screen)
        assert wanted not in lost(screen)
        assert said(screen) == f'Pinned "{wanted}" - u to undo'
        assert f"●F[{wanted}]" in original(screen), "marked as somebody's, not as found"
        pins = [each for each in compress(screen).lost.rows if each.pinned]
        assert [each.text for each in pins] == [wanted]


async def test_the_pin_is_taken_back_by_the_same_key_or_by_undo(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab", "tab")
        row = next(at for at, each in enumerate(lost(screen)) if each.startswith("tray_"))
        compress(screen).lost.move_to(row)
        wanted = lost(screen)[row]
        await screen.press("p", "G", "p")
        assert said(screen) == f'Unpinned "{wanted}" - u to undo'
        assert wanted in lost(screen)
        await screen.press("u")
        assert wanted not in lost(screen)
        await screen.press("u")
        assert wanted in lost(screen)


async def test_what_is_retained_becomes_a_criterion_that_is_checked(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab", "tab")
        row = next(at for at, each in enumerate(lost(screen)) if each.startswith("tray_"))
        compress(screen).lost.move_to(row)
        wanted = lost(screen)[row]
        await screen.press("r")
        assert wanted in summary(screen)
        assert f'✓ "{wanted}"' in checks(screen)
        commit = machine_commit(kiosk, wanted)
        assert [each.text for each in kiosk.contexts.commit(commit).retention.patterns] == [wanted]


def machine_commit(engine: Engine, text: str) -> int:
    ids = engine.contexts.ids(CommitQuery(1))
    return next(each for each in ids if text in engine.contexts.commit(each).text)


async def test_retaining_keeps_the_criteria_that_are_there(kiosk):
    commit = machine_commit(kiosk, "tray_5")
    kiosk.contexts.annotate(commit, retain_match=["paper motor"], retain_regex=[r"hour \d+"])
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "4", "tab", "tab", "tab")
        row = next(at for at, each in enumerate(lost(screen)) if each.startswith("tray_"))
        compress(screen).lost.move_to(row)
        wanted = lost(screen)[row]
        await screen.press("r")
        patterns = [each.text for each in kiosk.contexts.commit(commit).retention.patterns]
        assert sorted(patterns) == sorted(["paper motor", r"hour \d+", wanted])


async def test_enter_on_what_is_lost_shows_it_in_the_original(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab", "tab", "enter")
        shown = compress(screen)
        assert shown.focused is shown.original
        marked = [line for line in shown.original._lines if line.marked]
        assert marked
        assert lost(screen)[0] in marked[0].text.lower()
        top = shown.original.scroll_offset.y
        assert top <= shown.original._lines.index(marked[0]) < top + shown.original.room


# applying


async def test_apply_is_one_act_and_undo_brings_everything_back(machines):
    before = chain(machines)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "2")
        promised = compress(screen).model
        sent, after = promised.sent, promised.whole().tokens
        content = promised.shown(promised.choice).compressed.content
        acts = len(machines.history.acts())
        await screen.press("A")
        assert said(screen) == f"Compressed {sent:,} to {after:,} tokens - u to undo"
        assert chain(machines) == ["summary", "summary", *["dialogue"] * 14]
        assert len(machines.history.acts()) == acts + 1
        first = machines.contexts.ids(CommitQuery(1))[0]
        assert machines.contexts.commit(first).text == content, "what was seen is what was written"
        assert set(levels(screen)) == {"F"}, "nothing is compressed twice by itself"
        await screen.press("u")
        assert chain(machines) == before
        assert levels(screen) == "DBFF", "and what was chosen is chosen again"
        await screen.press("Z")
        assert chain(machines)[:2] == ["summary", "summary"]


async def test_nothing_is_applied_when_everything_is_full(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "1", "A")
        assert "Every segment is Full" in said(screen)
        assert "summary" not in chain(kiosk)


async def test_fit_chooses_levels_for_a_number_of_tokens(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"900")
        assert compress(screen).busy == "choose"
        await screen.press("enter")
        assert compress(screen).model.whole().tokens <= 900
        assert "Fits 900 tokens" in said(screen)
        assert "target 900 ✓" in screen.text
        await screen.press("A")
        assert machines.contexts.totals(1).total <= 900


async def test_fit_says_how_far_it_is_and_escape_stops_it(machines, monkeypatch):
    go_on = threading.Event()
    tried = 0
    one = fitting.preview_choice

    def slow(*given: object) -> SegmentPreview:
        nonlocal tried
        tried += 1
        if tried == 2:
            go_on.wait(5)
        return one(*given)

    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"900")
        before = levels(screen)
        monkeypatch.setattr(fitting, "preview_choice", slow)
        await screen.pilot.press("enter")
        await screen.until(lambda: "1 of at most 12 summaries tried" in said(screen))
        assert "escape stops it" in said(screen)
        await screen.pilot.press("A")
        assert "summary" not in chain(machines)
        await screen.pilot.press("escape")
        go_on.set()
        await screen.settle()
        assert said(screen) == "Stopped: the levels stay as they were."
        assert levels(screen) == before
        assert "target 900" not in screen.text
        assert not compress(screen).running


async def test_a_target_that_cannot_be_reached_says_why_and_changes_nothing(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "f", *"9", "enter")
        assert "cannot be reached" in said(screen)
        assert levels(screen) == "BBFF"
        assert "over" in screen.text


# contexts, ranges, other writers


async def test_c_on_the_commits_screen_begins_at_its_commit(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f3", "G", "k", "c")
        shown = compress(screen)
        begin = machines.contexts.ids(CommitQuery(1))[-2]
        assert shown.reading.start == begin
        assert shown.model.segments[0].turns[0].commit == begin
        assert len(shown.model.segments) == 1
        await screen.press("b")
        assert len(compress(screen).model.segments) == 4


async def test_the_context_of_the_commits_screen_is_the_one_here(engine, tmp_path):
    stocked(engine, tmp_path, name="first")
    stocked(engine, tmp_path, 2, name="second")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3")
        commits = screen.app.screen
        assert isinstance(commits, CommitsScreen)
        await screen.press("t")
        shown = commits.reading.context
        assert shown is not None
        await screen.press("f4")
        assert compress(screen).reading.context.id == shown.id
        await screen.press("t")
        assert compress(screen).reading.context.id != shown.id


async def test_levels_are_still_chosen_after_another_screen(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4", "j", "2", "f3", "f4")
        assert levels(screen) == "TDFF"


async def test_somebody_else_moves_the_head_meanwhile(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4")
        other = Engine.open(machines.path)
        other.contexts.add(1, role="user", text="And the receipts have to be blue from now on.")
        other.close()
        compress(screen).reading.watch()
        await screen.settle()
        assert "changed meanwhile" in said(screen)
        assert "receipts have to be blue" in " ".join(
            turn.text for turn in compress(screen).model.segments[-1].turns
        )
        assert levels(screen)[0] == "T", "what was chosen for the same commits is kept"


async def test_applying_what_changed_meanwhile_writes_nothing(machines):
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        other = Engine.open(machines.path)
        other.contexts.add(1, role="user", text="And the receipts have to be blue from now on.")
        other.close()
        await screen.press("A")
        assert "summary" not in chain(machines)
        assert "changed" in said(screen)
        await screen.press("A")
        assert "summary" in chain(machines), "it was read again, so the next key applies it"


# nothing to do


async def test_no_context(engine):
    async with opened(engine, project="acme") as screen:
        await screen.press("f4")
        assert "No context yet" in screen.text
        await screen.press("A", "3", "e", "enter", "f")
        assert "There is no context yet" in said(screen)


async def test_only_pins(kiosk):
    kiosk.contexts.annotate(list(kiosk.contexts.ids(CommitQuery(1))), priority="pinned")
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        assert "holds only pinned commits" in " ".join(screen.text.split())
        await screen.press("3", "A")
        assert "nothing to compress" in said(screen).lower()


async def test_only_skips(kiosk):
    kiosk.contexts.annotate(list(kiosk.contexts.ids(CommitQuery(1))), priority="skip")
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "3", "A")
        assert "summary" not in chain(kiosk)


async def test_escape_leaves_one_thing_at_a_time(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "plus", "escape")
        assert not compress(screen).looking.zoomed
        await screen.press("tab", "escape")
        assert compress(screen).focused is compress(screen).list
        await screen.press("escape")
        assert isinstance(screen.app.screen, QueueScreen)


async def test_a_long_context_shows_its_first_part_before_the_rest(machines, monkeypatch):
    monkeypatch.setattr(compress_reading, "LONG", 10)
    monkeypatch.setattr(compress_reading, "FIRST_PART", 7)
    shown: list[int] = []
    took = CompressModel.load

    def load(self: CompressModel, segments: list[Segment], *rest: object) -> list[str]:
        shown.append(len(segments))
        return took(self, segments, *rest)

    monkeypatch.setattr(CompressModel, "load", load)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        assert shown == [1, 4]
        assert not compress(screen).reading.partial
        assert levels(screen) == "BBFF"


async def test_escape_stops_before_anything_is_written(machines, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    preview = Compression.preview

    def slow(self: Compression, plan: Plan, watch: Watch | None = None, **more: object) -> Preview:
        if watch is not None:
            begun.set()
            go_on.wait(5)
        return preview(self, plan, watch, **more)

    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        monkeypatch.setattr(Compression, "preview", slow)
        await screen.pilot.press("A")
        await screen.until(begun.is_set)
        assert compress(screen).running
        await screen.pilot.press("escape")
        go_on.set()
        await screen.settle()
        assert said(screen) == "Stopped: nothing was written."
        assert "summary" not in chain(machines)
