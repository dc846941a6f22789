"""Writing what must survive: the form, its live checks, modes, drafts; and what the panes say."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from reviewer.commits.values import MatchMode, Pattern, PatternCheck, Priority, TokenTotals
from reviewer.engine import Engine
from reviewer.text.token_numbers import short_count
from reviewer.tui.commits.model import (
    Criteria,
    align_modes,
    read_commit,
    shares,
    tokens_by_priority,
)
from reviewer.tui.commits.panes import survival_blocks, verdict
from reviewer.tui.commits.retention_form import RetentionForm
from reviewer.tui.kit.contexts import match_spans
from reviewer.tui.theme import ASCII, GLYPHS
from tests.tui.commits.driving import chain, commits, priorities, status_text, styled, typed
from tests.tui.conftest import Screen, opened

BUDGET = 1
"""The position of the commit that names the budget."""


def form(screen: Screen) -> RetentionForm:
    return screen.app.screen.query_one(RetentionForm)


async def test_criteria_are_written_and_make_the_commit_important(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r", *"amounts and dates", "tab", *"$50k", "enter")
        await screen.press(*r"\d{4}-\d{2}-\d{2}", "ctrl+r", "enter", *"legal", "tab", *"asked")
        await screen.press("ctrl+s")
        view = fair.contexts.commit(chain(fair)[BUDGET])
        assert view.retention.instructions == "amounts and dates"
        assert view.retention.patterns == (
            Pattern("$50k"), Pattern("legal"), Pattern(r"\d{4}-\d{2}-\d{2}", "regex"),
        )  # fmt: skip
        assert view.annotations[0].reason == "asked"
        assert priorities(fair) == "pinnnn"
        for line in (
            r'match       "\$50k"   ✓ matches here \(1\)',
            r"regex       \\d\{4\}-\\d\{2\}-\\d\{2\}   ✓ matches here \(1\)",
            r'match       "legal"   ✗ not in this commit',
            r"important by you, 2026-03-02 09:30,\s",
        ):
            assert re.search(line, screen.text), line
        assert '"legal" does not occur in' in status_text(screen)
        await screen.press("u")
        assert not fair.contexts.commit(chain(fair)[BUDGET]).retention
        assert "no rules" in screen.text


async def test_checks_are_live_and_name_the_fault(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r", "tab", *"$50k")
        await screen.settle()
        assert re.search(r"text  ✓ 1 +\$50k", screen.text)
        await screen.press(*"0")
        await screen.settle()
        assert re.search(r"text  ✗ +\$50k0", screen.text)
        assert "Does not occur here." in screen.text
        await screen.press("enter", *"(ab", "ctrl+r")
        await screen.settle()
        assert re.search(r"regex bad +\(ab", screen.text)
        assert "Column 4: missing )." in screen.text


async def test_a_slow_expression_is_reported_and_the_screen_stays_usable(fair: Engine) -> None:
    number = chain(fair)[0]
    fair.contexts.edit(number, "a" * 3_000 + "!")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "r", "tab", *r"^(([a-z])+.)+[A-Z]([a-z])+$", "ctrl+r")
        await screen.until(lambda: "slow" in screen.text)
        await screen.press("enter", *"x")
        assert form(screen).checked.area.patterns[1] == ("x", "substring")


async def test_tabs_typed_ahead_go_on_from_field_to_field(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r")
        form(screen).next_field()
        form(screen).next_field()
        await screen.press(*"asked")
        assert form(screen).criteria == Criteria(reason="asked")


async def test_a_bad_expression_is_refused_and_the_form_stays(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r", "tab", *"(ab", "ctrl+r", "ctrl+s")
        assert "is bad at column 4" in status_text(screen)
        assert "ctrl+s save" in screen.text
        assert form(screen).criteria.patterns == (("(ab", "regex"),)
        assert priorities(fair) == "pnnnnn"


async def test_what_matches_is_marked_in_the_text_while_it_is_typed(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r", "tab", *"$50k")
        await screen.settle()
        assert styled(screen, "kept") == ["$50k"]


async def test_escape_keeps_a_draft_that_can_be_continued(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r", *"words", "tab", *"x+", "ctrl+r", "escape")
        assert "is kept: r continues it." in status_text(screen)
        assert "draft kept: r continues" in screen.text
        assert priorities(fair) == "pnnnnn"
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "r")
        assert form(screen).criteria == Criteria("words", (("x+", "regex"),))
        await screen.press("ctrl+s")
        assert not fair.retention_drafts.ids()
        assert fair.contexts.commit(chain(fair)[BUDGET]).retention.instructions == "words"


async def test_criteria_can_be_emptied(fair: Engine) -> None:
    number = chain(fair)[BUDGET]
    fair.contexts.annotate(number, retain="all", retain_match=["$50k"])
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r")
        typed(screen, "#retain-words", "")
        typed(screen, "#retain-patterns", "")
        await screen.press("ctrl+s")
        assert not fair.contexts.commit(number).retention
        assert status_text(screen).startswith("Dropped the criteria of")


async def test_criteria_for_all_that_are_marked_are_one_act(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "v", "j", "j")
        before = fair.history.acts_total()
        await screen.press("r", *"every promise", "ctrl+s")
        assert fair.history.acts_total() == before + 1
        assert priorities(fair) == "piiinn"
        assert "Set what to retain of 3 commits - u to undo" in status_text(screen)


async def test_an_unchanged_form_is_not_written(fair: Engine) -> None:
    number = chain(fair)[BUDGET]
    fair.contexts.annotate(number, retain="all\namounts", retain_match=["a\nb", re.compile("x\ny")])
    held = fair.contexts.commit(number).retention
    async with opened(fair, project="acme") as screen:
        before = fair.history.acts_total()
        await screen.press("f3", "j", "r")
        assert form(screen).checked.area.text.split("\n") == ["a b", r"x\ny"]
        await screen.press("ctrl+s")
        assert status_text(screen).endswith(": left unchanged.")
        assert fair.history.acts_total() == before
        await screen.press("*", "r", "ctrl+s")
        assert fair.contexts.commit(number).retention == held


async def test_criteria_for_marked_commits_are_looked_for_in_one_of_them(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "space", "space", "G", "r", "tab", *"$50k")
        await screen.settle()
        assert "2 marked commits, looked for in" in screen.text
        assert re.search(r"text  ✓ 1 +\$50k", screen.text)
        assert "The budget is $50k" in commits(screen).text.plain_text
        await screen.press("escape")
        assert "No deposits" in commits(screen).text.plain_text


async def test_other_keys_wait_while_the_form_is_open(fair: Engine) -> None:
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r", *"pinned", "tab", *"pinS")
        assert priorities(fair) == "pnnnnn"
        assert form(screen).criteria == Criteria("pinned", (("pinS", "substring"),))


async def test_ten_thousand_patterns_open_and_only_those_in_sight_are_checked(
    fair: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = chain(fair)[BUDGET]
    fair.contexts.annotate(number, retain_match=[f"text {each}" for each in range(10_000)])
    asked: list[int] = []
    check = fair.contexts.check

    def counted(patterns: Sequence[Pattern], text: str) -> object:
        asked.append(len(patterns))
        return check(patterns, text)

    monkeypatch.setattr(fair.contexts, "check", counted)
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j")
        assert "and 9,950 more: r shows all" in commits(screen).survival.plain_text
        await screen.press("r", "tab", "pagedown", "pagedown")
        await screen.settle()
        assert len(form(screen).checked.area.patterns) == 10_000
        assert max(asked) <= 50


async def test_criteria_of_several_keep_what_their_field_leaves_empty(fair: Engine) -> None:
    budget, stage = chain(fair)[1:3]
    fair.contexts.annotate(budget, retain="all amounts", retain_match=["$50k"])
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "space", "space", "r")
        assert status_text(screen).startswith(
            "1 of them has criteria: a field that you leave empty keeps"
        )
        await screen.press("tab", *"vendors", "ctrl+s")
        kept, added = (fair.contexts.commit(each).retention for each in (budget, stage))
        assert (kept.instructions, kept.patterns) == ("all amounts", (Pattern("vendors"),))
        assert (added.instructions, added.patterns) == (None, (Pattern("vendors"),))
        await screen.press("k", "k", "space", "space", "r", *"every promise", "ctrl+s")
        kept = fair.contexts.commit(budget).retention
        assert (kept.instructions, kept.patterns) == ("every promise", (Pattern("vendors"),))


async def test_one_more_pattern_keeps_words_texts_and_expressions(fair: Engine) -> None:
    number = chain(fair)[BUDGET]
    fair.contexts.annotate(
        number, retain="all", retain_match=["$50k"], retain_regex=[r"\d{4}-\d{2}"]
    )
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r", "tab", "end", "enter", *"hard stop", "ctrl+s")
        held = fair.contexts.commit(number).retention
        assert held.instructions == "all"
        assert set(held.patterns) == {
            Pattern("$50k"), Pattern("hard stop"), Pattern(r"\d{4}-\d{2}", "regex"),
        }  # fmt: skip


async def test_a_damaged_draft_is_named_and_the_form_shows_the_saved_criteria(fair: Engine) -> None:
    number = chain(fair)[BUDGET]
    fair.contexts.annotate(number, retain="all amounts")
    fair.retention_drafts.save(number, "{not json")
    async with opened(fair, project="acme") as screen:
        await screen.press("f3", "j", "r")
        assert status_text(screen).startswith(
            "The draft cannot be read, so you see what was saved last"
        )
        assert form(screen).criteria == Criteria("all amounts")


# values


MODES = [
    ("typing in a line", ["a", "b"], ["a", "bx"], "rs", "rs"),
    ("a line more", ["a", "b"], ["a", "n", "b"], "rs", "rss"),
    ("a line less", ["a", "b", "c"], ["a", "c"], "rsr", "rr"),
    ("the first line less", ["a", "b"], ["b"], "rs", "s"),
    ("all gone", ["a", "b"], [""], "rs", "r"),
    ("a line that comes back knows what it was", ["a"], ["a", "old"], "s", "sr"),
]


@pytest.mark.parametrize(
    ("before", "after", "modes", "wanted"),
    [one[1:] for one in MODES],
    ids=[one[0] for one in MODES],
)
def test_every_line_keeps_its_mode(
    before: list[str], after: list[str], modes: str, wanted: str
) -> None:
    words: dict[str, MatchMode] = {"r": "regex", "s": "substring"}
    found = align_modes(before, [words[each] for each in modes], after, {"old": "regex"})
    assert found == [words[each] for each in wanted]


MARKS = [
    ("a text, blanks folded", [Pattern("hard stop")], "the hard\n stop", ["hard\n stop"]),
    ("an expression", [Pattern(r"\d+", "regex")], "12 of 345", ["12", "345"]),
    ("overlaps become one", [Pattern("ab c"), Pattern("c d")], "ab c d", ["ab c d"]),
    ("signs are taken as they are", [Pattern("$5 (net)")], "is $5 (net).", ["$5 (net)"]),
    ("an expression that finds nothing has no place", [Pattern("x*", "regex")], "abc", []),
]


@pytest.mark.parametrize(
    ("patterns", "text", "wanted"), [each[1:] for each in MARKS], ids=[each[0] for each in MARKS]
)
def test_places_of_matches(patterns: list[Pattern], text: str, wanted: list[str]) -> None:
    checks = [PatternCheck(each, "matches", 1) for each in patterns]
    assert [text[one.start : one.end] for one in match_spans(checks, text)] == wanted


def test_only_what_matches_is_marked() -> None:
    assert match_spans([PatternCheck(Pattern("a"), "missing")], "a") == ()


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (PatternCheck(Pattern("a"), "matches", 1_000), "+ matches here (1,000)"),
        (PatternCheck(Pattern("a"), "missing"), "x not in this commit"),
        (PatternCheck(Pattern("("), "bad", column=1), "! bad regex at column 2"),
        (PatternCheck(Pattern("a"), "slow"), "! too slow"),
    ],
)
def test_a_check_in_words(check: PatternCheck, words: str) -> None:
    assert verdict(check, ASCII)[0] == words


@pytest.mark.parametrize(
    ("values", "cells", "wanted"),
    [
        ([1, 1, 2], 8, [2, 2, 4]),
        ([1, 0, 999_999], 10, [1, 0, 9]),
        ([1, 1, 1, 999_999], 10, [1, 1, 1, 7]),
        ([0, 0], 10, [0, 0]),
        ([5, 5, 5], 2, [1, 1, 1]),
        ([1, 2], 0, [0, 0]),
    ],
)
def test_shares_of_a_bar(values: list[int], cells: int, wanted: list[int]) -> None:
    assert shares(values, cells) == wanted


@pytest.mark.parametrize(
    ("tokens", "words"), [(0, "0"), (999, "999"), (9_240, "9.2k"), (48_120, "48k"), (1.2e6, "1.2M")]
)
def test_a_count_in_short(tokens: int, words: str) -> None:
    assert short_count(tokens) == words


def test_the_bar_begins_with_the_most_careful() -> None:
    by = {Priority.SKIP: 1, Priority.NORMAL: 2, Priority.IMPORTANT: 3, Priority.PINNED: 4}
    assert list(tokens_by_priority(TokenTotals(10, by, {}, by)).items()) == [
        ("pinned", 4), ("important", 3), ("normal", 2), ("skip", 1),
    ]  # fmt: skip


def test_criteria_on_a_pinned_commit_say_that_they_wait(fair: Engine) -> None:
    number = chain(fair)[BUDGET]
    fair.contexts.annotate(number, priority="pinned", retain="all")
    blocks = survival_blocks(read_commit(fair, number), GLYPHS)
    assert any("kept whole" in block.text for block in blocks)
