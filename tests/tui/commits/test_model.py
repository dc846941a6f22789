"""The list of commits as values: reading a long chain, and where the cursor stays."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import pytest

from reviewer.commits.values import CommitRow
from reviewer.engine import Engine
from reviewer.tui.commits.model import CommitsModel


def test_a_move_reads_only_the_window(engine: Engine) -> None:
    asked: list[int] = []

    def fetch(ids: Sequence[int]) -> list[CommitRow]:
        asked.extend(ids)
        return []

    model = CommitsModel(fetch)
    model.load(array("q", range(20_000)))
    model.window(0, 30)
    model.cursor = 12_000
    model.window(11_990, 12_020)
    assert len(asked) == 60


MODEL: list[tuple[str, Callable[[list[int]], list[int]], int | None, int]] = [
    ("stays on its row", lambda ids: [9, *ids], None, 5),
    ("its row is gone: the next below", lambda ids: [each for each in ids if each != 5], None, 6),
    ("everything below is gone: above", lambda ids: [1, 2], None, 2),
    ("goes to the row that is named", lambda ids: ids, 3, 3),
]


@pytest.mark.parametrize(
    ("change", "here", "row"), [each[1:] for each in MODEL], ids=[each[0] for each in MODEL]
)
def test_the_cursor_when_the_list_is_another(
    change: Callable[[list[int]], list[int]], here: int | None, row: int
) -> None:
    model = CommitsModel(lambda ids: [])
    model.load(array("q", [1, 2, 3, 4, 5, 6]))
    model.cursor, model.marks = 4, {2, 5}
    model.load(array("q", change([1, 2, 3, 4, 5, 6])), here)
    assert model.current_id == row
    assert model.marks == {2, 5} & set(model.ids)
