"""A store with the conversation about the kiosk as a context, long enough for several segments."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reviewer.commits.values import CommitQuery, CompiledMessage
from reviewer.compression.service import Compression
from reviewer.compression.values import AnchorPoint
from reviewer.engine import Engine
from tests.clocks import TickingClock
from tests.unit.compression.making import KIOSK

CompressionOf = Callable[..., Compression]


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the context, made once."""
    path = tmp_path_factory.mktemp("kiosk") / "store.db"
    made = Engine.open(path, clock=TickingClock())
    made.contexts.create("kiosk", "pilot")
    Kiosk(made).fill()
    made.close()
    return path


@pytest.fixture
def engine(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # of models' answers
    shutil.copy(filled, tmp_path / "store.db")
    opened = Engine.open(tmp_path / "store.db", clock=TickingClock())
    yield opened
    assert opened.history.verify().problems == ()
    opened.close()


class Kiosk:
    """The context `pilot`: an instruction, the talk about the kiosk, and filling between."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.id = 1
        self.ids = list(engine.contexts.ids(CommitQuery(self.id)))

    def fill(self) -> None:
        """What the store of every test begins with."""
        self.say("You look after the kiosks.", "system")  # an instruction is pinned by its type
        for text, role in ((text, role) for role, text in KIOSK):
            self.say(text, role)
        for number in range(44):
            self.say(
                f"Kiosk {number} printed {number * 3 + 2} receipts with `queue_{number % 5}.py`; "
                "the log of that hour shows nothing odd besides a short pause of the motor.",
                "assistant" if number % 2 else "user",
            )

    def say(self, text: str, role: str = "user", **more: Any) -> int:
        number = self.engine.contexts.add(self.id, role=role, text=text, **more).row.id
        self.ids.append(number)
        return number

    @property
    def compression(self) -> Compression:
        return self.engine.compression

    def compiled(self) -> list[CompiledMessage]:
        return self.engine.contexts.compile(self.id)

    def texts(self) -> list[str]:
        return [message.text for message in self.compiled()]

    def summaries(self) -> list[CompiledMessage]:
        return [message for message in self.compiled() if message.type == "summary"]

    def anchors(self) -> tuple[AnchorPoint, ...]:
        """The anchors of the first segment."""
        found = self.compression.preview(self.compression.plan(self.id, "brief"))
        return found.segments[0].compressed.anchors

    def chain(self) -> list[tuple[int, str]]:
        rows = self.engine.contexts.rows(self.engine.contexts.ids(CommitQuery(self.id)))
        return [(row.position, row.hash) for row in rows]

    def compress(self, level: str = "brief", **options: Any) -> Any:
        """Plans every segment at the level and applies it."""
        plan = self.compression.plan(self.id, level, **options)
        return self.compression.apply(plan)


@pytest.fixture
def kiosk(engine: Engine) -> Kiosk:
    return Kiosk(engine)


@pytest.fixture
def with_settings(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompressionOf:
    """Compression of the store with a settings file of its own."""

    def made(tier: str = "teams", writer: str = "offline") -> Compression:
        path = tmp_path / "settings.toml"
        path.write_text(
            '[model]\nbase_url = "http://127.0.0.1:1/v1"\nname = "scripted"\n'
            f'[compression]\ntier = "{tier}"\nengine = "{writer}"\n'
        )
        monkeypatch.setenv("REVIEWER_CONFIG", str(path))
        return engine.compression

    return made
