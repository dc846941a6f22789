"""Retention criteria: collected, put into the prompt, checked, met (`docs/design.md`)."""

from __future__ import annotations

import pytest

from reviewer.commits.retention import parse_patterns
from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.model_engine import CARE, build_summarize_prompt
from reviewer.compression.retention import (
    KEY_POINTS,
    anchor_points,
    append_points,
    collect_criteria,
    diagnosis,
    missing_spans,
    needs_care,
    validate_retention,
)
from reviewer.compression.values import AnchorPoint, Level
from tests.unit.compression.making import KIOSK, segment, turn

P = Priority


def test_criteria_of_important_turns_are_gathered_and_only_of_these() -> None:
    found = segment(
        turn("budget $50k", "user", "text", P.IMPORTANT, "$50k", instructions="keep figures"),
        turn("limit 5", "user", "text", P.NORMAL, "5"),
        turn("careful", "user", "text", P.IMPORTANT),
    )
    asked = collect_criteria(found)
    assert [each.turn for each in asked] == [0]
    assert asked[0].criteria.instructions == "keep figures"
    assert needs_care(found)


def test_criteria_of_a_call_apply_where_the_source_matches() -> None:
    call = RetentionCriteria("all dates", (Pattern("$50k"), Pattern("nowhere")))
    (asked,) = collect_criteria(segment(), call)
    assert asked.criteria.patterns == (Pattern("$50k"),)
    assert asked.criteria.instructions == "all dates"


def test_each_pattern_is_checked_in_its_own_mode() -> None:
    patterns = parse_patterns(["$50k"], [r"\d{4}-\d{2}-\d{2}"])
    criteria = [RetentionCriteria(patterns=patterns)]
    assert validate_retention("Budget $50k until 2026-03-31", criteria) == []
    failures = validate_retention("Budget 50k until March", criteria)
    assert [f.pattern for f in failures] == list(patterns)
    assert "substring not found" in failures[0].message
    assert "regex not found" in failures[1].message
    assert diagnosis(failures).startswith("Summary missing: substring not found")


def test_only_missing_spans_are_put_back_in_readable_words() -> None:
    source = segment(
        turn(KIOSK[0][1], "user", "text", P.IMPORTANT, "$50k", "2026-03-31"),
        turn("ok", "assistant"),
    )
    failures = validate_retention("The hard stop is 2026-03-31.", collect_criteria(source))
    spans, impossible = missing_spans(source, failures)
    assert impossible == ()
    mended = append_points("The hard stop is 2026-03-31.", spans)
    assert mended.startswith("The hard stop is 2026-03-31.")
    assert mended.count("2026-03-31") <= 2
    assert "budget is $50k" in mended.partition(KEY_POINTS)[2]
    assert validate_retention(mended, collect_criteria(source)) == []


def test_text_missing_in_the_source_cannot_be_put_back() -> None:
    source = segment(turn("budget", "user", "text", P.IMPORTANT, "$50k"))
    spans, hopeless = missing_spans(source, validate_retention("x", collect_criteria(source)))
    assert spans == ()
    assert [each.pattern.text for each in hopeless] == ["$50k"]


def test_points_go_into_the_list_that_is_there() -> None:
    once = append_points("Goal.", ["one"])
    assert once == f"Goal.\n\n{KEY_POINTS}\n- one"
    assert append_points(once, ["two"]) == f"{once}\n- two"
    assert append_points("Goal.", []) == "Goal."
    assert append_points("", ["one"]) == f"{KEY_POINTS}\n- one"


def test_the_prompt_has_the_important_section_and_needs_care() -> None:
    prompt = build_summarize_prompt(
        "Summarize:",
        retention_instructions=["preserve all dollar amounts"],
        patterns=[Pattern("$50k"), Pattern(r"\d+", "regex")],
        care=True,
    )
    assert (
        "IMPORTANT: The following content was marked as important. You MUST\n"
        "preserve these specific details in your summary:\n"
        "- preserve all dollar amounts\n" in prompt
    )
    assert '- the exact text "$50k"' in prompt
    assert prompt.endswith(CARE)
    assert build_summarize_prompt("Summarize:") == "Summarize:"


LONG = (
    "The nightly import takes the `advisory lock` before it writes, so that two runs never overlap "
    "on the shared cluster, and it handles 5,000 postings in one batch whatever the size of the "
    "file that the bank has sent us in the evening of the day before. Then it ends."
)


@pytest.mark.parametrize(
    ("text", "pattern", "level", "span"),
    [
        ("One. The default stays at 5,000 postings. Two.", Pattern("5,000"), Level.BRIEF,
         "The default stays at 5,000 postings."),
        ("One. The default stays at 5,000 postings. Two.", Pattern("5,000"), Level.TAGS, "5,000"),
        (LONG, Pattern("5,000 postings"), Level.TAGS, "5,000 postings"),
        (LONG, Pattern(r"(?<=handles )[\d,]+ postings", "regex"), Level.TAGS,
         LONG[LONG.index("it handles") : LONG.index(" Then it ends")]),
        (LONG, Pattern("Then it ends"), Level.BRIEF, "Then it ends."),
        ("Use it: " + "word " * 60 + "end.", Pattern("word word"), Level.BRIEF,
             ("word " * 32).strip()),
        ("a\nb c", Pattern("a b"), Level.BRIEF, "a\nb c"),
    ],
)  # fmt: skip
def test_a_span_that_is_put_back_is_the_match_or_its_whole_sentence(
    text: str, pattern: Pattern, level: Level, span: str
) -> None:
    criteria = RetentionCriteria(patterns=(pattern,))
    source = segment(turn(text, "user"))
    failures = validate_retention("", collect_criteria(source, criteria))
    assert missing_spans(source, failures, level) == ((span,), ())
    assert validate_retention(span, [criteria]) == []


def test_what_one_span_says_is_not_put_back_again() -> None:
    text = "The default stays at 5,000 postings. We keep it."
    criteria = RetentionCriteria(patterns=tuple(map(Pattern, ("5,000", "default stays", "keep"))))
    source = segment(turn(text, "user"))
    failures = validate_retention("", collect_criteria(source, criteria))
    spans, _ = missing_spans(source, failures)
    assert spans == ("The default stays at 5,000 postings.", "We keep it.")


def test_an_anchor_inside_another_gets_no_separate_point() -> None:
    contents = ("5,000 postings", "the default stays at 5,000 postings", "5,000 postings", "a lock")
    found = anchor_points([point(content) for content in contents], segment())
    assert found == (
        "[CriticalFact]: the default stays at 5,000 postings",
        "[CriticalFact]: a lock",
    )


def test_a_word_that_must_survive_gets_a_point_with_its_sentence() -> None:
    text = "The export runs at night. The lock file stays below var/run. Nothing else changes."
    start = text.index("lock file")
    word = AnchorPoint(AnchorType.CRITICAL_FACT, "lock file", 1.0, 0, start, start + 9, "retained")
    found = anchor_points([word], segment(turn(text, "assistant")))
    assert found == ("[CriticalFact]: The lock file stays below var/run.",)


def point(content: str) -> AnchorPoint:
    return AnchorPoint(AnchorType.CRITICAL_FACT, content, 1.0, 0, 0, len(content), "confirmed")
