"""The Compress screen by its keys: markers in a summary, what they add, opening and closing."""

from __future__ import annotations

from tests.tui.compress.driving import (
    compress,
    said,
    summary,
)
from tests.tui.conftest import opened


async def test_a_marker_says_what_it_adds_opens_in_place_and_closes(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n")
        marker = compress(screen).markers.folds(compress(screen).data.current_preview)[0].marker
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
        assert len(compress(screen).markers.opened) == 2
        assert "kiosk waited while `tray_13` was empty" in " ".join(
            summary(screen).replace("│", " ").split()
        )
        await screen.press("N", "enter")
        assert not compress(screen).markers.opened, "closing the outer one closes what is within"


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
        assert compress(screen).markers.opened


async def test_another_level_closes_everything(kiosk):
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "n", "enter", "2", "3")
        assert not compress(screen).markers.opened


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
        model = compress(screen).data
        content = model.shown(model.choice).compressed.content
        forged = content.index("[→detail:s1]") if "[→detail:s1]" in content else -1
        assert all(
            fold.marker.start != forged
            for fold in compress(screen).markers.folds(compress(screen).data.current_preview)
        )
