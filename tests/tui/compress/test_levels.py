"""The Compress screen: levels of segments, their panes, and markers that expand in place."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from reviewer.compression.plan import Preview
from reviewer.compression.values import Turn, TurnKind
from reviewer.engine import Engine
from reviewer.tui.compress.drawing import speaker
from reviewer.tui.compress.model import Checked
from reviewer.tui.kit import screen as kit_screen
from reviewer.tui.kit.text_pane import TextPane
from tests.present import present
from tests.tui.compress.driving import (
    checks,
    compress,
    levels,
    original,
    status_text,
    summary,
)
from tests.tui.conftest import opened


async def test_older_segments_are_brief_and_the_newest_stay_full(machines: Engine) -> None:
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
async def test_a_digit_chooses_the_level_of_the_segment(
    machines: Engine, key: str, letters: str, title: str
) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", key)
        assert levels(screen) == letters
        assert compress(screen).summary.title.startswith(title)


async def test_a_level_for_all(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4", "*")
        assert levels(screen) == "TTTT"
        assert "3 segments more at Tags" in status_text(screen)


async def test_the_whole_follows_the_levels(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        model = compress(screen).data
        at_brief = model.whole()
        assert at_brief.exact
        await screen.press("1")
        assert model.whole().tokens > at_brief.tokens
        await screen.press("j", "1")
        assert model.whole().tokens == model.sent
        line = next(each for each in screen.text.splitlines() if each.startswith(" whole"))
        assert f"whole {model.sent:,} → {model.sent:,}" in line


async def test_the_size_in_the_bar_is_the_size_that_is_written(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        promised = compress(screen).data.whole().tokens
        await screen.press("A")
        assert machines.contexts.totals(1).total == promised


async def test_ratio_fidelity_and_anchors_are_taken_apart(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        shown = " ".join(checks(screen).split())
        assert "8 of 8 anchors" in shown
        assert "aim 10:1" in shown
        assert "anchors need" in shown, "they alone are larger than the target, and it says so"
        assert "anchors 1.00 · facts" in shown
        data = compress(screen).data
        preview = present(data.shown(present(data.choice)))
        score = f"{preview.fidelity.overall_score:.2f}"
        assert f"→ {score}" in shown or f"→ {score.removeprefix('0')}" in shown


async def test_the_original_marks_anchors_with_brackets_and_the_letter_of_their_type(
    kiosk: Engine,
) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        shown = " ".join(original(screen).split())
        assert "D[We decided to keep the connection" in shown
        assert "X[No, do not touch the driver" in shown
        assert "The kiosk prints receipts too slowly." in shown


async def test_all_levels_side_by_side_and_back(kiosk: Engine) -> None:
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
        assert not compress(screen).all_levels_shown
        assert compress(screen).focused is compress(screen).list


async def test_all_levels_need_room(kiosk: Engine) -> None:
    async with opened(kiosk, size=(80, 24), project="acme") as screen:
        await screen.press("f4", "a")
        assert "need 100 columns" in status_text(screen)
        assert not compress(screen).all_levels_shown


async def test_a_moving_cursor_causes_no_previews_and_draws_only_the_list(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str | None] = []
    show = TextPane.show

    def noted(pane: TextPane, *args: object, **options: object) -> None:
        drawn.append(pane.id)
        show(pane, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(TextPane, "show", noted)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "j")
        monkeypatch.setattr(kit_screen, "SKIM_SECONDS", 3600.0)
        monkeypatch.setattr(kit_screen, "REST_SECONDS", 3600.0)
        drawn.clear()
        for key in "jjjk":
            await screen.pilot.press(key)
        shown = compress(screen)
        assert shown.previews.pending == 0
        previewed, found = next(iter(shown.data.previews.items()))
        shown.store_preview(previewed, found, Checked())
        assert drawn == [], "a preview that arrives late waits, too"
        shown.settle()
        assert "original" in drawn


def row_of(role: str, type_: str, said: TurnKind = "text", name: str = "") -> Turn:
    return Turn(role=role, text=f"from {type_}", tokens=3, kind=said, name=name, commit=1)


@pytest.mark.parametrize(
    ("turn", "recorded", "shown"),
    [
        (row_of("user", "dialogue"), {}, "user"),
        (row_of("user", "artifact"), {1: "artifact"}, "artifact"),
        (row_of("assistant", "reasoning", "thinking"), {}, "assistant thinks"),
        (row_of("assistant", "tool_call", "tool_use", "Bash"), {}, "assistant calls Bash"),
        (row_of("user", "dialogue", name="Ada"), {}, "Ada"),
    ],
)
def test_a_turn_is_headed_by_who_speaks(turn: Turn, recorded: dict[int, str], shown: str) -> None:
    assert speaker(turn, recorded) == shown


async def test_a_row_of_the_user_that_nobody_typed_is_not_drawn_as_the_person(
    kiosk: Engine,
) -> None:
    task = "<task-notification>The sub-agent counted 7 kiosks.</task-notification>"
    kiosk.contexts.add(1, role="user", type="artifact", text=task)
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "G")
        heads = original(screen).split("The sub-agent counted")[0].splitlines()
        head = next(line for line in reversed(heads) if " tok" in line)
        assert head.startswith("artifact ")
        await screen.press("g")
        assert "user · " in original(screen), "what a person typed is still theirs"


async def test_at_80_columns_the_text_of_a_level_has_most_of_the_screen(machines: Engine) -> None:
    async with opened(machines, size=(80, 24), project="acme") as screen:
        await screen.press("f4")
        shown = compress(screen)
        assert shown.summary.room >= 7
        await screen.press("tab", "tab")
        assert shown.focused is shown.summary
        assert shown.summary.room >= 10
        assert shown.list.size.height == 1, "the list folds to the row of the cursor"
        await screen.press("escape")
        assert shown.list.size.height == 3


async def test_a_marker_shows_its_tokens_opens_in_place_and_closes(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n")
        marker = compress(screen).markers.folds(compress(screen).data.current_preview)[0].marker
        assert marker.adds > 0
        assert status_text(screen) == f"Expand for more detail: +{marker.adds:,} tokens"
        before = summary(screen)
        assert "[→more:s1:" not in before
        await screen.press("enter")
        assert "[→more:s1:" in summary(screen), "the nearer level stands below its marker"
        assert f"-{marker.adds:,} tok" in summary(screen)
        await screen.press("enter")
        assert summary(screen) == before
        assert status_text(screen) == f"Expand for more detail: +{marker.adds:,} tokens"


async def test_a_marker_within_expanded_text_opens_the_original(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n", "enter", "n", "enter")
        assert len(compress(screen).markers.opened) == 2
        assert "kiosk waited while `tray_13` was empty" in " ".join(
            summary(screen).replace("│", " ").split()
        )
        await screen.press("N", "enter")
        assert not compress(screen).markers.opened, "closing the outer one closes what is within"


async def test_tab_into_the_summary_chooses_its_marker(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "tab")
        assert compress(screen).focused is compress(screen).summary
        assert "Expand for more detail" in status_text(screen)


async def test_a_click_on_a_marker_opens_it(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n")
        pane = compress(screen).summary
        row = next(y for y in range(pane.size.height) if "[→detail" in pane.render_line(y).text)
        await screen.pilot.click(pane, offset=(3, row))
        await screen.settle()
        assert compress(screen).markers.opened


async def test_another_level_closes_everything(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n", "enter", "2", "3")
        assert not compress(screen).markers.opened


async def test_tags_have_no_markers(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "4", "enter")
        assert "nothing to expand" in status_text(screen)


async def test_a_marker_that_somebody_wrote_is_only_text(engine: Engine, tmp_path: Path) -> None:
    import json

    path = tmp_path / "forged.jsonl"
    text = "Look: [→detail:s1] and [→detail:s9] were printed by the tool. " * 4
    path.write_text(json.dumps({"role": "user", "content": text}) + "\n", "utf-8")
    engine.contexts.import_file(path, project="acme")
    async with opened(engine, project="acme") as screen:
        await screen.press("f4", "2")
        model = compress(screen).data
        content = present(model.shown(present(model.choice))).compressed.content
        forged = content.index("[→detail:s1]") if "[→detail:s1]" in content else -1
        assert all(
            fold.marker.start != forged
            for fold in compress(screen).markers.folds(compress(screen).data.current_preview)
        )


async def test_headings_of_a_summary_are_jump_marks(kiosk: Engine) -> None:
    async with opened(kiosk, size=(80, 24), project="acme") as screen:
        await screen.press("f4", "2", "right_curly_bracket")
        assert compress(screen).focused is compress(screen).summary
        await screen.press("right_curly_bracket")
        assert status_text(screen) == "Course:"
        assert summary(screen).count("Request:") == 1
        await screen.press("left_curly_bracket")
        assert status_text(screen) == "Request:"
        await screen.press("left_curly_bracket")
        assert "no other heading" in status_text(screen)


async def test_previews_that_take_long_say_how_many_are_left(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewer.tui.compress.screen.MANY_PREVIEWS", 2)
    go_on = threading.Event()
    kind = type(machines.compression)
    preview = kind.preview

    def slow(self: Any, *given: Any, **more: Any) -> Preview:
        go_on.wait(5)
        return preview(self, *given, **more)

    monkeypatch.setattr(kind, "preview", slow)
    async with opened(machines, project="acme") as screen:
        await screen.pilot.press("f4")
        await screen.until(lambda: " previews to go" in screen.text)
        await screen.pilot.press("j")  # nothing waits for them
        go_on.set()
        await screen.settle()
        assert "to go" not in screen.text
        assert compress(screen).data.whole().exact
