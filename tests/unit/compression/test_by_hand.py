"""What a person writes into a context: marked spans, summaries by hand."""

from __future__ import annotations

import pytest

from reviewer.compression.span_marks import Span
from reviewer.compression.values import Level
from reviewer.errors import ReviewerError
from tests.unit.compression.conftest import Kiosk


def test_marks_are_one_act_each_and_taken_back(kiosk: Kiosk) -> None:
    marks, commit = kiosk.compression.marks, kiosk.ids[2]
    assert marks.mark_text(commit, "takes 900 ms")
    assert marks.mark_text(commit, "takes 900 ms") == 0
    pinned = [a for a in kiosk.compression.anchors(kiosk.id)[0] if a.source == "pinned"]
    assert [anchor.content for anchor in pinned] == ["takes 900 ms"]
    assert marks.mark_text(commit, "takes 900 ms", take_back=True)
    assert all(a.source == "detected" for a in kiosk.compression.anchors(kiosk.id)[0])
    with pytest.raises(ReviewerError, match="does not hold that text"):
        marks.mark_text(commit, "never said")
    with pytest.raises(ReviewerError, match="empty or outside"):
        marks.mark(Span(commit, 5, 100_000))


def test_a_marked_span_moves_with_an_edit_or_goes_with_it(kiosk: Kiosk) -> None:
    kiosk.compression.marks.mark_text(kiosk.ids[2], "takes 900 ms")
    kiosk.engine.contexts.edit(kiosk.ids[2], "So much: it takes 900 ms.")
    assert "takes 900 ms" in {a.content for a in kiosk.compression.anchors(kiosk.id)[0]}
    kiosk.engine.contexts.edit(kiosk.ids[2], "It is slow.")
    assert all(a.source == "detected" for a in kiosk.compression.anchors(kiosk.id)[0])


def test_an_empty_summary_by_hand_is_refused(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "brief")
    plan = kiosk.compression.write(plan, plan.choices[0].segment, "  \n ")
    with pytest.raises(ReviewerError, match="is empty"):
        kiosk.compression.preview(plan)


def test_a_summary_by_hand_for_a_segment_that_stays_full_is_refused(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "full")
    with pytest.raises(ReviewerError, match="another level first"):
        kiosk.compression.write(plan, plan.choices[0].segment, "Written with care.")


def test_secrets_typed_into_a_summary_are_masked(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "full")
    first = plan.choices[0].segment
    text = "Log in with DB_PASSWORD='hunter2-Xk93vQ9z' at the kiosk."
    plan = kiosk.compression.write(plan.with_level(first, Level.BRIEF), first, text)
    kiosk.compression.apply(kiosk.id, plan)
    assert "hunter2" not in kiosk.summaries()[0].text
