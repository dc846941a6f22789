"""What a known implementation gets wrong, and this one must not (settled.md, "Priorities")."""

from __future__ import annotations

import pytest

from reviewer.commits.patterns import PatternError
from reviewer.compression.preview import RetentionError
from reviewer.compression.values import Level
from reviewer.errors import ConflictError
from reviewer.llm.retry import RetryExhaustedError
from tests.unit.compression.conftest import Kiosk


def test_criteria_are_checked_on_every_summary(kiosk: Kiosk) -> None:
    contexts = kiosk.engine.contexts
    contexts.annotate(kiosk.ids[1], priority="important", retain_match=["$50k", "2026-03-31"])
    kiosk.compress("tags")
    assert any("$50k" in m.text and "2026-03-31" in m.text for m in kiosk.summaries())
    kiosk.engine.history.undo()
    contexts.annotate(kiosk.ids[2], priority="important", retain_match=["not in this commit"])
    before = kiosk.chain()
    with pytest.raises(RetryExhaustedError, match='substring not found: "not in this commit"'):
        kiosk.compress("brief")
    assert kiosk.chain() == before


def test_a_pin_survives_the_second_compression(kiosk: Kiosk) -> None:
    contexts = kiosk.engine.contexts
    contexts.annotate(kiosk.ids[20], priority="pinned")
    pinned = contexts.commit(kiosk.ids[20]).text
    for level in ("detailed", "brief", "tags"):
        kiosk.compress(level)
        texts = kiosk.texts()
        assert texts.count(pinned) == 1
        assert texts[0] == "You look after the kiosks."
        before, after = texts[: texts.index(pinned)], texts[texts.index(pinned) + 1 :]
        assert len(before) >= 2  # the instruction, and a summary of what stood before the pin
        assert after


def test_nothing_after_or_between_the_range_is_lost(kiosk: Kiosk) -> None:
    contexts = kiosk.engine.contexts
    contexts.annotate(kiosk.ids[12], priority="pinned")
    before = kiosk.texts()
    plan = kiosk.compression.plan(kiosk.id, "brief", start=kiosk.ids[5], end=kiosk.ids[20])
    kiosk.compression.apply(kiosk.id, plan)
    after = kiosk.texts()
    assert after[:5] == before[:5]
    assert before[12] in after
    assert after[-(len(before) - 21) :] == before[21:]
    assert not set(before[5:12]) & set(after)
    positions = [position for position, _ in kiosk.chain()]
    assert positions == list(range(len(after)))


def test_a_summary_written_by_hand_is_checked(kiosk: Kiosk) -> None:
    kiosk.engine.contexts.annotate(kiosk.ids[1], priority="important", retain_match=["$50k"])
    plan = kiosk.compression.plan(kiosk.id, "full")
    first = plan.choices[0].segment
    plan = kiosk.compression.write(plan.with_level(first, Level.BRIEF), first, "They spend little.")
    before = kiosk.chain()
    with pytest.raises(RetentionError, match=r's1: Summary missing: substring not found: "\$50k"'):
        kiosk.compression.apply(kiosk.id, plan)
    assert kiosk.chain() == before
    (failing,) = [each for each in kiosk.compression.preview(plan).segments if each.failures]
    assert failing.segment.id == first
    mended = kiosk.compression.write(plan, first, "They spend little.", append_missing=True)
    kiosk.compression.apply(kiosk.id, mended)
    (summary,) = kiosk.summaries()
    assert summary.text.startswith("They spend little.")
    assert "$50k" in summary.text


def test_a_bad_regex_is_refused_with_its_place(kiosk: Kiosk) -> None:
    with pytest.raises(PatternError) as refused:
        kiosk.compression.options(retain_regex=[r"\d{4}-("])
    assert refused.value.column == 7


def test_bare_important_has_an_effect(kiosk: Kiosk) -> None:
    quiet = kiosk.ids[45]
    said = kiosk.texts()[45].split(" with ")[0]
    plain = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    kiosk.engine.contexts.annotate(quiet, priority="important")
    careful = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    assert said not in plain.segments[-1].compressed.content
    assert said in careful.segments[-1].compressed.content


def test_an_edit_inside_the_range_is_no_error_and_its_text_is_what_is_summarized(
    kiosk: Kiosk,
) -> None:
    contexts = kiosk.engine.contexts
    edited = contexts.edit(kiosk.ids[4], "We decided to keep one connection to `late_queue.py`.")
    kept = contexts.edit(kiosk.ids[-1], "The very last word.")
    plan = kiosk.compression.plan(kiosk.id, "brief", end=kiosk.ids[20])
    kiosk.compression.apply(kiosk.id, plan)
    assert "late_queue.py" in kiosk.summaries()[0].text
    assert edited.text not in kiosk.texts()
    assert kiosk.texts()[-1] == kept.text


def test_a_head_that_moved_meanwhile_is_noticed(kiosk: Kiosk) -> None:
    found = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    kiosk.say("One more thing.")
    before = kiosk.chain()
    with pytest.raises(ConflictError, match="Nothing was written; preview again"):
        kiosk.compression.apply(kiosk.id, found.plan)
    assert kiosk.chain() == before


def test_an_annotation_meanwhile_is_noticed(kiosk: Kiosk) -> None:
    found = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    kiosk.engine.contexts.annotate(kiosk.ids[3], priority="pinned")
    with pytest.raises(ConflictError, match="preview again"):
        kiosk.compression.apply(kiosk.id, found.plan)


def test_another_head_than_expected_is_refused(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "brief")
    with pytest.raises(ConflictError, match="its head is"):
        kiosk.compression.apply(kiosk.id, plan, expected_head="0" * 64)
