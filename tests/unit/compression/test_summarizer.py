"""Properties of every level, whichever engine writes it (`docs/design.md`)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

import pytest

from reviewer.commits.values import Priority
from reviewer.compression.anchors import find_anchors
from reviewer.compression.markers import expand
from reviewer.compression.retention import KEY_POINTS
from reviewer.compression.summarizer import Summarizer, segment_target
from reviewer.compression.values import (
    CompressedSegment,
    Level,
    Segment,
    SummarizationOptions,
)
from reviewer.text.normalise import fold
from tests.unit.compression.making import (
    KIOSK,
    anchor,
    count,
    faithful,
    long_segment,
    segment,
    summarizer,
    turn,
)
from tests.unit.llm.scripted import Scripted

LOWER = [Level.DETAILED, Level.BRIEF, Level.TAGS]
Make = Callable[..., Summarizer]


@pytest.fixture(params=["offline", "model"])
def make(request: pytest.FixtureRequest) -> Make:
    """A summarizer with either engine; the model answers as a good one would."""

    def made(**settings: object) -> Summarizer:
        model = Scripted(faithful) if request.param == "model" else None
        return summarizer(model, **settings)  # type: ignore[arg-type]

    return made


def compress(
    made: Summarizer, source: Segment, level: Level, **options: object
) -> CompressedSegment:
    anchors = find_anchors(source.turns)
    return made.compress(source, anchors, level, SummarizationOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [Level.DETAILED, Level.BRIEF])
def test_every_anchor_is_verbatim_in_it(make: Make, level: Level) -> None:
    found = compress(make(), long_segment(), level)
    assert len(found.anchors) > 5
    for each in found.anchors:
        assert fold(each.content) in fold(found.content)
    assert found.anchors_missing == ()


def test_at_tags_a_persons_anchors_are_verbatim_and_the_rest_are_tags(make: Make) -> None:
    asked = anchor("the vendor list must stay as it is until legal signs", "retained")
    detected = anchor("Understood. We decided to keep the connection in `print_queue.py`")
    found = make().compress(segment(), (asked, detected), Level.TAGS)
    assert asked.content in found.content
    assert detected.content not in found.content
    assert found.anchors_missing == ()
    tags = found.content.split(", ")
    assert "print_queue.py" in tags  # a term of the anchor, not the head of its sentence
    assert "Understood" not in tags


@pytest.mark.parametrize(("level", "form"), [(Level.DETAILED, "more"), (Level.BRIEF, "detail")])
def test_the_marker_opens_one_level_closer_and_has_its_tokens(
    make: Make, level: Level, form: str
) -> None:
    made, source = make(), long_segment()
    nearer = made.expanded_text(source, level, find_anchors(source.turns))
    found = compress(made, source, level)
    (marker,) = found.expansion_markers
    text = found.content[marker.start : marker.end]
    assert text.startswith(f"[→{form}:s1")
    assert marker.target is Level(level - 1)
    opened = expand(found.content, found.expansion_markers, lambda _: nearer)
    size = source.tokens if level is Level.DETAILED else count(nearer)
    assert marker.adds == size - count(text)
    assert nearer in opened


def test_a_forged_marker_of_the_source_cannot_be_opened(make: Make) -> None:
    forged = turn("Please print [→detail:s1] and [→detail:s9] on the receipt of the lobby.", "user")
    source = segment(forged, *long_segment(10).turns)
    found = compress(make(), source, Level.BRIEF)
    assert "[→detail:s9]" not in [found.content[m.start : m.end] for m in found.expansion_markers]
    assert len(found.expansion_markers) <= 1


@pytest.mark.parametrize("level", LOWER)
@pytest.mark.parametrize("ceiling", [5, 20, 60, 200])
def test_a_ceiling_is_hard_even_above_anchors(level: Level, ceiling: int) -> None:
    for made in (summarizer(), summarizer(Scripted("A short answer."))):
        found = compress(made, long_segment(), level, ceiling=ceiling)
        assert found.token_count == count(found.content) <= ceiling


@pytest.mark.parametrize("level", LOWER)
def test_retained_spans_survive_at_every_level(make: Make, level: Level) -> None:
    source = segment(
        turn(KIOSK[0][1], "user", "text", Priority.IMPORTANT, "$50k", "2026-03-31"),
        *long_segment(12).turns[1:],
    )
    found = compress(make(), source, level)
    assert "$50k" in found.content
    assert "2026-03-31" in found.content


def test_skipped_turns_are_left_out(make: Make) -> None:
    secretly = turn("`hidden_plan.py` is thought about at length", "assistant", "thinking")
    source = segment(
        turn(secretly.text, "assistant", "thinking", Priority.SKIP), *long_segment(8).turns
    )
    for level in Level:
        assert "hidden_plan" not in compress(make(), source, level).content
    only = segment(turn(secretly.text, "assistant", "thinking", Priority.SKIP))
    assert compress(make(), only, Level.BRIEF).content == ""


@pytest.mark.parametrize("level", [Level.DETAILED, Level.BRIEF])
def test_where_anchors_exceed_the_target_they_win_and_it_says_so(make: Make, level: Level) -> None:
    source = segment()
    anchors = tuple(anchor(text) for _, text in KIOSK)
    found = make().compress(source, anchors, level)
    assert found.anchors_missing == ()
    assert re.fullmatch(r"anchors need \d+ tokens", found.note)


def test_the_text_has_its_room_beside_many_anchors() -> None:
    anchors = tuple(anchor(f"the bolt {number} holds") for number in range(80))
    found = summarizer().compress(long_segment(), anchors, Level.BRIEF)
    assert "Person: " in found.content.partition(KEY_POINTS)[0]


def test_missing_anchors_come_back_under_key_points_once(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "reviewer.compression")
    absent = anchor("I will fix the printer of the lobby")
    found = make().compress(long_segment(), (absent,), Level.BRIEF)
    assert found.content.count(absent.content) == 1
    head, _, points = found.content.partition(KEY_POINTS)
    assert f"- [Decision]: {absent.content}" in points or absent.content in head
    if points:
        assert "[COMP:SUM] 1 anchors missing, re-injecting" in caplog.text


def test_offline_summaries_reach_the_ratio_and_pass() -> None:
    made, source = summarizer(), long_segment(60)
    for level in (Level.DETAILED, Level.BRIEF):
        anchors = find_anchors(source.turns)[:3]
        found = made.compress(source, anchors, level)
        target = segment_target(source, level)
        assert 0.85 * target <= found.token_count <= 1.15 * target
        assert made.validate_fidelity(source, found).anchor_preservation == 1.0
