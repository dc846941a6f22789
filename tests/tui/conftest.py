"""A store of our own for the screen: a few notes with clusters, and a fixed clock."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
from textual import events
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.strip import Strip
from textual.worker import WorkerCancelled

from reviewer.engine import Engine
from reviewer.tui.app import ReviewerApp
from reviewer.tui.kit import list_screen
from reviewer.tui.kit.bars import StatusBar
from reviewer.tui.queue import screen as queue_screen
from reviewer.tui.queue.model import QueueModel
from tests.tui.idle import count_threads, idle
from tests.waiting import until_async

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

NOTES = """# Decisions

## Decision: Invoices are stored in PostgreSQL 16

We decided to use PostgreSQL 16 for invoices because reports need window functions.

## Decision: Deploys stop on Friday at noon

We will not deploy after Friday noon, since nobody watches the dashboards at the weekend.

## Learnings

- The root cause of the slow export was a missing index on the column `booked_at`.
- It turned out that the staging bucket is emptied every night at two.
- Always run `make check` before you open a pull request.
- Never print a customer's tax number into a log.
- I prefer small pull requests over one large branch.
- Constraint: the nightly close must not take longer than 40 minutes.
"""

SET_A_VALUE = ("full_stop", *"set a value", "enter")
"""In Memory, the way to a value of trusted state."""

SOON = 0.25
"""Seconds: longer than any pane waits for the cursor to rest."""

Shown = TypeVar("Shown")

RULES: dict[tuple[object, ...], list[RuleSet]] = {}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A file of notes with a handful of candidates."""
    path = tmp_path / "notes" / "decisions.md"
    path.parent.mkdir()
    path.write_text(NOTES, "utf-8")
    return path


@pytest.fixture
def engine(tmp_path: Path, empty_store: Path) -> Iterator[Engine]:
    """An empty store at nine thirty."""
    opened = Engine.open(Path(shutil.copy(empty_store, tmp_path)), clock=lambda: NOW)
    yield opened
    opened.close()


@pytest.fixture
def stocked(engine: Engine, notes: Path) -> Engine:
    """A store with the candidates of the notes."""
    engine.intake.ingest([notes], project="acme")
    return engine


@pytest.fixture
def seeded(engine: Engine) -> Engine:
    """A store with two hundred made candidates."""
    engine.intake.seed(200, project="acme")
    return engine


@pytest.fixture(autouse=True)
def _panes_follow_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_screen, "REST_SECONDS", 0.001)
    monkeypatch.setattr(queue_screen, "STATE_SECONDS", 0.001)
    monkeypatch.setattr("textual.screen.UPDATE_PERIOD", 0.001)


@pytest.fixture(autouse=True)
def _keys_wait_for_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is over when the event loop is, not when the processor looks idle."""

    async def over(_shortest: float = 0, _longest: float = 0) -> None:
        await idle()

    count_threads(monkeypatch)
    monkeypatch.setattr("textual.app.wait_for_idle", over)
    monkeypatch.setattr("textual.pilot.wait_for_idle", over)


@pytest.fixture(autouse=True)
def _no_pipeline_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in the working folder changes no screen."""
    monkeypatch.setattr("reviewer.tui.pipelines.model.is_any_pipeline", lambda *_: False)


@pytest.fixture(autouse=True)
def _no_agent_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the developer of this machine has on the PATH changes no screen."""
    monkeypatch.setattr("reviewer.llm.readers.agents_found", lambda _path=None: ())


@pytest.fixture(autouse=True)
def _painted_when_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """No terminal shows the frames between two looks; each look paints the whole screen anew."""

    def unpainted(compositor: Compositor, *_: object, **__: object) -> None:
        compositor._dirty_regions.clear()

    monkeypatch.setattr(Compositor, "render_update", unpainted)


@pytest.fixture(autouse=True)
def _styles_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Apps with the same theme share the rules that come of the same sheet."""
    parse = Stylesheet._parse_rules

    def parsed(sheet: Stylesheet, *where: object, **what: object) -> list[RuleSet]:
        key = (where, *what.items(), *sheet._variables.items())
        if key not in RULES:
            RULES[key] = parse(sheet, *where, **what)  # type: ignore[arg-type]
        return RULES[key]

    monkeypatch.setattr(Stylesheet, "_parse_rules", parsed)


