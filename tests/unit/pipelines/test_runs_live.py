"""A screen starts a run in a thread of its own, answers it and cancels it from another."""

from __future__ import annotations

import threading
from queue import SimpleQueue

from reviewer.pipelines.events import RunDone, StageQuestion
from reviewer.pipelines.service import RunOptions
from tests.unit.pipelines.running import Workshop
from tests.waiting import PATIENCE

GATE = """
gate [shape=hexagon]
start -> gate
gate -> done [label=Yes]; gate -> gate [label=Again]
"""


class Watched:
    """A run in a thread, which waits for each answer; `asked` is set whenever it asks."""

    def __init__(self, workshop: Workshop) -> None:
        self.asked = threading.Event()
        self.answers: SimpleQueue[str | None] = SimpleQueue()
        self.ended: list[RunDone] = []
        self.cancelled = threading.Event()
        path = workshop.write(GATE)
        self.thread = threading.Thread(
            target=lambda: self.ended.append(
                workshop.runs.start_run(
                    path, "tea", RunOptions(), ask=self.ask, cancelled=self.cancelled.is_set
                )
            )
        )
        self.thread.start()

    def ask(self, question: StageQuestion) -> str | None:
        self.asked.set()
        return self.answers.get(timeout=PATIENCE)

    def answer(self, text: str | None) -> None:
        assert self.asked.wait(PATIENCE)
        self.asked.clear()
        self.answers.put(text)

    def end(self) -> RunDone:
        self.thread.join(PATIENCE)
        return self.ended[0]


def test_answers_come_from_another_thread(workshop: Workshop) -> None:
    watched = Watched(workshop)
    watched.answer("again")
    watched.answer("yes")
    done = watched.end()
    assert done.state == "done"
    assert workshop.nodes(done) == ["start", "gate", "gate", "done"]


def test_a_run_that_asks_can_be_cancelled(workshop: Workshop) -> None:
    watched = Watched(workshop)
    assert watched.asked.wait(PATIENCE)
    watched.cancelled.set()
    watched.answer(None)
    assert watched.end().state == "cancelled"
