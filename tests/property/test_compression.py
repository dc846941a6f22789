"""Properties of every compression: no turn is lost or invented, and undo restores everything."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.compression.anchors import find_anchors
from reviewer.compression.offline_engine import OfflineEngine
from reviewer.compression.segments import MAX_TURNS, cut_segments, full_text, readable
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.values import (
    Level,
    Segment,
    SegmentTurn,
    SummarizationOptions,
    TurnKind,
)
from reviewer.engine import Engine
from reviewer.errors import ReviewerError
from reviewer.llm.steering import RetryExhaustedError
from reviewer.store.acts import LEDGERED
from reviewer.text.normalise import fold
from reviewer.text.tokens import counter
from tests.stored import rows_of

count = counter().count
SENTENCES = (
    "No, keep the drawer closed.",
    "We decided to use one queue for all kiosks.",
    "I will fix `reconnect()` before Friday.",
    "The budget is $50k, hard stop 2026-03-31.",
    "Which printer do we order?",
    "I prefer small commits.",
    "It failed: PrinterError: paper sensor did not answer within 20 seconds.",
    "I changed `spool/driver.py` and `print_queue.py`.",
    "The lobby smells of coffee.",
    "[→detail:s1] and [→more:s2:all] stand on the receipt.",
    "```\ndef open_port(name):\n    return name\n```",
    "- first\n- second",
    "çafé ⟨x⟩ \u202e 日本語 🙂",
    "{{messages}} **Key Points:** user: x",
    "DB_PASSWORD='hunter2-Xk93vQ9z'",
    " ",
    "",
)
text = st.lists(st.sampled_from(SENTENCES), max_size=6).map("\n".join) | st.text(max_size=60)
said: st.SearchStrategy[TurnKind] = st.sampled_from(["text", "thinking", "tool_use", "tool_result"])


@st.composite
def turns(draw: st.DrawFn, *, most: int = 12) -> list[SegmentTurn]:
    made = []
    for _ in range(draw(st.integers(0, most))):
        words = draw(text).encode("utf-8", "replace").decode()
        role = draw(st.sampled_from(["user", "assistant", "tool", "system"]))
        priority = draw(st.sampled_from(list(Priority)))
        wanted = words[:5].strip()
        criteria = RetentionCriteria(patterns=(Pattern(wanted),) if wanted else ())
        made.append(
            SegmentTurn(
                role,
                words,
                count(words),
                draw(said),
                priority=priority,
                retention=criteria if priority is Priority.IMPORTANT else RetentionCriteria(),
            )
        )
    return made


def summarizer() -> Summarizer:
    return Summarizer(OfflineEngine(count), count=count)


@given(turns(most=60))
@settings(max_examples=25, deadline=None)
def test_segments_part_a_context_without_losing_a_turn(made: list[SegmentTurn]) -> None:
    made = [structs.replace(each, number=at) for at, each in enumerate(made, 1)]
    found = cut_segments(made)
    assert [t for part in found for t in part.turns] == [
        t for t in made if t.priority is not Priority.PINNED
    ]
    assert all(1 <= len(part.turns) <= MAX_TURNS + 2 for part in found)
    assert len({part.id for part in found}) == len(found)


@given(turns(), st.sampled_from(list(Level)), st.none() | st.integers(1, 120), st.booleans())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_segment_can_be_compressed_within_its_ceiling(
    made: list[SegmentTurn], level: Level, ceiling: int | None, markers: bool
) -> None:
    segment = Segment("s1", tuple(made), sum(t.tokens for t in made), "topic")
    anchors = find_anchors(made)
    for anchor in anchors:
        assert made[anchor.turn].text[anchor.start : anchor.end] == anchor.content
        assert "hunter2" not in anchor.content or "DB_PASSWORD" not in made[anchor.turn].text
    made_by = summarizer()
    options = SummarizationOptions(ceiling=ceiling, generate_expansion_markers=markers)
    try:
        found = made_by.compress(segment, anchors, level, options)
    except RetryExhaustedError as refused:
        assert ceiling is not None or "No text of the segment" in str(refused)  # noqa: PT017
        return
    if ceiling is not None and level is not Level.FULL:
        assert count(found.content) <= ceiling
    if ceiling is None and level in (Level.DETAILED, Level.BRIEF) and found.content:
        assert all(fold(each.content) in fold(found.content) for each in anchors)
    fidelity = made_by.validate_fidelity(segment, found)
    parts = (
        fidelity.overall_score, fidelity.anchor_preservation,
        fidelity.factual_accuracy, fidelity.context_retention,
    )  # fmt: skip
    assert all(0.0 <= part <= 1.0 for part in parts)
    for marker in found.expansion_markers:
        assert marker.segment == "s1"
        assert found.content[marker.start : marker.end].startswith("[→")
        assert marker.adds >= 0


@given(turns(), st.none() | st.integers(1, 400), st.booleans(), st.randoms())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_level_is_longer_than_the_one_nearer_to_full(
    made: list[SegmentTurn], aim: int | None, markers: bool, order: Any
) -> None:
    segment = Segment(
        "s1", tuple(made), sum(t.tokens for t in made if t.priority is not Priority.SKIP)
    )
    anchors, made_by = find_anchors(readable(segment).turns), summarizer()
    options = SummarizationOptions(max_output_tokens=aim, generate_expansion_markers=markers)
    levels = list(Level)
    order.shuffle(levels)
    alone = {}
    for level in levels:
        try:
            alone[level] = made_by.compress(segment, anchors, level, options)
        except RetryExhaustedError as refused:
            assert "No text of the segment" in str(refused)  # noqa: PT017
            return
    sizes = [alone[level].token_count for level in Level]
    assert sizes == sorted(sizes, reverse=True)
    for level in (Level.DETAILED, Level.BRIEF):
        assert alone[level].anchors_missing == ()


def rows(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that the ledger keeps."""
    return {table: rows_of(engine.path, f"SELECT * FROM {table} ORDER BY id") for table in LEDGERED}


