"""A screen starts a run in a thread of its own, answers it and cancels it from another."""

from __future__ import annotations

import threading

import pytest

from reviewer.pipelines.events import Event, Question, RunDone, RunError
from reviewer.pipelines.service import RunOptions
from tests.unit.pipelines.running import Workshop

GATE = """
gate [shape=hexagon]
start -> gate
gate -> done [label=Yes]; gate -> gate [label=Again]
"""


class Watched:
    """A run in a thread; `asked` is set whenever it asks."""

    def __init__(self, workshop: Workshop) -> None:
        self.asked = threading.Event()
        self.ended: list[RunDone] = []
        self.run_id = ""
        path = workshop.write(GATE)
        options = RunOptions(wait=True)
        self.thread = threading.Thread(
            target=lambda: self.ended.append(
                workshop.runs.start_run(path, "tea", options, watch=self.watch)
            )
        )
        self.thread.start()

    def watch(self, event: Event) -> None:
        self.run_id = getattr(event, "run_id", self.run_id)
        if isinstance(event, Question):
            self.asked.set()

    def end(self) -> RunDone:
        self.thread.join(30)
        return self.ended[0]


def answer(workshop: Workshop, watched: Watched, text: str) -> None:
    assert watched.asked.wait(30)
    watched.asked.clear()
    while True:  # the event comes just before the run begins to wait
        try:
            return workshop.runs.answer(watched.run_id, text)
        except RunError:
            threading.Event().wait(0.005)


def test_answers_come_from_another_thread(workshop: Workshop) -> None:
    watched = Watched(workshop)
    answer(workshop, watched, "again")
    answer(workshop, watched, "yes")
    done = watched.end()
    assert done.state == "done"
    assert workshop.nodes(done) == ["start", "gate", "gate", "done"]


def test_a_run_that_asks_can_be_cancelled(workshop: Workshop) -> None:
    watched = Watched(workshop)
    assert watched.asked.wait(30)
    workshop.runs.cancel(watched.run_id)
    assert watched.end().state == "cancelled"


def test_a_run_that_is_not_under_way_takes_no_answer(workshop: Workshop) -> None:
    with pytest.raises(RunError, match="not under way"):
        workshop.runs.answer("gone", "yes")
