"""How long work still takes."""

from __future__ import annotations

from reviewer.clock import TimeLeft


class Watch:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_nothing_is_claimed_before_anything_is_known() -> None:
    watch = Watch()
    left = TimeLeft(watch)
    assert left.words(1, 100) == ""
    watch.seconds = 3
    assert left.words(1, 100) == ""
    assert left.words(0, 0) == ""


def test_even_work_counts_down() -> None:
    watch = Watch()
    left = TimeLeft(watch)
    seen = []
    for second in range(2, 100, 7):
        watch.seconds = second
        seen.append(left.words(second, 100))
    assert seen[0] == "about 2 min left"
    assert seen[-1] == "about 10 s left"
    assert len(set(seen)) <= 8
