"""What the Compress screen wants previewed, the most urgent first."""

from __future__ import annotations

from collections.abc import Callable

from reviewer.errors import ReviewerError
from reviewer.tui.context.work import Delivered, Job, PreviewQueue


class Desk:
    """A queue whose thread runs when the test says so, and what came of it."""

    def __init__(self) -> None:
        self.threads: list[Callable[[], None]] = []
        self.delivered: list[Delivered] = []
        self.worked: list[str] = []
        self.taken: list[str] = []
        self.queue = PreviewQueue(self.threads.append, self.delivered.append)

    def job(
        self, name: str, *, fails: bool = False, meanwhile: Callable[[], None] | None = None
    ) -> Job:
        def work() -> str:
            self.worked.append(name)
            if meanwhile is not None:
                meanwhile()
            if fails:
                raise ReviewerError(f"{name} failed")
            return name

        return Job(name, work, self.taken.append, lambda error: self.taken.append(str(error)))

    def run(self) -> None:
        while self.threads:
            self.threads.pop(0)()

    def take(self) -> None:
        for message in self.delivered:
            message.take()
        self.delivered.clear()


def test_one_thread_works_in_order_with_urgent_jobs_first() -> None:
    desk = Desk()
    desk.queue.replace([desk.job("a"), desk.job("b")])
    desk.queue.prioritize(desk.job("urgent"))
    assert len(desk.threads) == 1
    desk.run()
    desk.take()
    assert desk.taken == ["urgent", "a", "b"]


def test_unwanted_jobs_are_dropped_and_a_started_job_is_not_repeated() -> None:
    desk = Desk()
    wanted = [desk.job("c")]
    desk.queue.replace(
        [
            desk.job("a", meanwhile=lambda: desk.queue.replace([desk.job("a"), *wanted])),
            desk.job("b"),
        ]
    )
    desk.run()
    assert desk.worked == ["a", "c"]


def test_results_from_before_starting_over_are_ignored() -> None:
    desk = Desk()
    desk.queue.replace([desk.job("old")])
    desk.run()
    desk.queue.start_over()
    desk.take()
    assert desk.taken == []
    desk.queue.replace([desk.job("new")])
    desk.run()
    desk.take()
    assert desk.taken == ["new"]


def test_a_failure_is_delivered_and_the_queue_continues() -> None:
    desk = Desk()
    desk.queue.replace([desk.job("a", fails=True), desk.job("b")])
    desk.run()
    desk.take()
    assert desk.taken == ["a failed", "b"]
