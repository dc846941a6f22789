"""A context made smaller: written as one act, taken back by one undo, opened again."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.commits.values import Pattern, Priority
from reviewer.compression.values import Level
from reviewer.engine import Engine
from reviewer.errors import ReviewerError, UnknownIdError
from tests.unit.compression.conftest import Kiosk
from tests.unit.compression.making import KIOSK


def test_one_act_that_one_undo_takes_back(kiosk: Kiosk) -> None:
    before, texts = kiosk.chain(), kiosk.texts()
    applied = kiosk.compress("brief")
    assert applied.title.startswith("Compressed ")
    assert kiosk.engine.history.undo().title == applied.title
    assert (kiosk.chain(), kiosk.texts()) == (before, texts)
    kiosk.engine.history.redo()
    assert len(kiosk.summaries()) == applied.segments


def test_the_originals_stay_and_summaries_name_them(kiosk: Kiosk) -> None:
    kiosk.compress("brief")
    summary = kiosk.summaries()[0]
    view = kiosk.engine.contexts.commit(summary.commit)
    assert len(view.summary_of) > 2
    assert kiosk.engine.contexts.commit(kiosk.ids[1]).text == KIOSK[0][1]


def test_compressing_again_keeps_criteria_marks_and_anchors(kiosk: Kiosk) -> None:
    contexts = kiosk.engine.contexts
    contexts.annotate(
        kiosk.ids[1], priority="important", retain="keep the dates", retain_match=["$50k"]
    )
    kiosk.compression.marks.mark_text(kiosk.ids[2], "takes 900 ms")
    kiosk.compress("detailed")
    kiosk.compress("brief")
    kiosk.compress("tags")
    whole = "\n".join(message.text for message in kiosk.summaries())
    assert "$50k" in whole
    assert "takes 900 ms" in whole
    carrying = [m for m in kiosk.summaries() if m.priority is Priority.IMPORTANT]
    (criteria,) = {m.retention for m in carrying}
    assert criteria.patterns == (Pattern("$50k"),)
    assert criteria.instructions == "keep the dates"


def test_detected_anchors_are_known_again_although_another_role_says_them(kiosk: Kiosk) -> None:
    kiosk.compress("brief")
    first = kiosk.compression.anchors(kiosk.id)[0]
    assert any(anchor.content.startswith("No, do not touch the driver") for anchor in first)


def test_segment_ids_never_come_twice(kiosk: Kiosk) -> None:
    seen: set[str] = set()
    for level in ("detailed", "brief"):
        ids = {segment.id for segment in kiosk.compression.segments(kiosk.id)}
        assert not ids & seen
        seen |= ids
        kiosk.compress(level)


def test_markers_open_level_by_level_down_to_the_originals(kiosk: Kiosk) -> None:
    kiosk.compress("brief")
    summary = kiosk.summaries()[0]
    expansions = kiosk.compression.expansions
    (marker,) = expansions.markers(summary.commit, summary.text)
    assert marker.target is Level.DETAILED
    nearer = expansions.expand_once(summary.commit)
    assert len(nearer) > len(summary.text)
    whole = kiosk.compression.expanded(summary.commit)
    sources = kiosk.engine.contexts.commit(summary.commit).summary_of
    for number in kiosk.ids[1 : len(sources) + 1]:
        assert kiosk.engine.contexts.commit(number).text in whole


def test_a_summary_of_summaries_opens_to_the_originals_too(kiosk: Kiosk) -> None:
    kiosk.compress("detailed")
    kiosk.compress("brief")
    whole = "\n".join(kiosk.compression.expanded(m.commit) for m in kiosk.summaries())
    for _, text in KIOSK:
        assert text in whole
    with pytest.raises(UnknownIdError, match="no summary"):
        kiosk.compression.expanded(kiosk.ids[0])


def test_levels_can_be_chosen_for_each_segment(kiosk: Kiosk) -> None:
    plan = kiosk.compression.plan(kiosk.id, "brief")
    last = plan.choices[-1].segment
    plan = kiosk.compression.choose(plan, last, "full")
    kiosk.compression.apply(kiosk.id, plan)
    assert len(kiosk.summaries()) == len(plan.choices) - 1
    with pytest.raises(UnknownIdError, match="no segment"):
        kiosk.compression.choose(kiosk.compression.plan(kiosk.id, "brief"), "s99", "full")
    with pytest.raises(ReviewerError, match="no level"):
        kiosk.compression.plan(kiosk.id, "tiny")


def test_criteria_for_one_call_are_met_and_not_kept(kiosk: Kiosk) -> None:
    options = kiosk.compression.options(retain_match=["900 ms"], retain_regex=[r"310\s?ms"])
    kiosk.compress("tags", options=options)
    whole = "\n".join(message.text for message in kiosk.summaries())
    assert "900 ms" in whole
    assert "310 ms" in whole
    assert all(not message.retention for message in kiosk.summaries())
    with pytest.raises(ReviewerError, match="matches nothing in the range"):
        kiosk.compression.plan(
            kiosk.id, "brief", options=kiosk.compression.options(retain_match=["nowhere at all"])
        )


def test_skipped_commits_do_not_come_back_in_summaries(kiosk: Kiosk) -> None:
    secret = kiosk.say("`hidden_plan.py` would be one way.", "assistant", type="reasoning")
    kiosk.say("Done.", "assistant")
    kiosk.compress("detailed")
    assert all("hidden_plan" not in text for text in kiosk.texts())
    assert kiosk.engine.contexts.commit(secret).text.startswith("`hidden_plan.py`")


def test_the_store_is_the_same_for_another_program(kiosk: Kiosk, tmp_path: Path) -> None:
    kiosk.compress("brief")
    other = Engine.open(tmp_path / "store.db")
    assert [m.text for m in other.contexts.compile(kiosk.id)] == kiosk.texts()
    other.close()
