"""The Context screen: turns and segments, their levels, what must survive, applying."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import TextArea

from reviewer.commits.values import CommitQuery, Priority
from reviewer.compression.values import Level
from reviewer.engine import Engine
from reviewer.tui.context.model import findings
from tests.present import present
from tests.tui.conftest import opened
from tests.tui.context.driving import (
    KIOSK,
    TOPICS,
    context,
    levels,
    priorities,
    said,
    stocked,
)
from tests.tui.views import HOSTILE
from tests.unit.sources.builders import Session


async def test_at_80_columns_eight_segments_are_in_sight_with_their_levels_as_words(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path, len(TOPICS))
    async with opened(engine, project="acme", size=(80, 24)) as screen:
        await screen.press("f3")
        assert context(screen).rows.height >= 8
        assert "Brief" in screen.text
        assert "→" in screen.text
        assert "loses" in screen.text
        assert "nothing invented ✓" in screen.text


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40)])
async def test_the_pane_that_is_read_takes_at_least_half_of_the_screen(
    engine: Engine, tmp_path: Path, size: tuple[int, int]
) -> None:
    stocked(engine, tmp_path)
    async with opened(engine, project="acme", size=size) as screen:
        await screen.press("f3", "tab")
        assert context(screen).summary.has_focus
        assert context(screen).summary.size.height >= size[1] // 2
        await screen.press("escape", "escape")
        assert context(screen).rows.has_focus


@pytest.mark.parametrize(("key", "level"), [("1", 0), ("2", 1), ("3", 2), ("4", 3)])
async def test_a_digit_gives_the_segment_its_level(
    engine: Engine, tmp_path: Path, key: str, level: int
) -> None:
    stocked(engine, tmp_path, 4)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", key)
        assert levels(screen)[0] == level
        found = present(context(screen).data.shown(present(context(screen).data.plan).choices[0]))
        assert found.preview.level is Level(level)


async def test_levels_are_kept_while_other_screens_are_shown(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path, 4)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "4", "f2", "f3")
        assert levels(screen)[0] == 3
        await screen.choose("level for all")
        assert set(levels(screen)) == {3}


async def test_levels_are_kept_when_the_program_is_closed(engine: Engine, tmp_path: Path) -> None:
    stocked(engine, tmp_path, 4)
    async with opened(engine, project="acme", size=(160, 40)) as screen:
        await screen.press("f3", "3", "j", "4")
        chosen = levels(screen)
    async with opened(engine, project="acme", size=(160, 40)) as screen:
        await screen.press("f3")
        assert levels(screen) == chosen
        await screen.press("f", *"100000", "enter")
        await screen.until(lambda: said(screen).endswith("Your 2 own levels stay."))
        assert levels(screen)[:2] == [Level.BRIEF, Level.TAGS]


async def test_enter_opens_a_segment_into_its_turns_and_closes_it(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path)
    async with opened(engine, project="acme", size=(80, 30)) as screen:
        await screen.press("f3")
        rows = context(screen).rows.total
        await screen.press("enter")
        assert context(screen).rows.total == rows + len(KIOSK)
        await screen.press("j", "j")
        await screen.until(lambda: "takes 900 ms" in screen.text)
        await screen.press("enter")
        assert context(screen).rows.total == rows


async def test_the_marker_of_a_summary_opens_to_the_original_in_place(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path)
    async with opened(engine, project="acme", size=(118, 50)) as screen:
        await screen.press("f3", "3", "tab")
        summary = context(screen).summary
        assert "[→ the original]" in summary.plain_text
        for close in ("enter", "escape"):
            await screen.press("enter")
            assert "`tray_13` was empty" in summary.plain_text
            assert "[→ the original]" not in summary.plain_text
            await screen.press(close)
            assert "[→ the original]" in summary.plain_text
        await screen.press("escape", "a")
        await screen.until(lambda: "Compressed" in said(screen))
        await screen.press("enter", "j", "enter")
        await screen.until(lambda: "`tray_13` was empty" in summary.plain_text)
        await screen.press("escape")
        await screen.until(lambda: "[→ the original]" in summary.plain_text)


async def test_a_filter_finds_turns_and_escape_shows_all_again(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path, 2)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3")
        rows = context(screen).rows.total
        await screen.press("slash", *"vendor", "space", *"driver", "enter")
        found = [row.commit.first_line for row in context(screen).data.rows if row.commit]
        assert len(found) == 2
        assert all("vendor list must stay" in each for each in found)
        await screen.press("g", "i")
        assert said(screen).startswith("Marked “No, do not touch the driver")
        await screen.press("slash", *"zzz", "enter")
        assert "No turn matches." in screen.text
        await screen.press("escape")
        assert context(screen).rows.total == rows


@pytest.mark.parametrize(("key", "letter"), [("P", "p"), ("i", "i"), ("x", "s")])
async def test_a_letter_sets_the_priority_of_a_turn_and_takes_it_back(
    engine: Engine, tmp_path: Path, key: str, letter: str
) -> None:
    number = stocked(engine, tmp_path)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "enter", "j", "j", key)
        assert priorities(engine, number)[1] == letter
        assert priorities(engine, number).count("n") == len(KIOSK) - 1
        await screen.press(key)
        assert set(priorities(engine, number)) == {"n"}
        await screen.press("u")
        assert priorities(engine, number)[1] == letter


async def test_a_letter_on_a_segment_is_about_all_its_turns(engine: Engine, tmp_path: Path) -> None:
    number = stocked(engine, tmp_path)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "i")
        assert set(priorities(engine, number)) == {"i"}
        assert "◆" in screen.text


async def test_what_was_chosen_stays_when_a_pin_cuts_the_segments_anew(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path, 3)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "4", "j", "2", "enter", "j", "j", "P")
        assert said(screen).startswith("Pinned “")
        assert levels(screen) == [Level.TAGS, Level.DETAILED, Level.DETAILED, Level.FULL]


async def test_dropping_a_pin_is_said_in_the_words_of_the_screen(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "P")
        assert said(screen) == f"Pinned {len(KIOSK)} turns - u to undo"
        await screen.press("x")
        assert said(screen).endswith(", which was pinned - u to undo")
        await screen.press("u")
        assert said(screen).startswith("Undone: Skipped “")


class TestWhatMustSurvive:
    async def test_a_text_is_typed_and_every_summary_has_it(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        number = stocked(engine, tmp_path)
        async with opened(engine, project="acme", size=(160, 40)) as screen:
            await screen.press("f3", "m", *"paper sensor")
            await screen.until(lambda: "in 1 turn: paper sensor" in screen.text)
            await screen.press("enter")
            words = "Must survive in “The first run failed: PrinterE…”: paper sensor"
            assert said(screen) == f"{words} - u to undo"
            await screen.press("u", "Z")
            assert said(screen) == f"Redone: {words} - u to undo"
            ids = engine.contexts.ids(CommitQuery(number))
            kept = [each for each in ids if engine.contexts.commit(each).retention.patterns]
            assert [
                engine.contexts.commit(each).text.startswith("The first run") for each in kept
            ] == [True]
            await screen.press("4")
            choice = present(context(screen).data.plan).choices[0]
            found = present(context(screen).data.shown(choice))
            assert "paper sensor" in found.preview.compressed.content
            assert '"paper sensor" ✓' in " ".join(screen.text.split())
            await screen.choose("nothing must")
            assert not any(engine.contexts.commit(each).retention.patterns for each in ids)

    async def test_a_regular_expression_and_words_are_offered(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        number = stocked(engine, tmp_path)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "m", *r"\d+ ms")
            await screen.until(lambda: "This regular expression" in screen.text)
            await screen.press("enter")
            patterns = [
                pattern.mode
                for each in engine.contexts.ids(CommitQuery(number))
                for pattern in engine.contexts.commit(each).retention.patterns
            ]
            assert set(patterns) == {"regex"}
            await screen.press("m", *"all amounts")
            await screen.until(lambda: "In words" in screen.text)
            assert "This text" not in screen.text, "it is in none of these turns"
            await screen.press("enter")
            first = engine.contexts.commit(engine.contexts.ids(CommitQuery(number))[0])
            assert first.retention.instructions == "all amounts"

    async def test_a_loss_is_chosen_and_kept(self, engine: Engine, tmp_path: Path) -> None:
        stocked(engine, tmp_path)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "4")
            data = context(screen).data
            found = present(data.shown(present(data.plan).choices[0]))
            lost = found.preview.fidelity.lost_to_show[0].text
            await screen.press("full_stop", *"keep what", "enter", "enter")
            await screen.until(lambda: said(screen).startswith("Must survive: "))
            await screen.settle()
            found = present(data.shown(present(data.plan).choices[0]))
            assert lost in found.preview.compressed.content


class TestApplying:
    async def test_the_segments_are_replaced_as_one_act(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        number = stocked(engine, tmp_path, 4)
        before = engine.contexts.get(number).tokens
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "a")
            if "Yes, apply all" in screen.text:
                await screen.press("enter")
            await screen.until(lambda: said(screen).startswith("Compressed "))
            assert engine.contexts.totals(number).total < before
            await screen.press("u")
            await screen.settle()
            assert engine.contexts.totals(number).total == before

    async def test_a_summary_that_does_not_pass_is_named_and_asked_about_once(
        self, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("reviewer.tui.context.screen.doubts", lambda previews: previews[:1])
        number = stocked(engine, tmp_path, 4)
        head = engine.contexts.get(number).head
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "a")
            assert "Yes, apply all" in screen.text
            assert "Segment 1" in screen.text
            await screen.press("escape")
            assert engine.contexts.get(number).head == head

    async def test_those_that_pass_are_applied_without_the_others(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        number = stocked(engine, tmp_path, 4)
        async with opened(engine, project="acme", size=(120, 40)) as screen:
            await screen.press("f3", "enter", "j", "j", "j", "i", "g", "4")
            await screen.until(lambda: "! " in screen.text)
            await screen.press("a")
            assert "an important turn is missing" in screen.text
            await screen.press("down", "enter")
            await screen.until(lambda: said(screen).startswith("Compressed "))
            texts = [each.text for each in engine.contexts.compile(number)]
            assert KIOSK[2][1] in texts
            assert len(texts) < 4 * len(KIOSK)

    async def test_nothing_is_applied_while_everything_is_full(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        stocked(engine, tmp_path)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "1", "a")
            assert said(screen).startswith("Every segment is Full")

    async def test_a_budget_below_the_pinned_turns_names_them(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        stocked(engine, tmp_path, 2)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "P", "f", *"40", "enter")
            assert said(screen).startswith("40 tokens cannot be reached: the smallest is ")
            assert f"In the way: {len(KIOSK)} pinned turns with " in said(screen)
            assert "(“Customer 2 of the kiosk waited…”, " in said(screen)

    async def test_what_fit_offers_is_accepted_by_a(self, engine: Engine, tmp_path: Path) -> None:
        number = stocked(engine, tmp_path, 4)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "f", *"900", "enter")
            await screen.until(lambda: "a applies it." in said(screen))
            await screen.press("a")
            await screen.until(lambda: said(screen).startswith("Compressed "))
            assert "Yes, apply all" not in screen.text
            assert engine.contexts.get(number).head

    async def test_fit_takes_what_does_not_pass_where_nothing_else_fits_and_marks_it(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        number = stocked(engine, tmp_path)
        paths = "\n".join(f"/srv/harbour/dock_{at}/ferry_{at}_test.go" for at in range(500))
        engine.contexts.add(number, role="tool", text=paths)
        for text in ("Which docks are closed?", "All of them.", "Then we go by tram."):
            engine.contexts.add(number, role="user", text=text)
        async with opened(engine, project="acme", size=(120, 40)) as screen:
            await screen.press("f3", "f", *"300", "enter")
            await screen.until(lambda: "a applies it." in said(screen))
            assert "1 summary does not pass the checks (!)" in said(screen)
            assert "! " in screen.text
            await screen.press("a")
            assert "Leave those Full, apply the others" in screen.text

    async def test_fit_leaves_the_levels_that_the_person_chose(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        stocked(engine, tmp_path, 4)
        async with opened(engine, project="acme", size=(160, 40)) as screen:
            await screen.press("f3", "3", "f", *"100000", "enter")
            await screen.until(lambda: said(screen).endswith("Your 1 own level stays."))
            assert levels(screen) == [Level.BRIEF, Level.FULL, Level.FULL, Level.FULL]
            await screen.press("1", "f", *"500", "enter")
            await screen.until(lambda: "levels chosen by hand (s1 Full)" in said(screen))
            assert levels(screen)[0] == Level.FULL

    async def test_undo_of_an_apply_brings_back_the_levels(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        stocked(engine, tmp_path, 4)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "2", "j", "1", "j", "1")
            before = levels(screen)
            assert before[:3] == [Level.DETAILED, Level.FULL, Level.FULL]
            await screen.press("a")
            if "Yes, apply all" in screen.text:
                await screen.press("enter")
            await screen.until(lambda: said(screen).startswith("Compressed "))
            assert set(levels(screen)) == {Level.FULL}
            await screen.press("u")
            await screen.settle()
            assert levels(screen) == before

    async def test_a_summary_stays_full_beside_turns_that_could_not_be_summarized(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        number = stocked(engine, tmp_path, 2)
        first = engine.contexts.ids(CommitQuery(number))[0]
        engine.contexts.annotate(first, priority="important", retain_match=["in no turn"])
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "3", "a")
            if "Yes, apply all" in screen.text:
                await screen.press("enter")
            await screen.until(lambda: said(screen).startswith("Compressed "))
            data = context(screen).data
            summaries = {each.id for each in data.commits.values() if each.type == "summary"}
            assert summaries
            for choice in present(data.plan).choices:
                assert choice.level is Level.FULL or summaries.isdisjoint(choice.sources)

    async def test_a_budget_is_for_the_whole_session_wherever_the_cursor_is(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        stocked(engine, tmp_path, 4)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "enter", "j", "P", "4")
            assert said(screen) == "A pinned turn is always sent whole."
            await screen.press("f")
            assert "Fit a budget" in screen.text


async def test_a_lost_request_is_said_in_words_whatever_the_score(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path, 4)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "4")
        found = present(context(screen).data.shown(present(context(screen).data.plan).choices[0]))
        lost = {each.kind for each in found.preview.fidelity.lost_information}
        words = [each.text for each in findings(found) if not each.good]
        assert ("the request is missing" in words) == ("request" in lost)
        assert not any("." in each[:2] for each in words), "no bare figures"


async def test_a_summary_is_written_by_hand(engine: Engine, tmp_path: Path) -> None:
    stocked(engine, tmp_path)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "3", "e")
        screen.app.screen.query_one("#edit EditorArea", TextArea).load_text("The kiosk is slow.")
        await screen.press("ctrl+s")
        await screen.settle()
        assert present(context(screen).data.plan).choices[0].content == "The kiosk is slow."
        assert "Brief*" in screen.text


async def test_the_text_of_a_turn_is_edited(engine: Engine, tmp_path: Path) -> None:
    number = stocked(engine, tmp_path)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "enter", "j", "e", *" Really.", "ctrl+s")
        await screen.settle()
        first = engine.contexts.ids(CommitQuery(number))[0]
        assert engine.contexts.commit(first).text.endswith(" Really.")
        await screen.press("u")
        assert not engine.contexts.commit(first).text.endswith(" Really.")


class TestSessions:
    async def test_where_none_is_open_those_that_were_read_are_offered(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        stocked(engine, tmp_path)
        path = tmp_path / "kiosk.jsonl"
        engine.intake.ingest([path], project="other")
        async with opened(engine, project="other") as screen:
            await screen.press("f3")
            await screen.until(lambda: "Sessions" in screen.text)
            assert "kiosk" in screen.text
            await screen.press("enter")
            await screen.until(lambda: context(screen).context is not None)
            assert said(screen) == f"Opened {len(KIOSK)} turns."

    async def test_without_any_the_screen_says_how_to_read_them(self, engine: Engine) -> None:
        async with opened(engine, project="acme") as screen:
            await screen.press("f3")
            assert said(screen).startswith("No session was read yet: F2, then r reads them.")

    async def test_a_change_by_another_program_is_shown_and_choices_stay(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        number = stocked(engine, tmp_path, 4)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "4")
            last = engine.contexts.ids(CommitQuery(number))[-1]
            engine.contexts.annotate(last, priority=Priority.PINNED)
            context(screen).watch_store()
            await screen.until(lambda: said(screen).startswith("The context changed meanwhile"))
            assert levels(screen)[0] == 3
            assert "●" in screen.text


async def test_hostile_text_stays_text(engine: Engine, tmp_path: Path) -> None:
    engine.contexts.add(stocked(engine, tmp_path), role="user", text=HOSTILE)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "G", "enter", "G", "tab")
        assert not set(screen.text) & set("\x1b\x07\x9b\u202e\u2066")


async def test_a_small_session_has_a_size_that_is_not_zero(engine: Engine, tmp_path: Path) -> None:
    told = Session()
    told.user("Always print the timetable on A5 because the tray holds no A4 paper.")
    path = tmp_path / "ferry.jsonl"
    path.write_bytes(told.bytes())
    engine.intake.ingest([path], project="acme")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3")
        await screen.until(lambda: "1 kB  Always print the timetable on A5" in screen.text)


class TestUndo:
    async def test_levels_and_turns_are_taken_back_in_one_order_and_put_back(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        number = stocked(engine, tmp_path, 3)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "4", "i", "2", "u")
            assert said(screen) == "Undone: Detailed for segment 1 - Z to redo"
            assert levels(screen)[0] == Level.TAGS
            await screen.press("Z")
            assert said(screen) == "Redone: Detailed for segment 1 - u to undo"
            assert levels(screen)[0] == Level.DETAILED
            await screen.press("f2", "f3", "u", "u")
            assert said(screen).startswith("Undone: Marked 7 turns important")
            assert "i" not in priorities(engine, number)
            await screen.press("u")
            assert levels(screen)[0] == Level.BRIEF
            await screen.press("Z", "Z", "Z", "Z")
            assert levels(screen)[0] == Level.DETAILED
            assert said(screen) == "There is nothing to redo."

    async def test_a_fit_is_one_act_that_a_later_program_can_undo(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        stocked(engine, tmp_path, 4)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "f", *"900", "enter")
            await screen.until(lambda: "a applies it." in said(screen))
            fitted = levels(screen)
        async with opened(engine, project="acme", size=(120, 40)) as screen:
            await screen.press("f3")
            assert levels(screen) == fitted
            await screen.press("u")
            assert "From an earlier session" in screen.text
            assert "undo: Levels for 900 tokens in kiosk" in screen.text
            await screen.press("enter")
            assert levels(screen) == [Level.BRIEF, Level.BRIEF, Level.FULL, Level.FULL]

    async def test_it_goes_to_the_row_that_it_changed(self, engine: Engine, tmp_path: Path) -> None:
        stocked(engine, tmp_path, 4)
        async with opened(engine, project="acme") as screen:
            await screen.press("f3", "j", "x", "G", "u")
            assert context(screen).data.cursor == 1

    async def test_what_was_done_in_another_session_is_undone_at_once_and_named(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        stocked(engine, tmp_path, 2, name="tram")
        stocked(engine, tmp_path, 2)
        async with opened(engine, project="acme", size=(120, 40)) as screen:
            await screen.press("f3", "4")
            await screen.choose("other session")
            await screen.press(*"tram", "enter")
            await screen.until(lambda: present(context(screen).context).name == "tram")
            await screen.press("i", "u", "u")
            await screen.until(lambda: present(context(screen).context).name == "kiosk")
            assert levels(screen)[0] == Level.BRIEF
            assert said(screen) == "Undone: Tags for segment 1 (Context, kiosk) - Z to redo"


async def test_a_skipped_segment_keeps_its_row_and_its_level(
    engine: Engine, tmp_path: Path
) -> None:
    number = stocked(engine, tmp_path, 4)
    async with opened(engine, project="acme", size=(100, 40)) as screen:
        await screen.press("f3", "j", "1", "x")
        assert said(screen) == f"Skipped {len(KIOSK)} turns - u to undo"
        assert levels(screen) == [Level.BRIEF, Level.FULL, Level.FULL, Level.FULL]
        assert "∅ " in screen.text
        assert "The tram prints" in screen.text
        await screen.press("x")
        assert set(priorities(engine, number)) == {"n"}


async def test_what_a_skip_takes_from_careful_turns_is_named(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path)
    async with opened(engine, project="acme", size=(120, 40)) as screen:
        await screen.press("f3", "enter", "j", "j", "i", "g", "x")
        assert said(screen) == f"Skipped {len(KIOSK)} turns, 1 of them important - u to undo"


async def test_thoughts_stay_as_they_are_when_their_segment_is_skipped_and_sent_again(
    engine: Engine, tmp_path: Path
) -> None:
    told = Session()
    told.user("Why does the ferry leave late every morning?")
    told.block({"type": "thinking", "thinking": "The timetable may be wrong."})
    told.reply("It waits for the tram, which comes from the harbour.")
    path = tmp_path / "ferry.jsonl"
    path.write_bytes(told.bytes())
    number = engine.contexts.import_file(path, project="acme").context.id
    before = priorities(engine, number)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3", "x")
        assert set(priorities(engine, number)) == {"s"}
        await screen.press("x")
        assert priorities(engine, number) == before


async def test_a_filter_finds_the_title_of_a_segment(engine: Engine, tmp_path: Path) -> None:
    stocked(engine, tmp_path, 4)
    async with opened(engine, project="acme") as screen:
        await screen.press("f3")
        titles = context(screen).data.titles
        await screen.press("slash", *"ferry", "space", *"prints", "enter")
        rows = [row for row in context(screen).data.rows if row.commit is None]
        assert [titles[row.segment or 0] for row in rows] == [titles[2]]


async def test_an_important_turn_that_a_summary_loses_is_named(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path)
    async with opened(engine, project="acme", size=(160, 40)) as screen:
        await screen.press("f3", "4", "enter", "j", "j", "j", "i", "k", "k", "k")
        await screen.until(
            lambda: "important turn lost: No, do not touch the driver" in screen.text
        )
        assert "an important turn is missing" in screen.text
        await screen.press("2")
        await screen.until(lambda: "important turn" not in screen.text)
