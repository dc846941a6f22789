"""What must survive: append-only, the latest holds, doubts are said at once."""

from __future__ import annotations

import pytest

from reviewer.commits.contexts import Contexts
from reviewer.commits.criteria import PatternError
from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.engine import Engine
from reviewer.errors import ConflictError
from tests.clocks import TickingClock
from tests.unit.commits.conftest import SPECIFICATION, Say

IMPORTANT = Priority.IMPORTANT
DATE = r"\d{4}-\d{2}-\d{2}"


@pytest.fixture
def number(say: Say) -> int:
    return say(SPECIFICATION)


def test_the_example_of_the_document_runs(contexts: Contexts, context: int, number: int) -> None:
    t, commit_hash = contexts, contexts.commit(number).row.hash
    assert t.annotate(commit_hash, priority=IMPORTANT).warnings == ()
    assert t.commit(number).retention == RetentionCriteria()

    t.annotate(commit_hash, priority=IMPORTANT, retain="preserve all dollar amounts")
    assert t.commit(number).retention == RetentionCriteria("preserve all dollar amounts")

    done = t.annotate(commit_hash, priority=IMPORTANT, clear=True, retain_match=["$50k", DATE])
    # A plain string is a text, not an expression: in one mode for both, one of them cannot work.
    assert done.warnings == (f'"{DATE}" does not occur in {commit_hash[:8]}.',)
    done = t.annotate(commit_hash, priority=IMPORTANT, retain_match=["$50k"], retain_regex=[DATE])
    assert done.warnings == ()
    assert t.commit(number).retention.patterns == (Pattern("$50k"), Pattern(DATE, "regex"))

    t.annotate(
        commit_hash, priority=IMPORTANT, retain="keep financial details", retain_match=["$50k"]
    )
    assert t.commit(number).retention == RetentionCriteria(
        "keep financial details", (Pattern("$50k"),)
    )

    long = t.add(
        context,
        role="user",
        text="Long requirements doc: the budget is $50k, the pilot takes six weeks.",
        priority=IMPORTANT,
        retain="preserve budget and timeline constraints",
    )
    assert (long.row.priority, long.row.criteria) == (IMPORTANT, 1)
    assert long.retention.instructions == "preserve budget and timeline constraints"


@pytest.mark.parametrize(
    ("role", "kind", "priority"),
    [
        ("user", None, "normal"),
        ("system", None, "pinned"),
        ("user", "session", "pinned"),
        ("assistant", "reasoning", "skip"),
        ("tool", None, "normal"),
        ("user", "meeting", "normal"),
    ],
)
def test_types_have_default_priorities(
    contexts: Contexts, context: int, role: str, kind: str | None, priority: str
) -> None:
    row = contexts.add(context, role=role, text="Words.", type=kind).row
    assert (row.priority, row.annotated) == (priority, False)


def test_the_latest_holds_and_the_earlier_ones_stay_readable(
    contexts: Contexts, number: int, clock: TickingClock
) -> None:
    contexts.annotate(number, priority="pinned")
    contexts.annotate(number, priority="skip")
    view = contexts.commit(number)
    assert view.row.priority is Priority.SKIP
    assert [each.priority for each in view.annotations] == ["skip", "pinned"]
    assert view.annotations[0].at > view.annotations[1].at
    assert {each.actor for each in view.annotations} == {"you"}


def test_a_priority_alone_keeps_the_criteria(contexts: Contexts, number: int) -> None:
    contexts.annotate(number, retain="the money", retain_match=["$50k"])
    done = contexts.annotate(number, priority="pinned")
    assert contexts.commit(number).retention == RetentionCriteria("the money", (Pattern("$50k"),))
    assert "Criteria only count for important commits" in done.warnings[0]
    assert "(pinned)" in done.warnings[0]


def test_criteria_of_one_kind_leave_the_other_kind(contexts: Contexts, number: int) -> None:
    contexts.annotate(number, retain="the money", retain_match=["$50k"])
    contexts.annotate(number, retain_match=["drawer"])
    assert contexts.commit(number).retention == RetentionCriteria("the money", (Pattern("drawer"),))
    contexts.annotate(number, retain_match=[])
    assert contexts.commit(number).retention == RetentionCriteria("the money")
    contexts.annotate(number, clear=True, retain_match=["drawer"])
    assert contexts.commit(number).retention == RetentionCriteria(None, (Pattern("drawer"),))
    assert "Nothing must survive" in contexts.annotate(number, clear=True).title
    assert contexts.commit(number).retention == RetentionCriteria()


@pytest.mark.parametrize(
    ("before", "after"),
    [("skip", "important"), ("normal", "important"), ("pinned", "pinned")],
)
def test_criteria_without_a_priority_make_it_important_at_least(
    contexts: Contexts, number: int, before: str, after: str
) -> None:
    contexts.annotate(number, priority=before)
    contexts.annotate(number, retain="the money")
    assert contexts.commit(number).row.priority == after


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  Use tapes.\n\nThey last.", "“Use tapes.”"),
        ("Keep the drawer of the vault shut.", "“Keep the drawer of the vault s…”"),
        (
            "<task-notification>\n<task-id>a1</task-id>\n<summary>Agent of tapes is done</summary>",
            "“Agent of tapes is done”",
        ),
    ],
)
def test_the_title_names_a_turn_by_its_first_words(
    contexts: Contexts, say: Say, text: str, words: str
) -> None:
    assert contexts.annotate(say(text), priority="skip").title == f"Skipped {words}"


def test_what_holds_already_is_not_written_again(
    engine: Engine, contexts: Contexts, number: int
) -> None:
    contexts.annotate(number, priority="pinned")
    acts = len(engine.history.acts(limit=10_000))
    again = contexts.annotate(number, priority="pinned")
    assert (again.act, again.ids, len(engine.history.acts(limit=10_000))) == (0, (), acts)
    assert "nothing changed" in again.title


def test_a_pattern_that_everything_passes_is_said(contexts: Contexts, number: int) -> None:
    (doubt,) = contexts.annotate(number, retain_regex=["x*"]).warnings
    assert "nothing must survive" in doubt


def test_a_catastrophic_pattern_is_kept_and_said(contexts: Contexts, say: Say) -> None:
    number = say("a" * 60 + "b")
    (doubt,) = contexts.annotate(number, retain_regex=["(a|aa)+$"]).warnings
    assert "could not be checked in time" in doubt


def test_many_patterns_are_kept_and_doubts_stay_readable(contexts: Contexts, number: int) -> None:
    done = contexts.annotate(number, retain_match=[f"clause {n}" for n in range(50)])
    assert contexts.commit(number).row.criteria == 50
    assert len(done.warnings) == 21
    assert done.warnings[-1] == "30 more patterns are in doubt."


def test_a_bad_expression_at_commit_time_leaves_no_commit(contexts: Contexts, context: int) -> None:
    with pytest.raises(PatternError):
        contexts.add(context, role="user", text="Words.", retain_regex=["(a"])
    assert contexts.get(context).commits == 0


def test_an_annotation_is_not_taken_back_under_a_later_one(
    engine: Engine, contexts: Contexts, number: int
) -> None:
    pinned = contexts.annotate(number, priority=Priority.PINNED).act
    kept = contexts.annotate(number, retain_match=["$50k"]).act
    with pytest.raises(ConflictError, match=rf"a later annotation counts.*Undo first: act {kept} "):
        engine.history.undo_act(pinned)
    assert contexts.commit(number).row.priority == Priority.PINNED
    engine.history.undo_act(kept)
    engine.history.undo_act(pinned)
    assert contexts.commit(number).row.priority != Priority.PINNED
