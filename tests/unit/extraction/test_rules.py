import re

import pytest

from reviewer.extraction.candidates import RuleClass
from reviewer.extraction.entities.extract import ENTITY_EXTRACTOR_VERSION
from reviewer.extraction.entities.extract import RULES as ENTITY_RULES
from reviewer.extraction.entities.rule import EntityRule
from reviewer.extraction.rules import EXTRACTOR_VERSION, PRIORS, RULES, Rule, first_match
from reviewer.extraction.rules.rule import example_statements

EXAMPLES = [(rule, text, matched) for rule in RULES for text, matched in rule.examples]


def fires(rule: Rule, text: str) -> bool:
    return any(
        rule.matches(statement) and len(statement.text) >= rule.shortest
        for statement in example_statements(rule, text)
    )


def test_a_rule_agrees_with_its_examples() -> None:
    assert EXAMPLES
    assert [each for each in EXAMPLES if fires(*each[:2]) is not each[2]] == []


@pytest.mark.parametrize("rules", [RULES, ENTITY_RULES], ids=["memories", "entities"])
def test_every_rule_describes_itself(rules: tuple[Rule, ...] | tuple[EntityRule, ...]) -> None:
    assert len({rule.id for rule in rules}) == len(rules)
    for rule in rules:
        assert {bool(found) for _, found in rule.examples} == {True, False}, rule.id
        assert re.fullmatch(r"[a-z]+(?:_[a-z]+)*", rule.id)
        assert rule.description.endswith("."), rule.id
        assert "\n" not in rule.description, rule.id
        assert 0 <= rule.quality <= 1, rule.id


@pytest.mark.parametrize("version", [EXTRACTOR_VERSION, ENTITY_EXTRACTOR_VERSION])
def test_the_version_is_a_version(version: str) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)


def test_priors_are_those_of_the_promotion_rules() -> None:
    assert PRIORS == {
        RuleClass.HEADING: 0.70,
        RuleClass.LIST_ITEM: 0.65,
        RuleClass.VALUE: 0.60,
        RuleClass.SENTENCE: 0.50,
    }
    assert {rule.rule_class for rule in RULES} == set(RuleClass)


def test_where_several_rules_match_the_most_specific_class_names_the_candidate() -> None:
    rule = next(rule for rule in RULES if rule.id == "typed_list_item")
    (statement,) = example_statements(rule, "- [Decision] The limit is 30 seconds because of X")
    assert sum(rule.matches(statement) for rule in RULES) > 1
    found = first_match(statement)
    assert found is not None
    assert found.id == "typed_list_item"


def test_a_loose_rule_leaves_short_statements_alone() -> None:
    rule = next(rule for rule in RULES if rule.id == "friction")
    (short,) = example_statements(rule, "One conflict in the file")
    assert rule.matches(short)
    assert first_match(short) is None


def test_an_announced_next_step_is_not_a_cause() -> None:
    rule = next(rule for rule in RULES if rule.id == "root_cause")
    text = "Now I need to widen `parse()` because the new header may be empty."
    (statement,) = example_statements(rule, text)
    assert rule.matches(statement)
    found = first_match(statement)
    assert found is not None
    assert found.id == "narrated_finding"


@pytest.mark.parametrize(
    ("text", "matched"),
    [
        ("Here `load` reads every shard", True),
        ("Here index.db holds every shard", True),
        ("Here src/index holds every shard", True),
        ("Here load_all reads every shard", True),
        ("Here loadAll reads every shard", True),
        ("Here LoadAll reads every shard", True),
        ("Here the loader reads every shard", False),
        ("Here reads every shard: `load`", False),
    ],
)
def test_only_something_named_exactly_works_in_some_way(text: str, matched: bool) -> None:
    rule = next(rule for rule in RULES if rule.id == "how_it_works")
    (statement,) = example_statements(rule, text)
    assert rule.matches(statement) is matched
