"""A model that behaves badly: every failure is a named sentence, and the store is unchanged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reviewer.commits.values import Priority
from reviewer.compression.anchors import find_anchors
from reviewer.compression.engine import SegmentAnalysis, SummaryTask
from reviewer.compression.measures import SegmentCompressed
from reviewer.compression.model_engine import CARE, ModelEngine
from reviewer.compression.values import Level, Segment, SummarizationOptions
from reviewer.llm.model import CancelledError, Completion, ModelError
from reviewer.llm.steering import RetryExhaustedError
from reviewer.llm.templates import TemplateError
from tests.unit.compression.making import (
    KIOSK,
    count,
    long_segment,
    segment,
    summarizer,
    turn,
)
from tests.unit.llm.scripted import Answer, Scripted

GOOD = (
    "The kiosk prints receipts too slowly; it is due at the hard stop of 2026-03-31. "
    "I prefer small commits: should the drawer stay closed until the terminal answers? "
    "Do not touch the driver, the vendor list must stay as it is until legal signs. "
    "They decided to keep the connection."
)


def brief(
    source: Segment | None = None, *script: Answer, **options: object
) -> tuple[str, Scripted]:
    model = Scripted(*script)
    found = summarizer(model).compress(
        source or long_segment(),
        (),
        Level.BRIEF,
        SummarizationOptions(**options),  # type: ignore[arg-type]
    )
    return found.content, model


def important(*patterns: str) -> Segment:
    return segment(
        turn(KIOSK[0][1], "user", "text", Priority.IMPORTANT, *patterns), *long_segment(10).turns
    )


@pytest.mark.parametrize(
    ("answer", "diagnosis"),
    [
        ("", "is empty"),
        ("   \n", "is empty"),
        ("I'm sorry, but I can't help with that.", "refused"),
        (Completion("x", "m", 5, 1, "filtered"), "refused"),
        (Completion(GOOD[:40], "m", 5, 9, "length"), "cut off at 9 tokens"),
        ("The kiosk " + " ".join(f"word{n}" for n in range(4000)), "more than the"),
    ],
    ids=["empty", "blank", "refused", "filtered", "cut off", "long"],
)
def test_an_answer_that_is_not_a_summary_is_refused_by_name(answer: Answer, diagnosis: str) -> None:
    with pytest.raises(RetryExhaustedError, match=diagnosis) as refused:
        brief(None, answer, max_retries=1)
    assert refused.value.attempts == 2


def test_an_answer_above_the_ceiling_is_refused() -> None:
    with pytest.raises(RetryExhaustedError, match="at most 10 are allowed"):
        brief(None, GOOD, max_retries=0, ceiling=10)


@pytest.mark.parametrize(
    "failure",
    [ModelError("The model did not answer within 60 seconds."), CancelledError("Stopped.")],
)
def test_an_error_of_the_endpoint_passes_through_without_a_retry(failure: ModelError) -> None:
    model = Scripted(failure)
    with pytest.raises(type(failure), match=re.escape(str(failure))):
        summarizer(model).compress(long_segment(), (), Level.BRIEF)
    assert len(model.asked) == 1


def test_a_retry_names_the_missing_details_and_shows_the_previous_summary() -> None:
    source = important("$50k", "receipts")
    answers = [f"{GOOD} About receipts.", f"{GOOD} About receipts for $50k."]
    content, model = brief(source, *answers)
    assert content.startswith(answers[1])
    first, second = model.asked
    assert second[: len(first)] == first
    assert (second[-2].role, second[-2].content) == ("assistant", answers[0])
    assert 'substring not found: "$50k"' in second[-1].content
    assert '"receipts"' not in second[-1].content


def test_an_answer_longer_than_its_limit_is_not_sent_back() -> None:
    long = "The kiosk " + " ".join(f"word{n}" for n in range(4000))
    content, model = brief(None, long, GOOD)
    assert content.startswith(GOOD)
    assert "word9" not in "".join(each.content for each in model.asked[1])


def test_exhausted_retries_tell_the_last_diagnosis_and_keep_the_last_text() -> None:
    made = summarizer(model := Scripted(GOOD))
    with pytest.raises(RetryExhaustedError, match=r'4 times.*substring not found: "\$50k"') as told:
        made.compress(important("$50k"), (), Level.BRIEF)
    assert told.value.last.text == GOOD
    assert (told.value.attempts, len(model.asked)) == (4, 4)


def test_the_prompt_has_the_level_the_anchors_the_criteria_and_the_text() -> None:
    source = important("$50k")
    made = summarizer(model := Scripted(f"{GOOD} $50k"))
    made.compress(source, find_anchors(source.turns), Level.DETAILED)
    system, user = model.asked[0]
    assert "creating DETAILED summaries" in system.content
    assert '- [Correction]: "No, do not touch the driver' in system.content
    assert "[→more:s1:receipts]" in system.content
    assert KIOSK[0][1] in user.content
    assert "IMPORTANT: The following content was marked as important" in user.content
    assert '- the exact text "$50k"' in user.content
    assert CARE not in user.content
    careful = segment(turn(KIOSK[0][1], "user", "text", Priority.IMPORTANT), *source.turns[1:])
    made.compress(careful, (), Level.DETAILED)
    assert model.asked[-1][-1].content.endswith(CARE)


def test_markers_that_the_model_writes_count_only_for_its_own_segment() -> None:
    marked = f"{GOOD} [→more:s1:printing] and [→more:s8:taxes] [→more:s1:driver]"
    found = summarizer(Scripted(marked)).compress(long_segment(), (), Level.DETAILED)
    assert [marker.label for marker in found.expansion_markers] == ["printing", "driver"]


def test_a_long_segment_is_cut_to_the_models_context() -> None:
    model = Scripted(GOOD)
    summarizer(model, context_tokens=1500).compress(long_segment(100), (), Level.BRIEF)
    asked = sum(count(one.content) for one in model.asked[0])
    assert asked + model.limits[0] <= 1500
    giant = segment(
        turn(" ".join(f"kiosk{n}" for n in range(12_000)), "assistant"), *long_segment(4).turns
    )
    summarizer(model, context_tokens=3000).compress(giant, (), Level.BRIEF)
    asked_last = [each.content for each in model.asked[-1] if each.role == "user"]
    assert "characters left out" in asked_last[0]
    assert KIOSK[2][1] in asked_last[0]


def test_what_a_summary_lacks_is_graded_and_not_asked_for_again() -> None:
    source = long_segment(60)
    content, model = brief(source, "The visitors were content with `lift.py`.")
    assert len(model.asked) == 1
    assert "The kiosk prints receipts too slowly" not in content  # nothing is put into its text


def test_a_context_too_small_for_the_prompt_is_reported() -> None:
    made = summarizer(Scripted(GOOD), context_tokens=200)
    with pytest.raises(ModelError, match="context of 200 tokens is too small for the prompt"):
        made.compress(long_segment(), (), Level.BRIEF)


def test_tokens_of_the_model_are_counted_over_all_attempts() -> None:
    heard: list[SegmentCompressed] = []
    model = Scripted("", GOOD)
    summarizer(model, heard=heard).compress(long_segment(), (), Level.BRIEF)
    asked = sum(count(one.content) for prompt in model.asked for one in prompt)
    assert heard[0].model_tokens == asked + count(GOOD)
    assert heard[0].compressed.engine == "scripted"


def test_a_stop_is_heeded_before_the_model_is_asked() -> None:
    model = Scripted(GOOD)
    with pytest.raises(CancelledError):
        summarizer(model).compress(long_segment(), (), Level.BRIEF, cancelled=lambda: True)
    assert model.asked == []


def task(source: Segment) -> SummaryTask:
    return SummaryTask(SegmentAnalysis(source), Level.BRIEF, (), 100, SummarizationOptions())


def test_a_users_template_replaces_the_built_in_one(tmp_path: Path) -> None:
    (tmp_path / "compression-brief.toml").write_text(
        'template_id = "compression-brief"\nsystem_prompt = "As a pirate."\n'
        'user_prompt = "Tell of {{messages}} in {{max_tokens}}"\n'
    )
    model = Scripted(GOOD)
    writer = ModelEngine(model, count, context_tokens=8192, templates=tmp_path)
    writer.write(task(segment()))
    assert model.asked[0][0].content == "As a pirate."
    assert model.asked[0][1].content.startswith("Tell of person: The kiosk")


def test_a_bad_template_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "compression-brief.toml").write_text(
        'template_id = "compression-brief"\nsystem_prompt = ""\nuser_prompt = "{{mood}}"\n'
    )
    model = Scripted(GOOD)
    writer = ModelEngine(model, count, context_tokens=8192, templates=tmp_path)
    with pytest.raises(TemplateError, match="no field mood"):
        writer.write(task(segment()))
    assert model.asked == []
