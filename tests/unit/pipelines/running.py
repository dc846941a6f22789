"""What the tests of runs share: a model that answers by a script, and a store of its own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reviewer.pipelines.events import Event, RunDone
from reviewer.pipelines.options import RunOptions
from reviewer.pipelines.runner import Timing
from reviewer.pipelines.service import Pipelines
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from tests.unit.llm.scripted import Scripted


def did(prompt: str) -> str:
    """What a model answers that is given nothing else to say."""
    return f"did: {prompt.splitlines()[-1]}"


class Workshop:
    """A store, a model and a place for pipelines."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database(folder / "store.db")
        self.ledger = Ledger(self.database, actor="tester", clock=self.clock)
        self.slept: list[float] = []
        self.runs = self.reopened()
        self.model = Scripted(did)
        self.events: list[Event] = []

    def reopened(self) -> Pipelines:
        """The runs as another program, with no session in memory, would have them."""
        timing = Timing(sleep=self.slept.append, seconds=lambda: 0.0, random=lambda: 1.0)
        self.runs = Pipelines(self.database, self.ledger, self.clock, timing=timing)
        return self.runs

    @staticmethod
    def clock() -> datetime:
        """Noon on 1 March 2026, always."""
        return datetime(2026, 3, 1, 12, tzinfo=UTC)

    def write(self, body: str, name: str = "brew", attributes: str = "") -> Path:
        """A pipeline file with a start and a done."""
        path = self.folder / f"{name}.dot"
        path.write_text(
            f"digraph {name} {{ {attributes}\n"
            f"start [shape=Mdiamond]; done [shape=Msquare]\n{body}\n}}",
            encoding="utf-8",
        )
        return path

    def start(self, path: Path, **options: Any) -> RunDone:
        """A run with the scripted model."""
        return self.runs.start_run(path, "tea", self._options(options))

    def resume(self, target: str, **options: Any) -> RunDone:
        """The same run gone on with, by a program that knows no session."""
        return self.reopened().resume_run(target, self._options(options))

    def _options(self, options: dict[str, Any]) -> RunOptions:
        given: dict[str, Any] = {"model": self.model, "watch": self.events.append}
        return RunOptions(**given | options)

    def nodes(self, done: RunDone) -> list[str]:
        """The nodes that a run went through."""
        return self.runs.checkpoint(done.run_id).completed_nodes

    def conversation_with(self, at: int) -> list[tuple[str, str]]:
        """Role and last line of each message of a call."""
        return [(each.role, each.content.splitlines()[-1]) for each in self.model.asked[at]]
