"""Text that must survive verbatim: eight kinds, found by rules, weighed by kind and position."""

from __future__ import annotations

import pytest

from reviewer.commits.values import Priority
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.anchors import MOST, find_anchors
from reviewer.compression.values import AnchorPoint, SegmentTurn, TurnKind
from tests.unit.compression.making import KIOSK, turn

A = AnchorType


def found(
    text: str, role: str = "user", said: TurnKind = "text", name: str = ""
) -> set[tuple[A, str]]:
    points = find_anchors([turn(text, role, said, name=name)])
    return {(point.type, point.content) for point in points}


@pytest.mark.parametrize(
    ("text", "role", "kind"),
    [
        ("No, use the staging bucket.", "user", A.CORRECTION),
        ("Actually, the port is open.", "user", A.CORRECTION),
        ("use pnpm, not npm", "user", A.CORRECTION),
        ("that's wrong, it is blue", "user", A.CORRECTION),
        ("We decided to keep SQLite.", "assistant", A.DECISION),
        ("let's use one queue", "user", A.DECISION),
        ("I will fix the bug", "assistant", A.COMMITMENT),
        ("We'll ship it by Friday.", "user", A.COMMITMENT),
        ("The budget is $50k.", "user", A.CRITICAL_FACT),
        ("Deadline: 2026-03-31", "user", A.CRITICAL_FACT),
        ("Which printer do we order for the lobby?", "assistant", A.UNRESOLVED_QUESTION),
        ("I prefer small commits.", "user", A.USER_PREFERENCE),
        ("It stops with PrinterError: no paper", "assistant", A.ERROR_CONTEXT),
    ],
)
def test_each_kind_is_found_and_captured_whole(text: str, role: str, kind: AnchorType) -> None:
    assert (kind, text) in found(text, role)


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("No problem.", "user"),
        ("no worries, thanks a lot", "user"),
        ("I'll start by reading the file.", "assistant"),
        ("Let me look at the tests first.", "assistant"),
        ("Right?", "user"),
        ("Everything is printed on both sides.", "assistant"),
        ("Actually, the port is open.", "assistant"),
    ],
)
def test_words_that_bind_nobody_are_not_an_anchor(text: str, role: str) -> None:
    assert found(text, role) == set()


def test_a_fact_keeps_its_value_when_its_sentence_is_long() -> None:
    talk = "and we talked for a long while about many other things that matter less to anybody, "
    text = f"For the lobby {talk}; the deadline is 2026-03-31 for all of it, {talk}and that was it"
    (anchor,) = find_anchors([turn(text)])
    assert "deadline is 2026-03-31" in anchor.content
    assert len(anchor.content) < 200


def test_a_question_is_open_only_while_nobody_else_has_spoken() -> None:
    asked = turn("Which printer do we order?", "assistant")
    assert find_anchors([asked, turn("the small one", "user")]) == ()
    assert [point.type for point in find_anchors([asked])] == [A.UNRESOLVED_QUESTION]
    tool = turn("ls", "assistant", "tool_use", name="Bash")
    assert [point.type for point in find_anchors([asked, tool])] == [A.UNRESOLVED_QUESTION]


@pytest.mark.parametrize(
    "around", ["## The drawer\n\n- {}", "> {}", "```\n{}\n```", "**Storage**\n{}"]
)
def test_a_document_in_a_message_corrects_nobody(around: str) -> None:
    words = "Use the second drawer instead of the first."
    assert found(words) == {(A.CORRECTION, words)}
    assert found(around.format(words)) == set()


def test_credentials_never_become_anchors() -> None:
    text = "The port is 8080 and DB_PASSWORD='hunter2-Xk93vQ9z' must be set."
    assert all("hunter2" not in content for _, content in found(text))
    at = text.index("hunter2")
    span = AnchorPoint(A.CRITICAL_FACT, "hunter2-Xk93vQ9z", 1.0, 0, at, at + 16, "pinned")
    assert all("hunter2" not in p.content for p in find_anchors([turn(text)], marked=[span]))


