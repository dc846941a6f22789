"""Where a packet comes from: the store, a folder that is near, another; and the way back there."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.packets import assembly as packets_assembly
from reviewer.packets.prepared import Prepared
from reviewer.packets.values import Packet
from reviewer.tui.evidence.source import SourceScreen
from reviewer.tui.packet import screen as packet_screen
from reviewer.tui.packet.model import SectionRow
from reviewer.tui.packet.screen import PacketScreen
from tests.present import present
from tests.tui.conftest import opened
from tests.tui.packet.driving import go_to, model, packet_text, shown, status_text


async def test_the_store_is_shown_first(remembering: Engine, kiosk: Path) -> None:
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f4")
        assert "- paper width = 80 mm" in packet_text(screen)
        assert "forty seconds" in packet_text(screen)
        assert [row.name for row in model(screen).rows if isinstance(row, SectionRow)] == [
            "constitution", "conventions", "decisions", "learnings"
        ]  # fmt: skip


async def test_an_empty_store_shows_the_folder_that_is_near(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        assert shown(screen).folder is not None
        assert "Receipts before drawers" in packet_text(screen)
        await screen.press("S")
        assert "Nothing is active or trusted yet." in screen.text
        assert "S reads the .context folder here" in screen.text
        await screen.press("S")
        assert "Receipts before drawers" in packet_text(screen)


async def test_an_empty_packet_says_how_to_fill_it(engine: Engine) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        assert "O opens a .context folder" in screen.text
        await screen.press("S")
        assert "There is no .context folder where reviewer was started" in status_text(screen)
        await screen.press("P")
        assert status_text(screen) == "The list is empty."


async def test_another_folder_and_one_that_is_none(
    engine: Engine, kiosk: Path, tmp_path: Path
) -> None:
    other = tmp_path / "bakery"
    other.mkdir()
    async with opened(engine) as screen:
        await screen.press("f4", "O")
        shown(screen).prompt.field.fill(str(other))
        await screen.press("enter")
        assert "not a context folder" in status_text(screen)
        assert "O opens another folder" in screen.text
        await screen.press("d")
        assert status_text(screen).startswith("There is no packet")
        (other / "TASKS.md").write_text("- [ ] Heat the ovens\n")
        await screen.press("ctrl+l")
        assert "Heat the ovens" in packet_text(screen)


async def test_what_others_write_is_shown(remembering: Engine) -> None:
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f4")
        remembering.state.set("kiosk", "lamp", "green")
        shown(screen).watch_store()
        await screen.settle()
        assert "lamp = green" in packet_text(screen)


async def test_while_it_is_read_the_budget_is_the_one_that_will_be_used(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PacketScreen, "reload", lambda self: None)
    async with opened(engine, size=(80, 24)) as screen:
        await screen.press("f4")
        assert "8,000" in screen.text
        assert "as of today" in screen.text
        assert "Loading ..." in screen.text


async def test_a_source_is_opened_at_its_line(engine: Engine, kiosk: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4")
        await go_to(screen, "Coins are counted by weight")
        await screen.press("o")
        assert isinstance(screen.app.screen, SourceScreen)
        assert "Coins are counted by weight" in screen.text


async def test_marks_lead_back(remembering: Engine) -> None:
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f4")
        assert "[m:" not in packet_text(screen)
        await screen.press("M")
        assert "[m:3]" in packet_text(screen)


async def test_copy_and_write(engine: Engine, kiosk: Path, tmp_path: Path) -> None:
    async with opened(engine) as screen:
        await screen.press("f4", "y")
        assert screen.app.clipboard == present(model(screen).packet).markdown
        await screen.press("W")
        target = tmp_path / "packet.md"
        shown(screen).prompt.field.fill(str(target))
        await screen.press("enter")
        assert target.read_text("utf-8") == present(model(screen).packet).markdown
        target.write_text("by hand")
        await screen.press("W")
        shown(screen).prompt.field.fill(str(target))
        await screen.press("enter")
        assert "is not a packet" in status_text(screen)
        assert target.read_text() == "by hand"


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Packets of 12,000 tokens are assembled in a thread; the first waits for the second event."""
    waits, may_end = threading.Event(), threading.Event()
    assemble = packets_assembly.assemble

    def assembled(prepared: Prepared, budget: int, **choices: frozenset[str]) -> Packet:
        if budget == 12_000 and not waits.is_set():
            waits.set()
            assert may_end.wait(30)
        return assemble(prepared, budget, **choices)

    monkeypatch.setattr(packet_screen, "SYNC_ITEMS", 0)
    monkeypatch.setattr(packet_screen, "assemble", assembled)
    return waits, may_end


