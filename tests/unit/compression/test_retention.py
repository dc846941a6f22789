"""Retention criteria: collected, put into the prompt, checked, met (`docs/design.md`)."""

from __future__ import annotations

from reviewer.commits.retention import parse_patterns
from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.model_engine import CARE, build_summarize_prompt
from reviewer.compression.retention import (
    anchor_points,
    diagnosis,
    validate_retention,
)
from reviewer.compression.values import AnchorPoint
from tests.unit.compression.making import segment, turn

P = Priority


def test_each_pattern_is_checked_in_its_own_mode() -> None:
    patterns = parse_patterns(["$50k"], [r"\d{4}-\d{2}-\d{2}"])
    criteria = [RetentionCriteria(patterns=patterns)]
    assert validate_retention("Budget $50k until 2026-03-31", criteria) == []
    failures = validate_retention("Budget 50k until March", criteria)
    assert [f.pattern for f in failures] == list(patterns)
    assert "substring not found" in failures[0].message
    assert "regex not found" in failures[1].message
    assert diagnosis(failures).startswith("Summary missing: substring not found")


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


def test_a_word_that_must_survive_gets_a_point_with_its_sentence() -> None:
    text = "The export runs at night. The lock file stays below var/run. Nothing else changes."
    start = text.index("lock file")
    word = AnchorPoint(AnchorType.CRITICAL_FACT, "lock file", 1.0, 0, start, start + 9, "retained")
    found = anchor_points([word], segment(turn(text, "assistant")))
    assert found == ("[CriticalFact]: The lock file stays below var/run.",)