class Screen:
    """An app under test: press keys, then look."""

    def __init__(self, pilot: Pilot[int], app: ReviewerApp) -> None:
        self.pilot = pilot
        self.app = app
        self.queue = app.queue_screen

    async def settle(self) -> None:
        """Wait until no worker and no timer has anything left to show."""
        while True:
            await self.pilot._wait_for_screen()
            await idle(SOON)
            running = [one for one in self.app.workers if not one.is_finished]
            if not running:
                break
            with suppress(WorkerCancelled):  # a later read made an earlier one void
                await self.app.workers.wait_for_complete(running)
        self.app.screen._on_timer_update()

    async def press(self, *keys: str) -> None:
        """Press keys one after another, as a person would."""
        await self.pilot.press(*keys)
        await self.settle()

    async def choose(self, *words: str) -> None:
        """Open the menu and choose in it, and in the questions that follow."""
        await self.press("full_stop")
        for each in words:
            self.app.post_message(events.Paste(each))
            await self.press("enter")

    async def resize(self, size: tuple[int, int]) -> None:
        """Give the terminal another width and height, as a person who drags its corner."""
        await self.pilot.resize_terminal(*size)
        await self.settle()

    @property
    def text(self) -> str:
        """The text of the screen."""
        return "\n".join(strip.text.rstrip() for strip in self.strips)

    @property
    def flowing(self) -> str:
        """The text of the screen as one line."""
        return " ".join(self.text.split())

    @property
    def strips(self) -> list[Strip]:
        """The lines of the screen with their colours."""
        visible_screen_stack.set(self.app._background_screens)
        return self.app.screen._compositor.render_strips()

    def scroll_down(self, selector: str, offset: tuple[int, int]) -> None:
        """Turn the mouse wheel over a place in a widget."""
        widget = self.app.screen.query_one(selector)
        x, y = widget.region.x + offset[0], widget.region.y + offset[1]
        wheel = events.MouseScrollDown(
            widget, x, y, 0, 0, 0, shift=False, meta=False, ctrl=False, screen_x=x, screen_y=y
        )
        self.app.post_message(wheel)

    @property
    def status(self) -> str:
        """The sentence in the status line of the screen that is shown."""
        bars = self.app.screen.query(StatusBar)
        return (bars.first() if bars else self.queue.status).text

    @property
    def model(self) -> QueueModel:
        """The list as values."""
        return self.queue.model

    def top(self, kind: type[Shown]) -> Shown:
        """The screen that is shown, which has to be of this kind."""
        shown: object = self.app.screen
        assert isinstance(shown, kind)
        return shown

    def focused(self, kind: type[Shown]) -> Shown:
        """The widget that gets the keys, which has to be of this kind."""
        widget: object = self.app.focused
        assert isinstance(widget, kind)
        return widget

    async def until(self, true: Callable[[], object]) -> None:
        """Wait for what a worker or a timer brings; on a failure say what is shown."""
        try:
            await until_async(true)
        except TimeoutError:
            raise AssertionError(f"it never came:\n{self.text}") from None


def status_of(engine: Engine, number: int) -> str:
    """The status of a candidate, as it is written."""
    return engine.queue.candidate(number).status.value


@asynccontextmanager
async def opened(
    engine: Engine,
    *,
    size: tuple[int, int] = (118, 34),
    project: str | None = None,
    on: str = "f2",
    **options: object,
) -> AsyncIterator[Screen]:
    """The program on a store, settled; `on` is the key of the screen that it shows."""
    app = ReviewerApp(engine, project, **options)  # type: ignore[arg-type]
    async with app.run_test(size=size) as pilot:
        screen = Screen(pilot, app)
        await screen.settle()
        if on != "f2":
            await screen.press(on)
        yield screen
        if app.is_running:
            assert screen.strips  # what no test looks at has to be paintable too


@pytest.fixture
async def screen(stocked: Engine) -> AsyncIterator[Screen]:
    """The queue over the candidates of the notes."""
    async with opened(stocked) as shown:
        yield shown
