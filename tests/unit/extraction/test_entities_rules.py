import re

from hypothesis import given
from hypothesis import strategies as st

from reviewer.extraction.candidates import RuleClass
from reviewer.extraction.entities.entity import EntityType
from reviewer.extraction.entities.extract import (
    RULES,
    extract_entities,
)
from reviewer.extraction.entities.quantities import quantities
from reviewer.extraction.entities.rule import EntityRule
from reviewer.extraction.entities.sentences import may_contain_amount
from reviewer.extraction.rules import PRIORS
from tests.unit.extraction.making import SETTING, record

EXAMPLES = [(rule, text, name) for rule in RULES for text, name in rule.examples]


def found_by(rule: EntityRule, text: str) -> str:
    """The name of the entity that a rule proposes for this text, or an empty string."""
    title = re.search(r"^#+ (.*)", text, re.MULTILINE)
    source = record(text, role=rule.role, shape=rule.shape, headings=(title[1],) if title else ())
    found = [c for c in extract_entities([source], SETTING) if c.rule == rule.id]
    assert len(found) <= 1
    assert all(c.type is rule.type for c in found)
    return found[0].name if found else ""


def test_a_rule_agrees_with_its_examples() -> None:
    assert EXAMPLES
    assert [each for each in EXAMPLES if found_by(*each[:2]) != each[2]] == []


def test_priors_are_those_of_the_promotion_rules() -> None:
    assert all(rule.prior == PRIORS[rule.rule_class] for rule in RULES)
    assert {rule.rule_class for rule in RULES} == set(RuleClass)


def test_every_type_can_be_proposed_by_a_heading_and_by_a_list_item() -> None:
    for type_ in EntityType:
        classes = {rule.rule_class for rule in RULES if rule.type is type_}
        assert classes >= {RuleClass.HEADING, RuleClass.LIST_ITEM}


@given(st.text("1 5 MB€$-srowx"), st.sampled_from(["", "limit is ", "a cap of "]))
def test_no_amount_is_missed_by_the_first_check(text: str, before: str) -> None:
    text = before + text
    if any(amount.unit for amount in quantities(text) if ":" not in amount.value):
        assert may_contain_amount(text)
        assert may_contain_amount(f"→ {text}")
