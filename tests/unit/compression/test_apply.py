"""Applied compressions: one act, no lost commits, criteria kept, undone by one undo."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reviewer.commits.values import Pattern, Priority
from reviewer.compression.retention import criteria_of
from reviewer.compression.segments import full_text
from reviewer.compression.values import Level
from reviewer.errors import ConflictError, ReviewerError, UnknownIdError
from reviewer.llm.steering import RetryExhaustedError
from tests.unit.compression.conftest import Kiosk


def test_compressing_again_keeps_criteria_marks_and_anchors(kiosk: Kiosk) -> None:
    contexts = kiosk.engine.contexts
    contexts.annotate(
        kiosk.ids[1], priority="important", retain="keep the dates", retain_match=["$50k"]
    )
    kiosk.compression.pin_text(kiosk.ids[2], "takes 900 ms")
    kiosk.compress("detailed")
    kiosk.compress("brief")
    kiosk.compress("tags")
    whole = "\n".join(message.text for message in kiosk.summaries())
    assert "$50k" in whole
    assert "takes 900 ms" in whole


def test_only_the_marked_turn_is_important_behind_a_summary(kiosk: Kiosk) -> None:
    kiosk.engine.contexts.annotate(kiosk.ids[3], priority="important")
    kiosk.compress("brief")
    behind = kiosk.compression.segments(kiosk.id)[0].turns
    important = [turn.commit for turn in behind if turn.priority is Priority.IMPORTANT]
    assert important == [kiosk.ids[3]]


def test_criteria_of_a_summary_count_for_its_other_levels(kiosk: Kiosk) -> None:
    kiosk.compress("detailed")
    summary = kiosk.summaries()[0].commit
    kiosk.engine.contexts.annotate(summary, retain_match=["$50k"])
    first = kiosk.compression.segments(kiosk.id)[0]
    assert criteria_of(first).patterns == (Pattern("$50k"),)


def test_detected_anchors_are_known_again_although_another_role_says_them(kiosk: Kiosk) -> None:
    kiosk.compress("brief")
    first = kiosk.anchors()
    assert any(anchor.content.startswith("No, do not touch the driver") for anchor in first)


@pytest.mark.parametrize("levels", [["brief"], ["detailed", "brief"]], ids=["once", "twice"])
def test_the_markers_of_summaries_open_down_to_the_originals(
    kiosk: Kiosk, levels: list[str]
) -> None:
    originals = kiosk.texts()[1:]
    for level in levels:
        kiosk.compress(level)
    summaries = kiosk.summaries()
    assert "[→detail:" in summaries[0].text
    whole = "\n".join(kiosk.compression.expanded(each.commit) for each in summaries)
    assert "[→" not in whole
    assert all(text in whole for text in originals)
    with pytest.raises(UnknownIdError, match="not a summary"):
        kiosk.compression.expanded(kiosk.ids[0])


def test_criteria_that_no_summary_can_meet_are_refused_and_nothing_changes(kiosk: Kiosk) -> None:
    kiosk.engine.contexts.annotate(
        kiosk.ids[2], priority="important", retain_match=["not in this commit"]
    )
    before = kiosk.chain()
    with pytest.raises(RetryExhaustedError, match='substring not found: "not in this commit"'):
        kiosk.compress("brief")
    assert kiosk.chain() == before


def test_bare_important_has_an_effect(kiosk: Kiosk) -> None:
    quiet = kiosk.ids[45]
    said = kiosk.texts()[45].split(" receipts ")[0]
    plain = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    kiosk.engine.contexts.annotate(quiet, priority="important")
    careful = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    assert said not in plain.segments[-1].compressed.content
    assert said in careful.segments[-1].compressed.content


def test_an_edit_inside_the_range_is_allowed_and_its_text_is_summarized(kiosk: Kiosk) -> None:
    contexts = kiosk.engine.contexts
    edited = contexts.edit(kiosk.ids[4], "We decided to keep one connection to `late_queue.py`.")
    kept = contexts.edit(kiosk.ids[-1], "The very last word.")
    plan = kiosk.compression.plan(kiosk.id, "brief", end=kiosk.ids[20])
    kiosk.compression.apply(plan)
    assert "late_queue.py" in kiosk.summaries()[0].text
    assert edited.text not in kiosk.texts()
    assert kiosk.texts()[-1] == kept.text


@pytest.mark.parametrize(
    "change",
    [
        lambda kiosk: kiosk.say("One more thing."),
        lambda kiosk: kiosk.engine.contexts.annotate(kiosk.ids[3], priority="pinned"),
    ],
    ids=["a commit", "an annotation"],
)
def test_what_changed_since_the_preview_is_noticed(
    kiosk: Kiosk, change: Callable[[Kiosk], object]
) -> None:
    found = kiosk.compression.preview(kiosk.compression.plan(kiosk.id, "brief"))
    change(kiosk)
    before = kiosk.chain()
    with pytest.raises(ConflictError, match="Nothing was written; preview again"):
        kiosk.compression.apply(found.plan)
    assert kiosk.chain() == before


def test_marks_are_one_act_each_and_taken_back(kiosk: Kiosk) -> None:
    compression, commit = kiosk.compression, kiosk.ids[2]
    assert compression.pin_text(commit, "takes 900 ms")
    assert compression.pin_text(commit, "takes 900 ms") == 0
    pinned = [a for a in kiosk.anchors() if a.source == "pinned"]
    assert [anchor.content for anchor in pinned] == ["takes 900 ms"]
    kiosk.engine.history.undo()
    assert all(a.source == "detected" for a in kiosk.anchors())
    with pytest.raises(ReviewerError, match="does not contain that text"):
        compression.pin_text(commit, "never said")
    with pytest.raises(ReviewerError, match="empty or outside"):
        compression.pin(commit, 5, 100_000)


def test_a_marked_span_moves_with_an_edit_or_goes_with_it(kiosk: Kiosk) -> None:
    kiosk.compression.pin_text(kiosk.ids[2], "takes 900 ms")
    kiosk.engine.contexts.edit(kiosk.ids[2], "So much: it takes 900 ms.")
    assert "takes 900 ms" in {a.content for a in kiosk.anchors()}
    kiosk.engine.contexts.edit(kiosk.ids[2], "It is slow.")
    assert all(a.source == "detected" for a in kiosk.anchors())


def test_an_applied_summary_gets_no_text_that_nobody_has_checked(kiosk: Kiosk) -> None:
    kiosk.compress("brief")
    summary = kiosk.summaries()[0]
    with pytest.raises(ReviewerError, match="is a summary, and its text is checked"):
        kiosk.engine.contexts.edit(summary.commit, "All is well.")
    assert kiosk.summaries()[0].text == summary.text
    plan = kiosk.compression.plan(kiosk.id, "brief", start=summary.commit, end=summary.commit)
    (choice,) = plan.choices
    plan = kiosk.compression.write(plan, choice.segment, "All is well.")
    assert kiosk.compression.preview(plan).segments[0].in_doubt


def test_secrets_typed_into_a_summary_are_masked(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "full")
    first = plan.choices[0].segment
    text = "Log in with DB_PASSWORD='hunter2-Xk93vQ9z' at the kiosk."
    plan = kiosk.compression.write(plan.with_level(first, Level.BRIEF), first, text)
    kiosk.compression.apply(plan)
    assert "hunter2" not in kiosk.summaries()[0].text


def test_a_summary_that_did_not_pass_is_still_one_that_does_not_once_it_is_applied(
    kiosk: Kiosk,
) -> None:
    plan = kiosk.compression.plan(kiosk.id, "full")
    first = plan.choices[0].segment
    source = kiosk.compression.segments(kiosk.id)[0]
    anchor = min(kiosk.anchors(), key=lambda each: len(each.content)).content
    text = full_text(source.turns).replace(anchor, "")
    plan = kiosk.compression.write(plan.with_level(first, Level.DETAILED), first, text)
    found = kiosk.compression.preview(plan).segments[0]
    assert found.in_doubt
    assert found.fidelity.overall_score > 0.85
    kiosk.compression.apply(plan)
    applied = kiosk.compression.segments(kiosk.id)[0].applied
    assert applied is not None
    assert not applied.passes
