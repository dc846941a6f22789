"""What is looked at first never decides: the quick way and the whole way say the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reviewer.extraction import flags, screens
from reviewer.extraction.cues import NUMBER, Cues, FirstWords
from reviewer.extraction.entities import extract as entity_extract
from reviewer.extraction.entities import parameters, quantities
from reviewer.extraction.entities import rules as entity_rules
from reviewer.extraction.entities.rules import may_find
from reviewer.extraction.rules import RULES, findings, first_match
from reviewer.extraction.rules.rule import Statement
from reviewer.extraction.weights import CUES as WEIGHT_CUES
from reviewer.sources.records import Role, Shape
from reviewer.text import units as text_units
from reviewer.text.sentences import split_sentences
from reviewer.text.units import UnitKind, units
from tests.unit.extraction.making import record

OPENERS = ("", "OK, ", "great. ", "Now ", "All green, then ", "while testing it, ", "“", "12 ", "—")
STARTS = (
    "let me check the file", "I'll go", "I’ll go", "now fix it", "done", "both are fixed",
    "5 files are in place", "all tests pass", "it works", "0 issues", "no errors",
    "the run completes successfully", "Completes ſuccessfully", "thanks", "hey you", "sounds good",
    "tbd", "n/a", "xxxx", "...", "example", "[image", "caveat: the messages below", "api error",
    "the user has approved your plan", "no response requested", "Kelvin", "ſorry", "the loader is",
)  # fmt: skip
WORDS = sorted(
    {word for rule in RULES for text, _ in rule.examples for word in text.split()}
    | {word for rule in entity_rules.RULES for text, _ in rule.examples for word in text.split()}
)
STATEMENTS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join),
    st.sampled_from([text for rule in RULES for text, _ in rule.examples]),
    st.builds(lambda opener, start: opener + start, st.sampled_from(OPENERS),
              st.sampled_from(STARTS)),
)  # fmt: skip


@given(
    STATEMENTS, st.sampled_from(["", " and more of it", " - it returns what was read before it"])
)
@example("Great, now, ok, then let me see", "")
def test_a_start_that_matches_is_never_passed_over(text: str, rest: str) -> None:
    text += rest
    first = screens._FIRST_WORDS.of(text)
    for number, start in enumerate(screens._STARTS):
        if start.match(text):
            assert first >> number & 1, start.pattern[:80]


@given(st.text(alphabet="aſıİK°é{}<>[]→#*.,!?:;'\"`()- 0²٣", max_size=40))
def test_signs_are_counted_the_same_in_plain_text(text: str) -> None:
    assert screens._symbols(text) == len(screens._SYMBOLS.findall(text))


@given(
    STATEMENTS.filter(bool),
    st.sampled_from(UnitKind),
    st.sampled_from(Role),
    st.sampled_from(Shape),
    st.booleans(),
)
def test_the_strongest_rule_of_all_is_the_one_that_is_found(
    text: str, kind: UnitKind, role: Role, shape: Shape, final: bool
) -> None:
    statement = Statement(text, text.lower(), kind, role, shape, final=final)
    told = screens.narrated(text)
    found = first_match(statement)
    assert found is next(
        (
            rule
            for rule in RULES
            if (rule.narration if told else kind in rule.kinds)
            and (told or rule.turns or shape is not Shape.TURN)
            and len(text) >= rule.shortest
            and rule.matches(statement)
        ),
        None,
    )


@pytest.fixture
def every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is passed over before the rules are asked."""
    monkeypatch.setattr(entity_extract, "may_find", lambda kind, lower: True)


MARKED = st.builds(
    lambda mark, text: mark + text,
    st.sampled_from(["", "- ", "- [Decision] ", "- **Result**: ", "**Req 12:** ", "## System: "]),
    STATEMENTS.map(lambda text: text.replace("must", "MUST").replace(" is ", " **is** ")),
)


@pytest.mark.usefixtures("every_place")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MARKED, st.sampled_from(Role), st.sampled_from(Shape))
def test_no_place_is_passed_over_where_a_rule_of_entities_finds_something(
    text: str, role: Role, shape: Shape
) -> None:
    for place in entity_extract._places(record(text, role=role, shape=shape), "notes/x.md"):
        found = ((rule, rule.finds(place)) for rule in entity_rules.RULES)
        first = next((each for each in found if each[1] is not None), None)
        assert entity_rules.first_find(place) == first
        if first is not None:
            assert may_find(place.statement.kind, place.statement.lower)


@given(STATEMENTS)
def test_the_words_of_a_rule_stand_in_what_it_finds(text: str) -> None:
    cues = [rule.cue for rule in entity_rules._UNTYPED]
    for number, cue in enumerate(cues):
        if cue is not None and re.search(cue, text.lower()):
            assert Cues(cues).of(text.lower())[0] >> number & 1, cue


