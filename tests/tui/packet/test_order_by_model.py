"""The model orders the titles: the cost comes first, then one call, then the way back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewer.engine import Engine
from reviewer.packets import rerank as rerank_module
from reviewer.packets.values import State
from tests.present import present
from tests.tui.conftest import Screen, opened
from tests.tui.packet.driving import model, shown, status_text, typed
from tests.unit.llm.faults import Behave, endpoint
from tests.waiting import until

TASK = "the receipts of the drawer"


def chooses(*numbers: int) -> Behave:
    needed = [{"n": number, "why": f"reason {number}"} for number in numbers]
    return lambda call: call.streams(json.dumps({"needed": needed}))


def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_url: str, more: str) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "reviewer" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[model]\nbase_url = "{base_url}"\nname = "tiny"\n{more}')


def first_decision(screen: Screen) -> str:
    packet = present(model(screen).packet)
    return next(each.title for each in packet.items if each.score and each.score.chosen)


async def test_the_cost_is_said_before_the_model_is_asked(
    engine: Engine, kiosk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with endpoint(chooses(2)) as server:
        configure(tmp_path, monkeypatch, server.settings().base_url, "price_in = 3.0\n")
        async with opened(engine) as screen:
            await screen.press("f4")
            await typed(screen, "t", TASK)
            await screen.press("A")
            assert "tiny would read" in status_text(screen)
            assert "at most 1,500 out, at most $0.0" in status_text(screen)
            assert not server.calls

            await screen.press("A")
            assert "tiny chose 1 of" in status_text(screen)
            assert len(server.calls) == 1
            assert "ordered by tiny" in screen.text
            chosen = first_decision(screen)

            await screen.press("<")
            assert first_decision(screen) == chosen
            assert len(server.calls) == 1

            await screen.press("A")
            assert "without the model" in status_text(screen)
            assert "ordered by" not in screen.text
            assert len(server.calls) == 1


async def test_another_task_needs_another_look_at_the_cost(
    engine: Engine, kiosk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with endpoint(chooses(1)) as server:
        configure(tmp_path, monkeypatch, server.settings().base_url, "")
        async with opened(engine) as screen:
            await screen.press("f4")
            await typed(screen, "t", TASK)
            await screen.press("A")
            assert "no prices are set" in status_text(screen)
            await typed(screen, "t", "thermal paper")
            await screen.press("A")
            assert "tiny would read" in status_text(screen)
            assert not server.calls


async def test_without_a_task_or_a_model_it_says_what_is_missing(
    engine: Engine, kiosk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    async with opened(engine) as screen:
        await screen.press("f4")
        await screen.press("A")
        assert "t types it" in status_text(screen)
        await typed(screen, "t", TASK)
        await screen.press("A")
        assert "No model is configured" in status_text(screen)
        packet = present(model(screen).packet)
        assert any(each.state is State.FULL for each in packet.items)
        assert shown(screen).packet_task == TASK


async def test_an_order_of_what_the_source_held_before_is_not_shown(
    engine: Engine, kiosk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rerank = rerank_module.rerank
    with endpoint(chooses(2)) as server:
        configure(tmp_path, monkeypatch, server.settings().base_url, "")
        async with opened(engine) as screen:
            await screen.press("f4")
            await typed(screen, "t", TASK)
            packet, before = shown(screen), shown(screen)._prepared

            def read_again_meanwhile(*given: Any) -> Any:
                done = rerank(*given)
                screen.app.call_from_thread(packet._prepare)
                until(lambda: packet._prepared not in (None, before))
                return done

            monkeypatch.setattr(rerank_module, "rerank", read_again_meanwhile)
            await screen.press("A", "A")
            assert not packet.ordered_by
            assert "read again meanwhile" in status_text(screen)
