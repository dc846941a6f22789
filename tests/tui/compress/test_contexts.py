"""The Compress screen: the context that is shown, changes by others, an empty context."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from reviewer.commits.values import CommitQuery
from reviewer.compression.plan import Plan
from reviewer.compression.preview import Watch
from reviewer.compression.values import Segment
from reviewer.engine import Engine
from reviewer.tui.commits.screen import CommitsScreen
from reviewer.tui.compress import reading
from reviewer.tui.compress.model import CompressModel
from reviewer.tui.queue.screen import QueueScreen
from tests.present import present
from tests.tui.compress.driving import (
    chain,
    compress,
    levels,
    status_text,
    stocked,
)
from tests.tui.conftest import opened


async def test_c_on_the_commits_screen_begins_at_its_commit(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f3", "G", "k", "c")
        shown = compress(screen)
        begin = machines.contexts.ids(CommitQuery(1))[-2]
        assert shown.start == begin
        assert shown.data.segments[0].turns[0].commit == begin
        assert len(shown.data.segments) == 1
        await screen.press("b")
        assert len(compress(screen).data.segments) == 4


async def test_the_context_of_the_commits_screen_is_the_one_here(
    engine: Engine, tmp_path: Path
) -> None:
    stocked(engine, tmp_path, name="first")
    stocked(engine, tmp_path, 2, name="second")
    async with opened(engine, project="acme") as screen:
        await screen.press("f3")
        commits = screen.app.screen
        assert isinstance(commits, CommitsScreen)
        await screen.press("t")
        shown = commits.context
        assert shown is not None
        await screen.press("f4")
        assert present(compress(screen).context).id == shown.id
        await screen.press("t")
        assert present(compress(screen).context).id != shown.id


async def test_levels_are_still_chosen_after_another_screen(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4", "j", "2", "f3", "f4")
        assert levels(screen) == "TDFF"


async def test_somebody_else_moves_the_head_meanwhile(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4", "4")
        other = Engine.open(machines.path)
        other.contexts.add(1, role="user", text="And the receipts have to be blue from now on.")
        other.close()
        compress(screen).watch_store()
        await screen.settle()
        assert "changed meanwhile" in status_text(screen)
        assert "receipts have to be blue" in " ".join(
            turn.text for turn in compress(screen).data.segments[-1].turns
        )
        assert levels(screen)[0] == "T", "what was chosen for the same commits is kept"


async def test_a_context_that_changed_meanwhile_is_not_written(machines: Engine) -> None:
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        other = Engine.open(machines.path)
        other.contexts.add(1, role="user", text="And the receipts have to be blue from now on.")
        other.close()
        await screen.press("A")
        assert "summary" not in chain(machines)
        assert "changed" in status_text(screen)
        await screen.press("A")
        assert "summary" in chain(machines), "it was read again, so the next key applies it"


async def test_no_context(engine: Engine) -> None:
    async with opened(engine, project="acme") as screen:
        await screen.press("f4")
        assert "No contexts yet" in screen.text
        await screen.press("A", "3", "e", "enter", "f")
        assert "There is no context yet" in status_text(screen)


async def test_only_pins(kiosk: Engine) -> None:
    kiosk.contexts.annotate(list(kiosk.contexts.ids(CommitQuery(1))), priority="pinned")
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4")
        assert "has only pinned commits" in " ".join(screen.text.split())
        await screen.press("3", "A")
        assert "nothing to compress" in status_text(screen).lower()


async def test_only_skips(kiosk: Engine) -> None:
    kiosk.contexts.annotate(list(kiosk.contexts.ids(CommitQuery(1))), priority="skip")
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "3", "A")
        assert "summary" not in chain(kiosk)


async def test_escape_leaves_one_thing_at_a_time(kiosk: Engine) -> None:
    async with opened(kiosk, project="acme") as screen:
        await screen.press("f4", "tab", "plus", "escape")
        assert compress(screen).zoomed is None
        await screen.press("tab", "escape")
        assert compress(screen).focused is compress(screen).list
        await screen.press("escape")
        assert compress(screen).is_active, "escape never leaves the screen"
        await screen.press("q")
        assert isinstance(screen.app.screen, QueueScreen)


async def test_a_long_context_shows_its_first_part_before_the_rest(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LONG", 10)
    monkeypatch.setattr(reading, "FIRST_PART", 7)
    shown: list[int] = []
    original = CompressModel.load

    def load(self: CompressModel, segments: list[Segment], *rest: Any) -> list[str]:
        shown.append(len(segments))
        return original(self, segments, *rest)

    monkeypatch.setattr(CompressModel, "load", load)
    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        assert shown == [1, 4]
        assert not compress(screen).partial
        assert levels(screen) == "BBFF"


async def test_escape_stops_before_anything_is_written(
    machines: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    kind = type(machines.compression)
    preview = kind.preview

    def slow(self: Any, plan: Plan, watch: Watch | None = None, **more: Any) -> object:
        if watch is not None:
            begun.set()
            go_on.wait(5)
        return preview(self, plan, watch, **more)

    async with opened(machines, project="acme") as screen:
        await screen.press("f4")
        monkeypatch.setattr(kind, "preview", slow)
        await screen.pilot.press("A")
        await screen.until(begun.is_set)
        assert compress(screen).running
        await screen.pilot.press("escape")
        go_on.set()
        await screen.settle()
        assert status_text(screen) == "Stopped: nothing was written."
        assert "summary" not in chain(machines)