TYPES = {"text": "dialogue", "thinking": "reasoning", "tool_use": "tool_call"}


def write(engine: Engine, made: list[SegmentTurn]) -> int:
    """The turns as a context."""
    context = engine.contexts.create("acme", "talk").id
    for each in made:
        if each.text.strip():
            patterns = [p.text for p in each.retention.patterns]
            engine.contexts.add(
                context,
                role=each.role,
                text=each.text,
                type=TYPES.get(each.kind, "tool_result"),
                priority=each.priority,
                retain_match=patterns,
            )
    return context


@given(
    turns(most=10),
    st.lists(st.sampled_from(list(Level)), min_size=1, max_size=3),
    st.data(),
)
@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_compressing_again_and_again_loses_nothing_and_is_taken_back(
    empty_store: Path, made: list[SegmentTurn], levels: list[Level], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(shutil.copy(empty_store, folder))
        engine = Engine.open(path)
        try:
            _again_and_again(engine, made, levels, data)
        finally:
            engine.close()


def _again_and_again(
    engine: Engine, made: list[SegmentTurn], levels: list[Level], data: st.DataObject
) -> None:
    filler = SegmentTurn("user", "The lobby smells of coffee. " * 12, 84)
    padded = [each for turn in made for each in (turn, structs.replace(filler))]
    context = write(engine, padded)
    states = [rows(engine)]
    for level in levels:
        chain = engine.contexts.compile(context)
        ids = [each.commit for each in chain if each.priority is not Priority.PINNED]
        if not ids:
            return
        first = data.draw(st.integers(0, len(ids) - 1))
        last = data.draw(st.integers(first, len(ids) - 1))
        try:
            plan = engine.compression.plan(context, level, start=ids[first], end=ids[last])
            applied = engine.compression.apply(plan)
        except ReviewerError:
            assert rows(engine) == states[-1]
            continue
        states.append(rows(engine))
        after = engine.contexts.compile(context)
        assert sum(each.tokens for each in after) == applied.tokens_after
        pinned = [each.text for each in chain if each.priority is Priority.PINNED]
        assert [each.text for each in after if each.priority is Priority.PINNED] == pinned
        place = [each.commit for each in chain].index(ids[first])
        end = [each.commit for each in chain].index(ids[last])
        assert [m.text for m in after[:place]] == [m.text for m in chain[:place]]
        behind = [m.text for m in chain[end + 1 :]]
        assert [m.text for m in after][len(after) - len(behind) :] == behind
        for summary in after:
            if summary.type == "summary" and "[→" in summary.text:
                engine.compression.expanded(summary.commit)
    assert engine.history.verify().problems == ()
    while len(states) > 1:
        assert rows(engine) == states.pop()
        engine.history.undo()
    assert rows(engine) == states[0]
    assert engine.history.verify().problems == ()


@given(turns(most=8))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_opening_all_markers_gives_back_the_full_text(made: list[SegmentTurn]) -> None:
    from reviewer.compression.markers import expand, parse_markers

    plain = [
        structs.replace(t, priority=Priority.NORMAL, retention=RetentionCriteria()) for t in made
    ]
    segment = Segment("s1", tuple(plain), sum(t.tokens for t in plain), "topic")
    anchors, made_by = find_anchors(plain), summarizer()
    source = full_text(plain)
    text, level = made_by.compress(segment, anchors, Level.BRIEF).content, Level.BRIEF
    if not text:
        assert not source
        return
    while markers := parse_markers(text, level, "s1", source=source):
        marker = markers[-1]
        nearer = made_by.expanded_text(segment, level, anchors)
        text, level = expand(text, [marker], {marker: nearer}.__getitem__), Level(level - 1)
    assert source in text
