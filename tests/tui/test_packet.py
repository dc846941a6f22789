"""What an agent would get, on the screen: every key, every empty state, three sizes."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from reviewer.engine import Engine
from reviewer.text.tokens import counter
from reviewer.tui.screens import packet_filter
from reviewer.tui.screens.packet import PacketScreen
from reviewer.tui.screens.packet_model import (
    BUDGETS,
    ItemRow,
    PacketModel,
    SectionRow,
    matches,
    step_budget,
    text_of,
)
from reviewer.tui.screens.packet_reading import PacketReading
from reviewer.tui.screens.source import SourceScreen
from reviewer.tui.widgets.bars import StatusBar
from reviewer.tui.widgets.packet_budget import budget_at, place_of
from tests.tui.conftest import Screen, opened
from tests.unit.packets.conftest import FILES

SIZES = [(118, 34), (80, 24), (60, 20)]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


@pytest.fixture
def kiosk(tmp_path: Path) -> Path:
    """A context folder where reviewer is started."""
    folder = tmp_path / "work" / ".context"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def remembering(engine: Engine) -> Engine:
    """A store with a little of everything."""
    for type_, text in (
        ("preference", "We prefer thermal paper without BPA"),
        ("decision", "We will use a scale for the counting of coins"),
        ("knowledge", "A paper jam is reported after forty seconds"),
    ):
        engine.triage.promote(engine.entities.author("kiosk", type_, text).ids)
    engine.state.set("kiosk", "paper width", "80 mm")
    return engine


def shown(screen: Screen) -> PacketScreen:
    found = screen.app.screen
    assert isinstance(found, PacketScreen)
    return found


def model(screen: Screen) -> PacketModel:
    return shown(screen).model


def said(screen: Screen) -> str:
    return screen.app.screen.query_one(StatusBar).text


def packet_text(screen: Screen) -> str:
    return shown(screen).text.plain_text


async def go_to(screen: Screen, title: str) -> None:
    """Put the cursor on the item with that title."""
    rows = model(screen).rows
    at = next(
        n for n, row in enumerate(rows) if isinstance(row, ItemRow) and title in row.item.title
    )
    shown(screen).list.move_to(at)
    await screen.settle()


async def typed(screen: Screen, key: str, text: str) -> None:
    """Open a field, replace what stands in it, take it."""
    await screen.press(key)
    shown(screen).prompt.field.fill("")
    await screen.press(*("space" if sign == " " else sign for sign in text), "enter")


async def test_the_store_is_what_is_shown_first(remembering, kiosk):
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f5")
        assert "- paper width = 80 mm" in packet_text(screen)
        assert "forty seconds" in packet_text(screen)
        assert [row.name for row in model(screen).rows if isinstance(row, SectionRow)] == [
            "constitution", "conventions", "decisions", "learnings"
        ]  # fmt: skip


async def test_an_empty_store_shows_the_folder_that_is_near(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        assert shown(screen).reading.folder is not None
        assert "Receipts before drawers" in packet_text(screen)
        await screen.press("S")
        assert "Nothing is active or trusted yet." in screen.text
        assert "S reads the .context folder here" in screen.text
        await screen.press("S")
        assert "Receipts before drawers" in packet_text(screen)


async def test_without_anything_the_way_out_is_said(engine):
    async with opened(engine) as screen:
        await screen.press("f5")
        assert "O opens a .context folder" in screen.text
        await screen.press("S")
        assert "There is no .context folder where reviewer was started" in said(screen)
        await screen.press("P")
        assert said(screen) == "The list is empty."


async def test_a_step_of_the_budget_changes_everything_at_once(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await typed(screen, "b", "500")
        assert shown(screen).reading.budget == 500
        before = model(screen).packet
        await screen.press("<", "<")
        packet = model(screen).packet
        assert packet is not None
        assert before is not None
        assert packet.budget == 0 < before.budget
        assert packet.tokens_used == counter().count(packet.markdown) < before.tokens_used
        assert "over: tier 1 alone needs that" in screen.text
        await screen.press("right", ")")
        assert model(screen).packet.budget == 350
        assert f"used {model(screen).packet.tokens_used}" in screen.text
        await screen.press("(")
        assert model(screen).packet.budget == 250


@pytest.mark.parametrize(
    ("words", "budget"), [("12k", 12_000), ("1,500", 1_500), ("0", 0), ("7", 7)]
)
async def test_a_budget_is_typed(engine, kiosk, words, budget):
    async with opened(engine) as screen:
        await screen.press("f5")
        await typed(screen, "b", words)
        assert model(screen).packet.budget == budget
        assert screen.app.focused is shown(screen).list


async def test_what_is_no_budget_keeps_the_field(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await typed(screen, "b", "-5")
        assert said(screen) == "A budget is a number of tokens, such as 8000 or 8k."
        assert shown(screen).prompt.is_open
        await screen.press("escape")
        assert model(screen).packet.budget == 8_000


async def test_a_complaint_goes_when_the_next_budget_is_taken(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await typed(screen, "b", "9" * 20)
        assert said(screen) == "A budget has at most 1,000,000,000,000 tokens here."
        await typed(screen, "ctrl+u", "900")
        assert said(screen) == ""
        assert model(screen).packet.budget == 900


async def test_the_packet_follows_while_a_task_is_typed_and_escape_takes_it_back(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5", "t", *"scale")
        assert model(screen).packet.task == "scale"
        assert 'task   "scale"' in screen.text
        await screen.press("escape")
        assert model(screen).packet.task == ""
        await typed(screen, "t", "coins scale weight")
        scores = {i.title: i.score.relevance for i in model(screen).packet.items if i.score}
        assert scores["Coins are counted by weight"] == 1.0


async def test_a_date_changes_the_ages(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await typed(screen, "D", "2026-07-26")
        assert "as of 2026-07-26" in screen.text
        await go_to(screen, "Receipts before drawers")
        assert "recency 1.0 (2 days)" in shown(screen).why.plain_text
        await typed(screen, "D", "2030-01-01")
        assert "recency 0.2" in shown(screen).why.plain_text
        await typed(screen, "D", "soon")
        assert said(screen) == "A date is written 2026-02-14."


async def test_an_item_is_explained_and_the_packet_scrolls_to_it(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await go_to(screen, "The hall is cold")
        why = shown(screen).why.plain_text
        assert "in full" in why
        assert "LEARNINGS.md:9 · 2025-12-01" in why
        await screen.press("<")
        assert "Displays start slowly below five degrees." in screen.text
        await screen.press("g")
        assert "whatever the budget is" in shown(screen).why.plain_text
        await screen.press("n")
        assert "40 % of the budget" in shown(screen).why.plain_text
        await screen.press("N")
        assert model(screen).section == "constitution"


async def test_pins_and_mutes_hold_for_this_packet(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await typed(screen, "b", "380")
        await go_to(screen, "The hall is cold")
        assert model(screen).item.state != "full"
        await screen.press("P")
        assert model(screen).item.state == "full"
        assert model(screen).packet.tokens_used <= 380
        assert "●" in screen.text
        await screen.press("m")
        assert model(screen).item.state == "dropped"
        assert "∅" in screen.text
        await screen.press("u")
        assert said(screen) == "Took back 1 choice."
        assert not model(screen).pinned | model(screen).muted
        await screen.press("u")
        assert said(screen).startswith("Nothing is pinned or muted")


async def test_a_pin_that_does_not_fit_says_so(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await typed(screen, "b", "250")
        await go_to(screen, "Receipts before drawers")
        await screen.press("P")
        assert said(screen).startswith("Pinned, but ")
        assert model(screen).packet.tokens_used <= 250


async def test_the_constitution_can_be_neither_pinned_nor_muted(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5", "j")
        for key in ("P", "m"):
            await screen.press(key)
            assert said(screen).startswith("The constitution is always whole")


async def test_two_budgets_show_what_more_tokens_buy(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await typed(screen, "b", "400")
        await screen.press("d")
        assert "400 → 500" in screen.text
        bought = packet_text(screen)
        assert "tokens more buy:" in bought
        changed = [r for r in model(screen).rows if isinstance(r, ItemRow) and r.before]
        assert any(row.before.state != row.item.state for row in changed)
        await typed(screen, "b", "300")
        assert "300 → 400" in screen.text
        await screen.press("d")
        assert said(screen) == "One budget again: 300 tokens."
        await screen.press("d", "escape")
        assert model(screen).kept is None
        assert "# Context packet" in packet_text(screen)


async def test_the_filter_narrows_the_list_and_escape_clears_it(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5", "/", *"coins in:decisions")
        assert {row.item.section for row in model(screen).rows if isinstance(row, ItemRow)} == {
            "decisions"
        }
        await screen.press("enter", "escape")
        assert model(screen).filter == ""
        assert model(screen).shown == len(model(screen).packet.items)


async def test_a_source_is_opened_at_its_line(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        await go_to(screen, "Coins are counted by weight")
        await screen.press("o")
        assert isinstance(screen.app.screen, SourceScreen)
        assert "Coins are counted by weight" in screen.text


async def test_copy_and_write(engine, kiosk, tmp_path):
    async with opened(engine) as screen:
        await screen.press("f5", "y")
        assert screen.app.clipboard == model(screen).packet.markdown
        await screen.press("W")
        target = tmp_path / "packet.md"
        shown(screen).prompt.field.fill(str(target))
        await screen.press("enter")
        assert target.read_text("utf-8") == model(screen).packet.markdown
        target.write_text("by hand")
        await screen.press("W")
        shown(screen).prompt.field.fill(str(target))
        await screen.press("enter")
        assert "is no packet" in said(screen)
        assert target.read_text() == "by hand"


async def test_another_folder_and_one_that_is_none(engine, kiosk, tmp_path):
    other = tmp_path / "bakery"
    other.mkdir()
    async with opened(engine) as screen:
        await screen.press("f5", "O")
        shown(screen).prompt.field.fill(str(other))
        await screen.press("enter")
        assert "no context folder" in said(screen)
        assert "O opens another folder" in screen.text
        await screen.press("d")
        assert said(screen).startswith("There is no packet")
        (other / "TASKS.md").write_text("- [ ] Heat the ovens\n")
        await screen.press("R")
        assert "Heat the ovens" in packet_text(screen)


async def test_what_others_write_is_shown(remembering):
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f5")
        remembering.state.set("kiosk", "lamp", "green")
        shown(screen).reading.watch()
        await screen.settle()
        assert "lamp = green" in packet_text(screen)


async def test_marks_lead_back(remembering):
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f5")
        assert "[m:" not in packet_text(screen)
        await screen.press("M")
        assert "[m:3]" in packet_text(screen)


async def test_nothing_from_outside_is_obeyed(engine, kiosk):
    (kiosk / "TASKS.md").write_text("- [ ] \x1b[2J\u202e [b]now[/b]\n")
    async with opened(engine) as screen:
        await screen.press("f5")
        assert not {"\x1b", "\u202e"} & set(screen.text)
        assert "[b]now[/b]" in screen.text


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ascii_only", [False, True])
async def test_every_size_has_its_place_for_everything(engine, kiosk, size, ascii_only):
    async with opened(engine, size=size, ascii=ascii_only) as screen:
        await screen.press("f5")
        lines = screen.text.split("\n")
        assert max(map(cell_len, lines)) <= size[0]
        assert "8,000" in screen.text
        assert "Constitution" in screen.text
        await screen.press("tab", "tab", "+")
        assert "# Context packet" in screen.text
        assert "Items" not in screen.text
        await screen.press("escape", "G")
        assert "The hall is cold" in screen.text
        await screen.press("d", "t", "x")
        assert max(map(cell_len, screen.text.split("\n"))) <= size[0]
        if ascii_only:
            assert screen.text.isascii()


async def test_clicking_the_slider_chooses_a_budget(engine, kiosk):
    async with opened(engine) as screen:
        await screen.press("f5")
        line = shown(screen).budget_line
        start = line.render_line(0).text.index("━")
        await screen.pilot.click(line, offset=(start, 0))
        await screen.settle()
        assert model(screen).packet.budget == 0


async def test_escape_and_q_go_back_to_the_queue(engine, kiosk):
    async with opened(engine) as screen:
        for key in ("escape", "q"):
            await screen.press("f5", key)
            assert screen.app.screen is screen.queue


def test_the_slider_goes_through_its_steps():
    seen = [0]
    while seen[-1] < BUDGETS[-1]:
        seen.append(step_budget(seen[-1], 1))
    assert tuple(seen) == BUDGETS
    assert step_budget(0, -1) == 0
    assert step_budget(8_100, -1) == 8_000
    assert step_budget(BUDGETS[-1], 1) == 2 * BUDGETS[-1]
    assert step_budget(10**12, 1) == 10**12
    assert step_budget(2 * BUDGETS[-1], -1) == BUDGETS[-1]


def test_a_place_of_the_slider_and_its_budget_agree():
    cells = len(BUDGETS)
    assert [budget_at(place_of(budget, cells), cells) for budget in BUDGETS] == list(BUDGETS)
    places = [place_of(budget, 22) for budget in range(0, 210_000, 37)]
    assert places == sorted(places)
    assert set(places) <= set(range(22))


async def test_filter_words(engine, kiosk):
    from datetime import UTC, datetime

    from reviewer.storeless import assemble, prepare_folder

    prepared = prepare_folder(kiosk, now=datetime(2026, 7, 26, tzinfo=UTC), counting="estimate")
    items = assemble(prepared, 10_000).items
    count = {
        text: sum(matches(item, text, text_of(item)) for item in items)
        for text in ("", "coins", "coins -hand", "in:tasks", "state:full in:learn", "state:title")
    }
    assert count == {
        "": len(items), "coins": 4, "coins -hand": 2, "in:tasks": 3, "state:full in:learn": 2,
        "state:title": 0,
    }  # fmt: skip


async def test_while_it_is_read_the_budget_is_the_one_that_will_be_used(engine, monkeypatch):
    monkeypatch.setattr(PacketReading, "begin", lambda self: None)
    async with opened(engine, size=(80, 24)) as screen:
        await screen.press("f5")
        assert "8,000" in screen.text
        assert "as of today" in screen.text
        assert "Reading ..." in screen.text


async def test_a_long_packet_is_looked_through_when_the_typing_rests(remembering, monkeypatch):
    monkeypatch.setattr(packet_filter, "AT_ONCE", 0)
    monkeypatch.setattr(packet_filter, "REST_SECONDS", 3600)
    async with opened(remembering) as screen:
        await screen.press("f5", "slash")
        everything = model(screen).shown
        await screen.press(*"zzzz")
        assert (model(screen).filter, model(screen).shown) == ("", everything)
        await screen.press("enter")
        assert (model(screen).filter, model(screen).shown) == ("zzzz", 0)
        await screen.press("slash", "escape")
        assert (model(screen).filter, model(screen).shown) == ("", everything)
