"""The keys of text fields and editors: none of them is a key that goes to another screen."""

from __future__ import annotations

from textual.widgets import Input

from reviewer.engine import Engine
from reviewer.tui.kit import keys
from reviewer.tui.kit.choice import ChoiceScreen
from reviewer.tui.kit.edit_pane import EditorArea
from reviewer.tui.kit.filter import FilterInput
from tests.tui.conftest import SET_A_VALUE, Screen, opened

SCREEN_KEYS = {
    "f2": "QueueScreen", "f3": "ContextScreen", "f4": "PacketScreen", "f5": "MemoryScreen",
    "f6": "PipelinesScreen", "f7": "AgentsScreen", "f8": "HistoryScreen",
}  # fmt: skip


async def goes_to(screen: Screen, key: str) -> None:
    """Press a key of the tabs; its screen has to be shown."""
    await screen.press(key)
    await screen.until(lambda: type(screen.app.screen).__name__ == SCREEN_KEYS[key])


def edited(screen: Screen) -> str:
    return screen.app.screen.query_one("#edit EditorArea", EditorArea).text


async def test_the_queue_editor_lets_every_tab_key_through_and_keeps_the_text(
    stocked: Engine,
) -> None:
    async with opened(stocked, project="acme") as screen:
        await screen.press("e", *" More")
        text = edited(screen)
        assert text.endswith(" More")
        for key in SCREEN_KEYS:
            await goes_to(screen, key)
            await goes_to(screen, "f2")
            assert edited(screen) == text
        await screen.press("!")
        assert edited(screen) == f"{text}!"


async def test_a_value_that_is_typed_keeps_a_draft(engine: Engine) -> None:
    engine.state.set("acme", "db", "tapes")
    async with opened(engine, project="acme") as screen:
        await screen.press("f5", *SET_A_VALUE, *"region", "enter", *"north")
        await goes_to(screen, "f6")
        await screen.press("f5")
        assert edited(screen) == "north"
        await screen.press("escape")
        assert "the draft is kept" in screen.text
        await screen.press("e", *" and discs")
        await goes_to(screen, "f2")
        await screen.press("f5")
        assert edited(screen) == "tapes and discs"
        assert [each.value for each in engine.state.all("acme")] == ["tapes"]


async def test_the_filter_field_and_the_help_let_a_tab_key_through(stocked: Engine) -> None:
    async with opened(stocked, project="acme") as screen:
        for key in ("f3", "f6", "f5"):
            await screen.press("slash", *"deploy")
            await goes_to(screen, key)
            await goes_to(screen, "f2")
            await screen.press("ctrl+p", "a")
            screen.top(ChoiceScreen)
            await goes_to(screen, key)
            await goes_to(screen, "f2")


def test_no_key_of_a_field_is_one_of_the_keys_that_work_everywhere() -> None:
    everywhere = {
        key
        for action in keys.APP.actions
        if action not in (keys.HOW_TO_QUIT, keys.SUSPEND)
        for key in action.keys.split(",")
        if key
    }
    for kind in (EditorArea, FilterInput, Input):
        bound = set(kind._merged_bindings.key_to_bindings)  # type: ignore[union-attr]
        assert not bound & everywhere, kind.__name__
