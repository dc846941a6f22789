"""The Pipelines screen by its keys: the graph, the reasons for each way, the input of a stage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.pipelines.options import RunOptions
from reviewer.tui.evidence.source import SourceScreen
from tests.tui.conftest import opened
from tests.tui.pipelines.conftest import BAKERY
from tests.tui.pipelines.driving import rows, shown
from tests.tui.views import HOSTILE

SIZES = [(118, 34), (80, 24), (60, 20)]


# the graph


async def test_the_only_pipeline_below_the_folder_is_shown_in_walking_order(
    engine: Engine, bakery: Path
) -> None:
    async with opened(engine, project="acme", on="f6") as screen:
        assert rows(screen) == ["start", "knead", "shape", "bake", "taste", "done"]
        assert "bakery.dot ─ 6 nodes · ! 1" in screen.text
        await screen.press("G", "k")
        assert "<- knead  [N] No  full «dough»" in screen.text


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_grid(
    engine: Engine, bakery: Path, snapshot: object, size: tuple[int, int]
) -> None:
    async with opened(engine, size=size, project="acme") as screen:
        await screen.press("f6", "j", "j", "j")
        assert screen.text == snapshot


async def test_it_is_shown_in_ascii(engine: Engine, bakery: Path) -> None:
    async with opened(engine, size=(80, 24), ascii=True, project="acme") as screen:
        await screen.press("f6", "G")
        await screen.press("k")
        assert screen.text.isascii()


# why


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        (
            ["j"],
            [
                "from start",
                "edge nothing  › full, set by the node  › graph compact",
                "dough, set by the node",
                "from taste  [N] No  full «dough»",
                "full, set by the edge  › node full",
            ],
        ),
        (
            ["j", "j", "j"],
            ["summary:medium, set by the edge  › node sumary:low", "→ taste  compact"],
        ),
    ],
)
async def test_every_way_into_a_node_is_shown_with_its_reasons(
    engine: Engine, bakery: Path, keys: list[str], lines: list[str]
) -> None:
    async with opened(engine, size=(160, 40), project="acme") as screen:
        await screen.press("f6", *keys)
        for line in lines:
            assert line in shown(screen).entry_pane.plain_text


async def test_a_value_that_is_not_a_mode_is_skipped_with_a_remark(
    engine: Engine, bakery: Path
) -> None:
    bakery.write_text(BAKERY.replace('[fidelity="summary:medium"]', ""))
    async with opened(engine, size=(160, 40), project="acme") as screen:
        await screen.press("f6", "j", "j", "j")
        text = shown(screen).entry_pane.plain_text
        assert "node sumary:low (no such mode)" in text
        assert "compact, set by the graph" in text
        assert "unknown fidelity" in text


# the input of a stage


async def test_the_input_is_shown_in_each_mode(engine: Engine, bakery: Path) -> None:
    async with opened(engine, size=(160, 40), project="acme") as screen:
        await screen.press("f6", "j")
        assert "full: 0 turns" in shown(screen).input_pane.title
        assert "no session in this thread yet" in shown(screen).input_pane.plain_text
        for title, text in (
            ("of 3,000 tok, resolved is full", "## Pipeline State (Comprehensive)"),
            ("of 1,500 tok", "## Pipeline Progress"),
            ("of 600 tok", "Last outcome: none."),
            ("of 500 tok", "- Completed stages: none"),
            ("of 100 tok", "Current stage: knead"),
        ):
            await screen.press("less_than_sign")
            assert title in shown(screen).input_pane.title
            assert text in shown(screen).input_pane.plain_text
        await screen.press("less_than_sign")
        assert screen.status == "No shorter mode."
        await screen.press("escape")
        assert "as resolved" in shown(screen).input_pane.title
        await screen.press("greater_than_sign")
        assert shown(screen).input_pane.title == "The last answer of knead"


async def test_copy_takes_the_text_on_the_screen(engine: Engine, bakery: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "y")
        assert screen.app.clipboard.startswith("## Pipeline State\n")
        await screen.press("j", "greater_than_sign", "y")
        assert screen.status == "No text to copy."


async def test_the_source_opens_at_the_line(engine: Engine, bakery: Path) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "j", "o")
        assert isinstance(screen.app.screen, SourceScreen)
        assert "Knead the dough" in screen.text


# files


async def test_an_empty_folder_says_what_to_do(engine: Engine, snapshot: object) -> None:
    async with opened(engine, size=(80, 24), project="acme", on="f6") as screen:
        assert screen.text == snapshot
        await screen.press("escape")
        for key in ("r", "R", "c", "less_than_sign", "y", "o", "E"):
            await screen.press(key)
            assert screen.status.endswith("."), key


async def test_an_invalid_dot_file_names_the_line_and_is_read_again_when_it_changes(
    engine: Engine, bakery: Path
) -> None:
    bakery.write_text("digraph {\n  a [x=\n}")
    async with opened(engine, project="acme", on="f6") as screen:
        assert "bakery.dot:3:1: A value is missing" in screen.text
        assert "E opens it in your editor" in screen.text
        bakery.write_text(BAKERY)
        os.utime(bakery, (1, 1))
        shown(screen).watch_store()
        await screen.settle()
        assert rows(screen)[0] == "start"
        assert "was reloaded" in screen.status


async def test_of_several_pipelines_one_is_chosen(
    engine: Engine, bakery: Path, folder: Path
) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "tea.gv").write_text("digraph tea { start -> brew -> exit }")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "no.dot").write_text("digraph no { a }")
    async with opened(engine, project="acme", on="f6") as screen:
        assert "tea.gv" in screen.text
        assert "no.dot" not in screen.text
        assert "an example" in screen.text
        await screen.press(*"tea", "enter")
        assert rows(screen) == ["start", "brew", "exit"]


async def test_the_text_of_a_file_cannot_control_the_terminal(engine: Engine, bakery: Path) -> None:
    evil = HOSTILE.replace('"', "")
    bakery.write_text(
        f'digraph "{evil}" {{ goal="{evil}" "{evil}" [prompt="{evil}" thread_id="{evil}"'
        f' fidelity=full shape=Mdiamond] "{evil}" -> b [label="{evil}" fidelity="{evil}"] }}'
    )
    async with opened(engine, project="acme", on="f6") as screen:
        for key in ("less_than_sign", "greater_than_sign", "full_stop", "escape", "r"):
            await screen.press(key)
            assert not {character for character in screen.text if character < " "} - {"\n"}
            assert "\u202e" not in screen.text
            assert "\x9b" not in screen.text


# the registry


async def test_a_pipeline_that_ran_elsewhere_is_not_opened_by_itself(
    engine: Engine, bakery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.pipelines.start_run(bakery, "acme", RunOptions(ask=lambda question: "Y"))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    async with opened(engine, project="acme") as screen:
        await screen.press("f6", "escape")
        assert shown(screen).path is None
        await screen.press("enter", *"run of", "enter")
        assert shown(screen).path == bakery
