import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewer.text.units import Unit, UnitKind, units

WRAPPED = "The importer reads every shard of the index before it returns\nanything to the caller."


def pieces(text: str, *kinds: UnitKind) -> list[str]:
    return [text[u.start : u.end] for u in units(text) if not kinds or u.kind in kinds]


def one(text: str) -> Unit:
    (unit,) = units(text)
    return unit


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It works. It is slow.", ["It works.", "It is slow."]),
        ("Use tools, e.g. a linter. Then commit.", ["Use tools, e.g. a linter.", "Then commit."]),
        ("Logs, caches, etc. are kept.", ["Logs, caches, etc. are kept."]),
        ("Needs v1.2 or 3.11.4 now. Yes.", ["Needs v1.2 or 3.11.4 now.", "Yes."]),
        ("The call `x. Y` stays whole. Good.", ["The call `x. Y` stays whole.", "Good."]),
        ('He said "stop." Then left.', ['He said "stop."', "Then left."]),
        (WRAPPED, [WRAPPED]),
        ("First thought\nSecond thought", ["First thought", "Second thought"]),
        ("Two changed:\nits order and size.", ["Two changed:", "its order and size."]),
        ("<!-- a guide.\nMore. -->\nText.\n\n---\n\nMore.", ["Text.", "More."]),
        ("<!-- never closed. Text", []),
        ("%% an Obsidian remark. %%\nText.", ["Text."]),
    ],
)
def test_sentences_end_at_full_stops_and_new_lines_and_are_no_comments(
    text: str, sentences: list[str]
) -> None:
    assert pieces(text) == sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- Use tabs.\nRun the linter.", ["Use tabs.", "Run the linter."]),
        ("- Use tabs in\nall files.", ["Use tabs in\nall files."]),
        ("- Use tabs.\n  They are wide.", ["Use tabs.\n  They are wide."]),
    ],
)
def test_a_line_of_its_own_below_a_finished_item_does_not_belong_to_it(
    text: str, found: list[str]
) -> None:
    assert pieces(text) == found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("```py\nx = 1. Y\n```", UnitKind.CODE),
        ("```\nnever closed. Text", UnitKind.CODE),
        ("| a | b |", UnitKind.TABLE_ROW),
        ("> quoted words", UnitKind.QUOTE),
        ("$ git status", UnitKind.COMMAND),
        ("Traceback (most recent call last):", UnitKind.TRACE),
        ("ERROR: no such table", UnitKind.TRACE),
        ("diff --git a b", UnitKind.TRACE),
        ("diff of both", UnitKind.SENTENCE),
        ("a item", UnitKind.SENTENCE),
    ],
)
def test_units_that_are_not_prose_have_their_own_kind(text: str, kind: UnitKind) -> None:
    assert one(text).kind is kind


@pytest.mark.parametrize(
    "head", ["## Risks", "**Risks:**", "**Risks**:", "Risks\n=====", "## Risks ##"]
)
def test_units_know_the_heading_above_them(head: str) -> None:
    found = list(units(f"{head}\n\nThe disk may fill up."))
    assert [(u.kind, u.heading) for u in found] == [
        (UnitKind.HEADING, "Risks"),
        (UnitKind.SENTENCE, "Risks"),
    ]


@given(st.text(alphabet="aB .!?:\n-*#>`|[]x1)$<~=\t(/", max_size=200))
def test_spans_are_in_order_trimmed_and_apart(text: str) -> None:
    last = 0
    for unit in units(text):
        piece = text[unit.start : unit.end]
        assert last <= unit.start < unit.end <= len(text)
        assert piece == piece.strip()
        last = unit.end