@pytest.mark.parametrize(
    ("role", "said", "text"),
    [
        ("system", "text", "We decided to keep SQLite."),
        ("user", "text", "<system-reminder>We decided to keep SQLite.</system-reminder>"),
        ("user", "text", "# AGENTS.md instructions for /srv\n\nWe decided to keep SQLite."),
        ("assistant", "thinking", "We decided to keep SQLite."),
        ("tool", "tool_result", "We decided to keep SQLite."),
    ],
)
def test_boot_text_thinking_and_tool_results_have_no_anchors(
    role: str, said: TurnKind, text: str
) -> None:
    assert found(text, role, said) == set()


def test_a_file_that_was_written_is_an_artifact() -> None:
    said = "I added `spool/driver.py` today."
    assert (A.CODE_ARTIFACT, "spool/driver.py") in found(said, "assistant")
    call = '{"file_path":"/srv/kiosk/drawer.py","new_string":"pass"}'
    assert (A.CODE_ARTIFACT, "/srv/kiosk/drawer.py") in found(call, "assistant", "tool_use", "Edit")
    assert found(call, "assistant", "tool_use", "Read") == set()


def test_importance_is_that_of_the_kind_and_grows_towards_the_end() -> None:
    turns = [turn("let's use one queue"), turn("ok", "assistant"), turn("I prefer small commits.")]
    first, last = find_anchors(turns)
    assert (first.type, first.importance) == (A.DECISION, 1.0)
    assert (last.type, last.importance) == (A.USER_PREFERENCE, 0.9)
    alone = find_anchors([*turns[2:], turn("ok", "assistant"), turn("fine", "assistant")])
    assert alone[0].importance == 0.8


def test_at_most_twenty_and_the_most_important_ones() -> None:
    artifacts = [turn(f"I added `part_{number}.py`.", "assistant") for number in range(MOST + 15)]
    points = find_anchors([turn("No, keep the drawer closed."), *artifacts])
    assert len(points) == MOST
    assert points[0].type is A.CORRECTION


def test_near_equal_anchors_are_merged() -> None:
    turns = [
        turn("We decided to keep one single print queue for all kiosks.", "assistant"),
        turn("we decided to keep one single print queue for all kiosks", "assistant"),
        turn("We decided to buy new paper.", "assistant"),
    ]
    assert len(find_anchors(turns)) == 2


def test_text_that_a_person_asks_to_retain_is_an_anchor_verbatim() -> None:
    important = turn(KIOSK[0][1], "user", "text", Priority.IMPORTANT, "$50k", "hard  stop")
    retained = [p for p in find_anchors([important]) if p.source == "retained"]
    assert {p.content for p in retained} == {"$50k", "hard stop"}
    assert all(important.text[p.start : p.end] == p.content for p in retained)


def test_marked_spans_come_beside_the_twenty() -> None:
    noise = [turn(f"I added `part_{number}.py`.", "assistant") for number in range(MOST + 5)]
    mark = AnchorPoint(A.USER_PREFERENCE, "one", 1.0, 0, 0, 3, "pinned")
    points = find_anchors([turn("one"), *noise], marked=[mark])
    assert len(points) == MOST + 1
    assert {p.source for p in points} == {"pinned", "detected"}


def test_spans_name_their_text_exactly() -> None:
    turns: list[SegmentTurn] = [turn(text, role) for role, text in KIOSK]
    points = find_anchors(turns)
    assert {p.type for p in points} >= {A.CORRECTION, A.DECISION, A.COMMITMENT, A.CRITICAL_FACT}
    for point in points:
        assert turns[point.turn].text[point.start : point.end] == point.content
    assert list(points) == sorted(points, key=lambda p: (p.turn, p.start))


@pytest.mark.parametrize(
    "text", ["", " \n ", "?" * 5000, "a" * 100_000, "no, " * 20_000, "İstanbul no, i will"]
)
def test_odd_texts_are_read(text: str) -> None:
    for point in find_anchors([turn(text)]):
        assert text[point.start : point.end] == point.content
