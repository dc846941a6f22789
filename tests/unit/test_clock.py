"""How long work still takes."""

from __future__ import annotations

from itertools import pairwise

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


def test_the_time_does_not_jump_up_and_down_with_every_file() -> None:
    watch = Watch()
    left = TimeLeft(watch)
    seen = []
    for step in range(20, 90):
        watch.seconds = step
        seen.append(left.words(step // 12 * 12, 100))
    rises = sum(_seconds(one) < _seconds(following) for one, following in pairwise(seen))
    assert rises <= 2


def test_work_that_became_much_slower_is_admitted() -> None:
    watch = Watch()
    left = TimeLeft(watch)
    watch.seconds = 10
    assert left.words(50, 100) == "about 10 s left"
    watch.seconds = 60
    assert left.words(51, 100) == "about 1 min left"


def _seconds(words: str) -> int:
    if "few" in words:
        return 1
    _, number, unit, _ = words.split()
    return int(number) * (60 if unit == "min" else 1)