@given(STATEMENTS, st.sampled_from(UnitKind))
def test_the_words_of_a_rule_that_is_a_function_stand_in_what_it_matches(
    text: str, kind: UnitKind
) -> None:
    rules = [rule for rule in RULES if rule.cue is not None]
    assert rules
    possible, _ = Cues([rule.cue for rule in rules]).of(text.lower())
    for number, rule in enumerate(rules):
        if rule.matches(Statement(text, text.lower(), kind, Role.USER, Shape.TURN)):
            assert possible >> number & 1, rule.id


@given(st.text(alphabet="aBx1._/`- ", max_size=24))
def test_where_no_sign_of_a_name_stands_there_is_none(text: str) -> None:
    assert findings._MAY_NAME.search(text) or not findings._NAMED.search(text)


@given(
    st.lists(st.sampled_from(["1", "5", " ", "MB", "€", "$", "-", "s", "row", "x"])).map("".join)
)
def test_where_no_amount_may_be_there_is_none(text: str) -> None:
    for match in quantities._QUANTITY.finditer(text):
        if match["unit"] or match["currency"]:
            assert parameters.may_hold_amount(text)
            assert parameters.may_hold_amount(text.upper())
            assert parameters.may_hold_amount(f"→ {text}")


@given(STATEMENTS)
def test_words_that_earn_points_are_never_passed_over(text: str) -> None:
    patterns = [pattern for _, _, pattern in WEIGHT_CUES]
    for number, pattern in enumerate(patterns):
        if re.search(pattern, text.lower()):
            assert Cues(patterns).of(text.lower())[0] >> number & 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("limit is 25 MB", True), ("port b2", True), ("٣ files", True), ("no amount", False),
    ],
)  # fmt: skip
def test_a_number_is_a_cue_wherever_it_stands_in_a_word(text: str, found: bool) -> None:
    assert bool(Cues([NUMBER]).of(text)[0]) is found


def test_letters_that_are_others_in_another_case_tell_nothing() -> None:
    cues = Cues([r"\bmust\b"])
    assert cues.of("it may") == (0, 0)
    assert cues.of("it muſt") == (1, 0), "the long s is an s where case does not count"


def test_first_words_tell_which_patterns_may_match_at_the_start() -> None:
    first = FirstWords([r"^(?:so |and )*let me\b", r"^done", r"^\[image"])
    assert first.of("let us") == 0b001
    assert first.of("Done!") == 0b010
    assert first.of("donet") == 0b010
    assert first.of("and so on") == 0b001
    assert first.of("letters") == 0
    assert first.of("[other") == first.of("’t") == first.of("doné") == 0b111


LINES = (
    "Traceback (most recent call last)", 'File "a.py", line 3', "at home we work", "at f.g(x)",
    "goroutine 7", "goroutine is a word", "npm ERR! x", "npm installs it", "diff --git a b",
    "diff of both", "Error: no", "ERROR no", "WARN", "A plain line. And another", "It's so,",
    "a) item", "a item", "1. x", "- y", "---", "===", "**Bold:**", "    code", "", "> quote", "# H",
)  # fmt: skip
_SLOW_LINE = re.compile(
    re.sub(r"\(\?P<prose>.*\n", "(?P<prose>(?!))\n", text_units._LINE.pattern, count=1),
    re.MULTILINE | re.VERBOSE,
)


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_begins_like_prose_is_of_no_other_form(line: str) -> None:
    quick, slow = text_units._LINE.match(line), _SLOW_LINE.match(line)
    assert quick is not None
    assert slow is not None
    if quick.lastgroup == "prose":
        assert slow.lastgroup == "text"
    else:
        assert quick.lastgroup == slow.lastgroup


_ENDS = re.compile(
    r"(?:(?<![.!?…])[.!?…]++[\"')\]*_”’]{0,4}|:\*{0,2}(?=[ \t]*\n))\s+|\n[ \t]*"
)  # as one would write it down


@given(st.text(alphabet="aB.!?…:*\"')_ \t\n", max_size=30))
def test_ends_of_sentences_are_found_where_they_stand(text: str) -> None:
    from reviewer.text.sentences import _END

    assert [m.span() for m in _END.finditer(text)] == [m.span() for m in _ENDS.finditer(text)]


@given(st.lists(st.sampled_from(LINES), max_size=6).map("\n".join))
def test_units_stand_in_order_and_hold_no_white_space_around_them(text: str) -> None:
    found = list(units(text))
    assert all(text[u.start : u.end].strip() == text[u.start : u.end] for u in found)
    assert [u.start for u in found] == sorted(u.start for u in found)
    assert list(split_sentences("One. Two", 0, 8)) == [(0, 4), (5, 8)]


@given(st.text(alphabet="ab*_`~ \t\n\u00a0,é", max_size=20))
def test_emphasis_and_blanks_go_in_the_same_way_at_any_speed(text: str) -> None:
    plain = re.sub(r"(?<!\w)[*_`~]+|[*_`~]+(?!\w)", "", text)
    assert flags._EMPHASIS.sub("", text) == plain
    assert flags._on_one_line(plain) == re.sub(r"[^\S\n]+|(?<=[\w,;])\n(?=\w)", " ", plain)
