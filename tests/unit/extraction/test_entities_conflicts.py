from typing import Any

import pytest

from reviewer.extraction.entities.conflicts import Claim, contradiction
from reviewer.extraction.entities.entity import Attribute, EntityCandidate
from reviewer.extraction.entities.quantities import quantities, same_amount
from tests.unit.extraction.making import extract, note


def parameter(value: str, unit: str, **changes: Any) -> Claim:
    values: dict[str, Any] = {
        "type": "parameter",
        "slot": "parameter:retention",
        "attributes": (Attribute("value", value, unit),),
    }
    return Claim(0, status="active", **(values | changes))


def read(text: str) -> Claim:
    (found,) = extract(note(text))
    assert isinstance(found, EntityCandidate)
    own = found.structure
    return Claim(0, str(found.type), own.slot, own.attributes, "candidate")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("90", "days"), ("90", "d")),
        (("1", "week"), ("7", "days")),
        (("4.8", "MB"), ("4800", "kB")),
        (("5,000", "rows"), ("5000", "row")),
        (("0.1", "s"), ("100", "ms")),
        (("1", "year"), ("12", "months")),
        (("20", "requests per minute"), ("20", "requests/minute")),
        (("30", ""), ("30", "s")),
        (("4,8", "kg"), ("4800", "g")),
    ],
)
def test_the_same_amount_in_other_words(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert same_amount(*one, *other)
    assert same_amount(*other, *one)
    assert not contradiction(parameter(*one), parameter(*other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("90", "days"), ("30", "days")),
        (("3", "months"), ("90", "days")),
        (("4.8", "MB"), ("4.8", "MiB")),
        (("4.8", "MB"), ("4801", "kB")),
        (("5", "mg"), ("5", "MB")),
        (("30", ""), ("31", "s")),
        (("06:00", "UTC"), ("07:00", "UTC")),
    ],
)
def test_another_amount(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert not same_amount(*one, *other)
    assert contradiction(parameter(*one), parameter(*other))
    assert contradiction(parameter(*other), parameter(*one))


def test_a_contradiction_names_both_sides() -> None:
    found = contradiction(parameter("90", "days"), parameter("30", "days"))
    assert found == "value: 90 days or 30 days"


@pytest.mark.parametrize(
    "changes",
    [
        {"slot": "parameter:timeout"},
        {"slot": ""},
        {"type": "component"},
        {"attributes": ()},
        {"attributes": (Attribute("request logs", "30", "days"),)},
    ],
)
def test_different_things_do_not_contradict_each_other(changes: dict[str, Any]) -> None:
    assert not contradiction(parameter("90", "days"), parameter("30", "days", **changes))


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        ("- retention = 90 days", "- retention = 30 days", True),
        ("- retention = 90 days", "- Retention = 90 d", False),
        ("- retention = 90 days", "- timeout = 30 days", False),
        ("# Rover\n\nmass = 4.8 kg", "# Arm\n\nmass = 1.2 kg", False),
        ("# Rover\n\nmass = 4.8 kg", "# Rover\n\nmass = 4.9 kg", True),
    ],
)
def test_conflicts_between_two_texts(one: str, other: str, conflict: bool) -> None:
    first, second = read(one), read(other)
    assert bool(contradiction(first, second)) is conflict
    assert bool(contradiction(second, first)) is conflict


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("within 30 s of 4.8 MB", [("30", "s"), ("4.8", "MB")]),
        ("at most $4,000 a month", [("4,000", "$")]),
        ("before 06:00 UTC", [("06:00", "UTC")]),
        ("600 requests per minute", [("600", "requests per minute")]),
        ("version 16 of PR #30 in v2.5 s1", []),
        ("30 things", []),
    ],
)
def test_reading_amounts(text: str, found: list[tuple[str, str]]) -> None:
    assert [(each.value, each.unit) for each in quantities(text)] == found
