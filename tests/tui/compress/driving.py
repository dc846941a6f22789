"""Driving the Compress screen in tests: a context about a kiosk, and a scripted model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.llm import open_model
from reviewer.llm.model import CancelledError, ChatMessage, Completion, ModelError
from reviewer.tui.compress.screen import CompressScreen
from tests.tui.conftest import Screen

KIOSK = (
    ("user", "The kiosk prints receipts too slowly. The budget is $50k, hard stop 2026-03-31."),
    (
        "assistant",
        "I looked at the print queue. `print_queue.py` opens the port for every receipt, which "
        "takes 900 ms. The spooler in `spool/driver.py` could keep it open between customers.",
    ),
    ("user", "No, do not touch the driver: the vendor list must stay as it is until legal signs."),
    (
        "assistant",
        "Understood. We decided to keep the connection in `print_queue.py` and leave the driver "
        "alone. I will fix the bug in `reconnect()` before Friday. Most of the time goes into the "
        "handshake of the port, as ten customers in a row have shown.",
    ),
    (
        "assistant",
        "The first run failed: PrinterError: paper sensor did not answer within 20 seconds. After "
        "a restart of the sensor the run went through, and the receipts came out in 310 ms each.",
    ),
    (
        "assistant",
        " ".join(
            f"Customer {number} of the kiosk waited while `tray_{number}` was empty, and the log "
            f"of hour {number} shows a short pause of the paper motor before the cut."
            for number in range(2, 14)
        ),
    ),
    ("user", "I prefer small commits. Should the drawer stay closed until the terminal answers?"),
)
TOPICS = ("kiosk", "tram", "ferry", "tower")


def turns(topics: int) -> list[dict[str, str]]:
    """The conversation for some machines, an hour apart, so that each becomes a segment."""
    found = []
    for hour, topic in enumerate(TOPICS[:topics]):
        for minute, (role, text) in enumerate(KIOSK):
            text = text.replace("kiosk", topic).replace("print_queue", f"{topic}_queue")
            at = f"2026-02-0{hour + 1}T1{hour}:0{minute}:00Z"
            found.append({"role": role, "content": text, "timestamp": at})
    return found


def stocked(engine: Engine, folder: Path, topics: int = 1, name: str = "kiosk") -> int:
    """A context with a segment a machine; its id."""
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in turns(topics)) + "\n", "utf-8")
    return engine.contexts.import_file(path, project="acme").context.id


def compress(screen: Screen) -> CompressScreen:
    found = screen.app.screen
    assert isinstance(found, CompressScreen)
    return found


def status_text(screen: Screen) -> str:
    return compress(screen).status.text


def levels(screen: Screen) -> str:
    """The level of every segment, a letter each."""
    plan = compress(screen).data.plan
    return "".join(each.level.name[0] for each in plan.choices) if plan else ""


def chain(engine: Engine, context: int = 1) -> list[str]:
    """The types of a context's commits, in order."""
    return [row.type for row in engine.contexts.rows(engine.contexts.ids(CommitQuery(context)))]


def lost(screen: Screen) -> list[str]:
    return [row.text for row in compress(screen).lost.rows if not row.pinned]


class ScriptedModel:
    """Answers one after the other, the last again and again; errors are raised.

    With a `gate` it writes a first word, then waits until the gate opens or somebody stops it.
    """

    name = "scripted"

    def __init__(self, *script: str | Exception, gate: threading.Event | None = None) -> None:
        self.script = list(script)
        self.asked = 0
        self.gate = gate
        self.prompts: list[str] = []

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        max_tokens: int,
        temperature: float = 0.3,
        cancelled: Callable[[], bool] | None = None,
        on_text: Callable[[str], None] | None = None,
    ) -> Completion:
        self.prompts.append("\n".join(each.content for each in messages))
        answer = self.script[min(self.asked, len(self.script) - 1)]
        self.asked += 1
        if isinstance(answer, Exception):
            raise answer
        first, _, rest = answer.partition(" ")
        if on_text is not None:
            on_text(first)
        while self.gate is not None and not self.gate.wait(0.01):
            if cancelled is not None and cancelled():
                raise CancelledError("Stopped.")
        if on_text is not None:
            on_text(f" {rest}")
        return Completion(answer, self.name, 50, len(answer) // 4)


def with_model(monkeypatch: pytest.MonkeyPatch, engine: Engine, model: ScriptedModel) -> None:
    """Let the settings name that model."""
    monkeypatch.setattr(open_model, "open_model", lambda settings: model)
    monkeypatch.setattr(type(engine.compression.engines), "concurrency", lambda self, engine: 1)


def unreachable() -> ModelError:
    return ModelError("The model at 127.0.0.1:9 does not answer. Is it running?")


def summary(screen: Screen) -> str:
    """The pane of the summary."""
    return compress(screen).summary.plain_text


def original(screen: Screen) -> str:
    """The pane of the original."""
    return compress(screen).original.plain_text


def checks(screen: Screen) -> str:
    """The pane of the checks."""
    return compress(screen).checks.plain_text
