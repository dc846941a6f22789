"""Where a context is cut into segments (`docs/design.md`, Levels and anchors)."""

from __future__ import annotations

from msgspec import structs

from reviewer.commits.values import Priority
from reviewer.compression.segments import MAX_TOKENS, MAX_TURNS, cut_segments
from reviewer.compression.values import SegmentTurn
from tests.unit.compression.making import turn


def sized(
    tokens: int, role: str = "assistant", text: str = "the same words again and again"
) -> SegmentTurn:
    return structs.replace(turn(text, role), tokens=tokens)


def lengths(turns: list[SegmentTurn]) -> list[int]:
    return [len(each.turns) for each in cut_segments(turns)]


def names(turns: list[SegmentTurn]) -> list[str]:
    numbered = [structs.replace(each, number=at) for at, each in enumerate(turns, 1)]
    return [each.id for each in cut_segments(numbered)]


def test_twenty_turns_and_four_thousand_tokens_are_the_most() -> None:
    assert lengths([sized(10)] * 50) == [20, 20, 10]
    by_tokens = cut_segments([sized(900)] * 12)
    assert all(part.tokens <= MAX_TOKENS for part in by_tokens)
    assert all(len(part.turns) <= MAX_TURNS for part in by_tokens)


def test_a_segment_has_three_turns_at_least_if_that_many_are_in_a_row() -> None:
    assert lengths([sized(10)] * 21) == [18, 3]
    assert lengths([sized(3000)] * 3) == [3]
    assert lengths([sized(10)] * 2) == [2]


def test_a_commit_that_is_too_large_is_a_segment_by_itself() -> None:
    giant = sized(200_000)
    found = cut_segments([sized(10), giant, *[sized(10)] * 4])
    assert [len(part.turns) for part in found] == [1, 1, 4]
    assert found[1].tokens == 200_000


def test_each_summary_is_a_segment_by_itself() -> None:
    summary = structs.replace(sized(300), summary=True)
    assert lengths([*[sized(10)] * 4, *[summary] * 3, *[sized(10)] * 4]) == [4, 1, 1, 1, 4]


def test_pins_belong_to_no_segment_and_part_them() -> None:
    pin = structs.replace(sized(50), priority=Priority.PINNED)
    found = cut_segments([sized(10)] * 4 + [pin] + [sized(10)] * 5)
    assert [len(part.turns) for part in found] == [4, 5]
    assert cut_segments([pin, pin]) == ()
    assert cut_segments([]) == ()


def test_what_is_skipped_keeps_its_segment_and_sends_nothing() -> None:
    turns = [*[sized(10)] * 4, sized(9_000), *[sized(10)] * 4]
    before = [len(part.turns) for part in cut_segments(turns)]
    turns[4] = structs.replace(turns[4], priority=Priority.SKIP)
    after = cut_segments(turns)
    assert [len(part.turns) for part in after] == before == [4, 1, 4]
    assert [part.tokens for part in after] == [40, 0, 40]


def test_thoughts_that_are_not_sent_do_not_count() -> None:
    thought = structs.replace(sized(9_000), kind="thinking", priority=Priority.SKIP)
    (only,) = cut_segments([sized(10), thought, sized(10)])
    assert only.tokens == 20


def test_a_pause_of_more_than_half_an_hour_cuts() -> None:
    early = [structs.replace(sized(10), at=f"2026-03-01T12:0{n}:00Z") for n in range(4)]
    late = [structs.replace(sized(10), at=f"2026-03-01T12:5{n}:00Z") for n in range(4)]
    assert lengths(early + late) == [4, 4]
    soon = [structs.replace(each, at="2026-03-01T12:30:00Z") for each in late]
    assert lengths(early + soon) == [8]


def test_a_full_segment_ends_before_its_last_request() -> None:
    talk = [sized(10) for _ in range(24)]
    talk[4], talk[12] = sized(10, "user"), sized(10, "user")
    assert lengths(talk) == [12, 12]
    talk[12] = sized(10)
    assert lengths(talk) == [20, 4]


def test_an_answer_of_a_tool_stays_with_its_call() -> None:
    pairs = [
        structs.replace(sized(10), kind=said)
        for _ in range(25)
        for said in ("tool_use", "tool_result")
    ]
    shifted = [sized(10), *pairs]
    for part in cut_segments(shifted):
        assert part.turns[0].kind != "tool_result"


def test_a_result_that_is_too_large_takes_its_call_along() -> None:
    call = structs.replace(sized(10), kind="tool_use", call="t1")
    result = structs.replace(sized(MAX_TOKENS + 1), kind="tool_result", call="t1")
    assert lengths([sized(10), call, result, sized(10)]) == [1, 2, 1]


def test_topics_tell_segments_apart() -> None:
    turns = [turn("receipts printer thermal", "user")] * 3 + [
        structs.replace(turn("drawer lock hinge", "user"), at="2026-03-01T15:00:00Z")
    ] * 3
    turns[2] = structs.replace(turns[2], at="2026-03-01T12:00:00Z")
    first, second = cut_segments(turns)
    assert set(first.topic.split()) == {"receipts", "printer", "thermal"}
    assert set(second.topic.split()) == {"drawer", "lock", "hinge"}


def test_a_pin_changes_only_the_segment_that_it_is_in() -> None:
    turns = [sized(10)] * 60
    assert names(turns) == ["s1", "s21", "s41"]
    turns[4] = structs.replace(turns[4], priority=Priority.PINNED)
    assert names(turns) == ["s1", "s6", "s21", "s41"]
    turns[4], turns[30] = turns[0], structs.replace(turns[30], priority=Priority.PINNED)
    assert names(turns) == ["s1", "s21", "s32", "s41"]
