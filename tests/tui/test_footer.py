"""The footer offers the keys that can be used now, and the whole names of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.tui.conftest import Screen, opened
from tests.tui.context.driving import stocked as with_context


def footer(text: str) -> str:
    """The last line, with single spaces."""
    return " ".join(text.splitlines()[-1].split())


async def test_it_names_the_keys_of_the_focused_pane(screen: Screen) -> None:
    assert footer(screen.text).startswith("a promote x reject enter read u undo / filter e edit")
    await screen.press("slash")
    assert footer(screen.text) == "enter keep esc clear F1 help"


async def test_drawing_it_asks_no_store(
    stocked: Engine, monkeypatch: pytest.MonkeyPatch, screen: Screen
) -> None:
    def asked(*_: object) -> None:
        raise AssertionError("the footer asked the store")

    monkeypatch.setattr(type(stocked.history), "next_undo", asked)
    await screen.press("j", "space", "k", "tab", "tab")
    assert "promote 1 marked" in footer(screen.text)
    screen.model.forget()  # as after many other rows, or another program's writing
    with monkeypatch.context() as patch:
        patch.setattr(screen.model, "_fetch", asked)
        screen.queue.show_footer()
    assert "promote 1 marked" in footer(screen.text)


@pytest.mark.parametrize("key", ["f2", "f3", "f4", "f5", "f6"])
async def test_menu_and_help_are_never_cut(
    stocked: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(stocked, size=(50, 20), project="acme") as screen:
        await screen.press(key, "escape", "*")
        for width in range(50, 124, 6):
            await screen.resize((width, 20))
            assert footer(screen.text).endswith(". more ? help")


@pytest.mark.parametrize(
    ("width", "words"),
    [(80, "enter read u undo / filter e edit"), (60, "x reject enter read u undo")],
)
async def test_the_queue_footer_names_reading_and_the_way_back_where_it_is_narrow(
    stocked: Engine, width: int, words: str
) -> None:
    async with opened(stocked, size=(width, 24)) as screen:
        assert f"{words} . more ? help" in footer(screen.text)


async def test_it_offers_no_key_with_nothing_behind_it(
    stocked: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    stocked.state.set("acme", "db", "Tapes")
    async with opened(stocked, project="acme") as screen:
        await screen.press("f5", "e")
        assert (
            footer(screen.text)
            == "ctrl+s save esc keep draft tab text or changes ctrl+u empty F1 help"
        )
        assert "{ } turn" not in screen.text
        await screen.press("!", "tab")
        await screen.until(lambda: "{ } turn" in screen.text)
        await screen.press("escape")
        await screen.press("f7")
        assert "disconnect" not in footer(screen.text)


async def test_a_rejected_row_is_not_offered_for_a_decision(screen: Screen) -> None:
    assert "a promote x reject" in footer(screen.text)
    await screen.press("x")
    await screen.choose("other rows", "rejected")
    assert footer(screen.text).startswith("enter read u undo")


async def test_among_deferred_rows_s_puts_back(screen: Screen) -> None:
    first = screen.model.ids[0]
    await screen.press("s")
    await screen.choose("other rows", "deferred")
    assert "s put back" in footer(screen.text)
    await screen.press("s")
    assert screen.status == f"Put #{first} back into the queue - u to undo"
    await screen.press("s")
    assert screen.status == f"#{first} is already waiting in the queue."


@pytest.mark.parametrize(("width", "more"), [(60, ""), (80, " 1 to 4 level")])
async def test_the_context_footer_names_first_what_is_needed_first(
    engine: Engine, tmp_path: Path, width: int, more: str
) -> None:
    with_context(engine, tmp_path)
    async with opened(engine, size=(width, 24), project="acme", on="f3") as screen:
        assert footer(screen.text) == (
            f"a apply u undo f fit enter turns P pin{more} . more ? help"
        )