async def test_a_late_packet_of_the_folder_before_is_not_shown(
    engine: Engine, kiosk: Path, tmp_path: Path, slow: tuple[threading.Event, threading.Event]
) -> None:
    waits, may_end = slow
    bakery = tmp_path / "bakery"
    bakery.mkdir()
    (bakery / "TASKS.md").write_text("- [ ] Heat the ovens\n")
    async with opened(engine) as screen:
        await screen.press("f4")
        shown(screen).more()
        await screen.until(waits.is_set)
        await screen.pilot.press("O")
        shown(screen).prompt.field.fill(str(bakery))
        await screen.pilot.press("enter")
        await screen.until(lambda: "Heat the ovens" in packet_text(screen))
        may_end.set()
        await screen.settle()
        await screen.press("<")
        assert "Heat the ovens" in packet_text(screen)
        assert present(model(screen).packet).budget == 8_000


async def test_choices_made_while_a_source_is_read_apply_to_its_packet(
    engine: Engine, kiosk: Path, slow: tuple[threading.Event, threading.Event]
) -> None:
    waits, may_end = slow
    async with opened(engine) as screen:
        await screen.press("f4")
        shown(screen).more()
        await screen.until(waits.is_set)
        shown(screen).less()
        shown(screen).less()
        may_end.set()
        await screen.until(lambda: present(model(screen).packet).budget == 6_000)


async def test_the_store_and_the_folder_together_and_back(remembering: Engine, kiosk: Path) -> None:
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f4")
        assert "Receipts before drawers" not in packet_text(screen)
        await screen.press("B")
        assert "Receipts before drawers" in packet_text(screen)
        assert "forty seconds" in packet_text(screen)
        assert "kiosk and work/.context" in screen.text
        await screen.press("f2", "f4")
        assert "kiosk and work/.context" in screen.text
        await go_to(screen, "Receipts before drawers")
        await screen.press("o")
        assert isinstance(screen.app.screen, SourceScreen)
        await screen.press("escape", "B")
        assert "Receipts before drawers" not in packet_text(screen)


async def test_both_sources_need_a_folder(remembering: Engine) -> None:
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f4", "B")
        assert "There is no .context folder where reviewer was started" in status_text(screen)


async def test_the_source_is_chosen_as_on_the_command_line_and_named(
    remembering: Engine, kiosk: Path
) -> None:
    async with opened(remembering, project="kiosk") as screen:
        await screen.press("f4")
        assert shown(screen).folder is None
        assert status_text(screen).startswith("From the store, without ")
        assert status_text(screen).endswith(".context: B reads it too.")
        assert "store: kiosk" in screen.text


async def test_what_other_projects_remember_does_not_keep_the_folder_away(
    remembering: Engine, kiosk: Path
) -> None:
    async with opened(remembering, project="bakery") as screen:
        await screen.press("f4")
        assert shown(screen).folder == kiosk
        assert status_text(screen).endswith("the store has nothing for this project.")


async def test_the_folder_at_the_root_of_the_work_tree_is_found(
    engine: Engine, kiosk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (kiosk.parent / ".git").mkdir()
    (kiosk.parent / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(kiosk.parent / "deep" / "down")
    async with opened(engine) as screen:
        await screen.press("f4")
        assert "Receipts before drawers" in packet_text(screen)
