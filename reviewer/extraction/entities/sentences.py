"""Rules on sentences: amounts, obligations, parts, materials, vendors, results and validations."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from reviewer.extraction.candidates import RuleClass
from reviewer.extraction.entities.entity import (
    OBLIGATION,
    Attribute,
    EntityType,
    Relation,
    RelationKind,
)
from reviewer.extraction.entities.naming import leans, name_key, named, short_of_blanks, titled
from reviewer.extraction.entities.quantities import QUANTITY, UNIT, quantities
from reviewer.extraction.entities.relations import relations_in
from reviewer.extraction.entities.rule import EntityRule, Found, Place
from reviewer.sources.records import Role
from reviewer.text.units import UnitKind

_ABOUT = r"(?:about |around |only |at most |at least |up to |exactly |now |~|≈|<=?|>=?|[≤≥±])?\s*"
_ASSIGNED = re.compile(
    rf"^\**(?P<name>[^=:\n]{{2,60}}?)\**`?\s*(?:=|:|≈)\**`?\s*{_ABOUT}{QUANTITY}`?(?P<rest>.*)$",
    re.DOTALL,
)
_STATED = re.compile(
    r"^(?P<name>[^=:,.;\n]{2,70}?)\s+(?:is|are|defaults? to|(?:is|are) (?:set|limited"
    r"|capped) (?:to|at)"
    rf"|lasts?|takes?|weighs?|measures?)\s+{_ABOUT}{QUANTITY}(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_QUALIFIER = re.compile(r"\s*(?:for|on|in|per|at)\s+(?P<what>[^,;.()\n]{2,60})")
_AMOUNT = rf"[\d$€£](?:(?<=\d)\s?(?:{UNIT})|(?<=[$€£])\s?[-+]?\d)"
_LOWER_AMOUNT, _ANY_AMOUNT = re.compile(_AMOUNT.lower()), re.compile(_AMOUNT, re.IGNORECASE)
_BOX = re.compile(r"\[")
_ANOTHER = re.compile(rf"\s*(?:,|;|\band\b)\s*{_ABOUT}{QUANTITY}", re.IGNORECASE)
_END_OF_CLAUSE = re.compile(
    r"\s*(?:$|[,;.()–—-]|(?:for|on|in|per|at|and|by|of|when|unless|because)\b)"
)
_VERB = re.compile(
    r"\b(?:was|were|is|are|has|have|had|took|takes|get|gets|will|would|can|if|when|because|than"
    r"|after|before|until|while|only|every)\b",
    re.IGNORECASE,
)
_NOT_A_PARAMETER = re.compile(
    r"(?:on |in |at )?(?:\d{4}-\d\d-\d\d|v?\d+[\d.]*|step|day|week|phase|page|line|lines|issue"
    r"|pr|figure"
    r"|table|note|example|todo|update|date|time|done|total|tests?|passed|failed|week \d+|results?"
    r"|\[.?\])\b.{0,10}",
    re.IGNORECASE,
)
_GENERIC_LIST = """
mass weight length width height depth diameter thickness size area volume density cost price budget
speed velocity voltage current power energy torque force load pressure temperature frequency rate
limit maximum minimum max min default timeout time duration delay latency interval period capacity
amount count number age quota threshold tolerance range memory cpu ram disk value margin
"""
_GENERIC = frozenset(_GENERIC_LIST.split())
_MOST_WORDS = 6


def _parameter(place: Place) -> Found | None:
    statement = place.statement
    if statement.kind not in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
        return None
    raw = short_of_blanks(place.record.text[place.start : place.end])
    if not may_contain_amount(raw) or _BOX.search(statement.marker):
        return None
    match = _ASSIGNED.match(raw) or _STATED.match(raw)
    if match is None or not (match["unit"] or match["currency"]):
        return None
    if (
        statement.role is Role.ASSISTANT
        and (match["currency"] or match.re is _ASSIGNED)
        and ("=" not in raw[: match.start("value")])
    ):
        return None  # an agent's lists and prices are things it looked up, not settings
    name = named(match["name"].strip("`* "))
    if (
        not any(c.isalpha() for c in name)
        or len(name) < 2
        or name.count("(") != name.count(")")
        or len(name.split()) > _MOST_WORDS
        or leans(match["name"])
        or _VERB.search(name)
        or _NOT_A_PARAMETER.fullmatch(name)
        or not _END_OF_CLAUSE.match(match["rest"])
    ):
        return None
    return Found(
        name=name,
        start=place.start,
        end=place.end,
        attributes=_amounts(match),
        slot=_slot(name, statement.heading),
    )


def may_contain_amount(text: str) -> bool:
    """Whether a text may contain a number with a unit or currency: a cheap first check."""
    if text.isascii():  # faster: without IGNORECASE, the first letter tells units apart
        return _LOWER_AMOUNT.search(text.lower()) is not None
    return _ANY_AMOUNT.search(text) is not None


def _slot(name: str, heading: str) -> str:
    """The slot of a property; a generic one (`mass`) is qualified by the heading above it."""
    if name.lower() not in _GENERIC:
        return f"parameter:{name_key(name)}"
    return f"parameter:{name_key(heading)} {name_key(name)}" if name_key(heading) else ""


def _amounts(match: re.Match[str]) -> tuple[Attribute, ...]:
    """`90 days for request logs, 10 years for postings`: one attribute for each qualifier."""
    found: list[Attribute] = []
    current: re.Match[str] | None = match
    rest = match["rest"]
    while current is not None:
        unit = current["unit"] or current["currency"] or ""
        qualifier = _QUALIFIER.match(rest)
        name = (
            named(re.split(r"\s+(?:and|because|since)\s", qualifier["what"])[0])
            if qualifier
            else ""
        )
        if current is not match and not unit:
            break
        found.append(Attribute(name or "value", current["value"], unit))
        rest = rest[qualifier.end() if qualifier else 0 :]
        current = _ANOTHER.match(rest)
        rest = rest[current.end() :] if current else rest
    names = [attribute.name for attribute in found]
    return tuple(found) if len(set(names)) == len(names) else tuple(found[:1])


# In capitals (RFC 2119) or not. `may not` and `cannot` are as often guesses and excuses.
_OBLIGATION = re.compile(
    r"^(?:\**\[?(?P<number>[A-Z]{1,6}-\d{1,5})\]?\**\s*[:.–—-]?\s+)?"
    r"(?P<subject>[^.;!?:\n]{2,90}?)\s+"
    r"(?P<modal>(?:must|shall)(?:\s+(?:not|never)|n't)?)"
    r"\s+(?P<predicate>(?!not\b|never\b)[^\s][^\n]{2,240})$",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"^(?:(?:please|and|also|so|but|note|remember|keep in mind"
    r"|make sure)\b,? ?(?:for later )?(?:that )?)+",
    re.IGNORECASE,
)
_FORBIDS = re.compile(r"not|never|n't", re.IGNORECASE)
_LIMIT = re.compile(
    r"\b(?:at most|at least|no (?:more|less|later|fewer) than|within|not exceed|up to|below|under"
    r"|above|over|more than|less than|maximum|minimum|before|until|after|every)\s*$",
    re.IGNORECASE,
)
_CAPS = frozenset(("at most", "no more than", "no less than", "not exceed", "up to", "maximum"))
_CLAUSE = re.compile(
    r"\b(?:because|so|but|that|if|when|while|may|can|will|is|are|only|however|otherwise|therefore"
    r"|instead)\b|,(?! (?:and |or )?\w)",
    re.IGNORECASE,
)
_ADVERB = re.compile(r"\b(?:therefore|thus|still|also|always|then|only)\s+", re.IGNORECASE)
_REASON = re.compile(r",|;|\(|\s(?:because|since|so that|in order to|unless|when|if|until)\b")
_NARRATED = re.compile(
    r"\b(?:i|you|he|she)\b|^(?:we|they|one|someone|nothing|none|there)\b.{0,12}$|\?", re.IGNORECASE
)
_ASIDE = re.compile(
    r"(?:.*\b)?(?:context|background|alternatives?|options?|pros|cons|drivers?|problem|discussion"
    r"|history|negative|positive|risks?|summary|evidence)\b.*",
    re.IGNORECASE,
)


class Obligation(Struct, frozen=True):
    """An obligation: subject, modal verb and predicate."""

    statement: str
    subject: str
    predicate: str
    number: str
    forbids: bool
    capped: bool
    attributes: tuple[Attribute, ...]

    @property
    def slot(self) -> str:
        """The slot in which the opposite obligation, or another limit, is a contradiction."""
        subject = name_key(_ADVERB.sub("", f"{self.subject} "))
        return f"{OBLIGATION}{subject} {name_key(self.predicate)}"


def obligation_of(statement: str) -> Obligation | None:
    """The obligation that a sentence states, or None.

    Amounts in the predicate become attributes and are left out of the slot, so that another limit
    on the same thing has the same slot.
    """
    statement = _LEAD_IN.sub("", short_of_blanks(statement))
    match = _OBLIGATION.match(statement)
    if match is None:
        return None
    subject, predicate = match["subject"], match["predicate"]
    forbids = bool(_FORBIDS.search(match["modal"]))
    attributes = [Attribute("obligation", "must not" if forbids else "must")]
    core, capped, done = "", False, 0
    for amount in quantities(predicate):
        before = predicate[done : amount.start]
        limit = _LIMIT.search(before)
        name = limit.group().strip().lower() if limit else "amount"
        capped = capped or name in _CAPS
        same = sum(each.name.split(" #")[0] == name for each in attributes)
        attributes.append(
            Attribute(f"{name} #{same + 1}" if same else name, amount.value, amount.unit)
        )
        core += before[: limit.start()] if limit else before
        done = amount.end
    core += predicate[done:]
    core = _ADVERB.sub("", _REASON.split(core, maxsplit=1)[0])
    return Obligation(
        statement, subject, core, match["number"] or "", forbids, capped, tuple(attributes)
    )


def _is_subject(text: str) -> bool:
    """Whether the start of a sentence is the subject of an obligation."""
    if len(text.split()) > 12 or (leans(text) and not text.lower().startswith("we")):
        return False
    return not _NARRATED.search(text) and not _CLAUSE.search(text)


def _constrains(stated: Obligation) -> bool:
    """Whether an obligation is a constraint; a number (`R-1`, `C-1`) decides first."""
    if stated.number:
        return stated.number.upper().startswith("C")
    return stated.forbids or stated.capped


def _states(constraint: bool) -> Callable[[Place], Found | None]:
    def find(place: Place) -> Found | None:
        statement = place.statement
        if statement.kind not in (UnitKind.SENTENCE, UnitKind.LIST_ITEM):
            return None
        if statement.role not in (Role.NOTE, Role.USER) or _ASIDE.fullmatch(statement.heading):
            return None
        stated = obligation_of(statement.text)
        if stated is None or _constrains(stated) is not constraint:
            return None
        if not _is_subject(stated.subject):
            return None
        if place.record.text[place.start : place.end].endswith(":"):
            return None  # the obligations are in the list below it
        number = (Attribute("number", stated.number),) if stated.number else ()
        return Found(
            name=titled(stated.statement),
            start=place.start,
            end=place.end,
            attributes=(*number, *stated.attributes),
            relations=relations_in(statement.text),
            slot=stated.slot,
        )

    return find


_NAME = r"(?P<name>[^,;:()\n.]{2,50}?)"
_STOP = r"(?=\s*(?:$|[,;:()\n.]|\s(?:that|which|and|for|to|with|because)\b))"
_PART = re.compile(
    rf"^{_NAME} (?:is|are) (?:the |an? )(?P<kind>component|subsystem|module|part) (?:of|in) "
    rf"(?P<whole>[^,;:()\n.]{{2,50}}?){_STOP}",
    re.IGNORECASE,
)
_MADE_OF = re.compile(
    rf"^(?P<what>[^,;:()\n.]{{2,50}}?) (?:is|are) (?:made|machined|cast|printed|built) (?:of|from) "
    rf"{_NAME}{_STOP}",
    re.IGNORECASE,
)
_SUPPLIES = re.compile(
    rf"^(?:(?P<what>[^,;:()\n.]{{2,60}}?) (?:is|are) (?:supplied|manufactured|sold|delivered) by "
    rf"{_NAME}{_STOP}"
    r"|(?P<vendor>[A-Z][^,;:()\n.]{1,50}?) (?:supplies|manufactures|is (?:our|the) (?:vendor"
    r"|supplier) (?:of|for)) "
    r"(?P<goods>[^,;:()\n.]{2,60}))",
)
_MEASURED = re.compile(
    r"\b(?:measured|benchmarked|simulated|profiled)\b|\bmeasurements? (?:show|gave)"
    r"|\bbenchmarks? show",
    re.IGNORECASE,
)
_VALIDATED = re.compile(
    r"\b(?:(?:was|were|has been|have been|is|are) (?:validated|verified|qualified) (?:by|in|on"
    r"|against"
    r"|with)|(?:test|analysis|measurement|review)s? (?:validates?|verif(?:y|ies)|confirm(?:s"
    r"|ed)?) that)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:not|never|should|must|will|would|could|needs?|to be|if|once)\b", re.I)


def _prose(place: Place) -> str:
    """The statement's text; empty for a heading."""
    prose = place.statement.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
    return place.statement.text if prose else ""


def _found(place: Place, name: str, **more: object) -> Found | None:
    name = named(name)
    if len(name) < 2 or leans(name) or len(name.split()) > 8:
        return None
    return Found(name=name, start=place.start, end=place.end, **more)  # type: ignore[arg-type]


_PARTS = ("component", "module", "part")


def _part(kinds: tuple[str, ...]) -> Callable[[Place], Found | None]:
    def find(place: Place) -> Found | None:
        match = _PART.match(_prose(place))
        if match is None or match["kind"].lower() not in kinds:
            return None
        whole = Relation(RelationKind.PART_OF, named(match["whole"]))
        others = relations_in(place.statement.text, match["name"])
        return _found(place, match["name"], relations=tuple(dict.fromkeys((whole, *others))))

    return find


def _material(place: Place) -> Found | None:
    match = _MADE_OF.match(_prose(place))
    if match is None or leans(match["what"]):
        return None
    return _found(place, match["name"], attributes=(Attribute("of", named(match["what"])),))


def _vendor(place: Place) -> Found | None:
    match = _SUPPLIES.match(_prose(place))
    if match is None:
        return None
    name, goods = (match["vendor"] or match["name"]), (match["goods"] or match["what"])
    if leans(goods) or not name[:1].isupper():
        return None
    return _found(place, name, attributes=(Attribute("supplies", named(goods)),))


def _result(place: Place) -> Found | None:
    text = _prose(place)
    if not _MEASURED.search(text) or _HEDGED.search(text):
        return None
    amounts = quantities(text)
    if not amounts:
        return None
    names = ["value", *(f"value {number}" for number in range(2, len(amounts) + 1))]
    return Found(
        name=titled(text),
        start=place.start,
        end=place.end,
        attributes=tuple(
            Attribute(name, amount.value, amount.unit)
            for name, amount in zip(names, amounts, strict=True)
        ),
    )


def _claim(place: Place) -> Found | None:
    text = _prose(place)
    match = _VALIDATED.search(text)
    if match is None or leans(text) or _HEDGED.search(text):
        return None
    return Found(name=titled(text), start=place.start, end=place.end, relations=relations_in(text))


RULES = (
    EntityRule(
        id="parameter_value",
        rule_class=RuleClass.VALUE,
        type=EntityType.PARAMETER,
        description="A named thing has an amount with a unit: `max batch = 4.8 MB`.",
        finds=_parameter,
        quality=0.6,
        examples=(
            ("- max batch = 4.8 MB", "max batch"),
            ("retention: 90 days", "retention"),
            ("The idle timeout is 30 s.", "idle timeout"),
            ("- retention = 90 days for logs, 10 years for postings", "retention"),
            ("It is 30 seconds too late.", ""),
            ("The suite took 30 s.", ""),
            ("There are 30 workers.", ""),
        ),
    ),
    EntityRule(
        id="constraint_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.CONSTRAINT,
        description="A sentence that forbids something or caps it: `X must not ...`.",
        finds=_states(True),
        cues=("must", "shall"),
        quality=0.7,
        examples=(
            (
                "Customer data must not leave the country.",
                "Customer data must not leave the country",
            ),
            ("A batch must hold at most 50 rows.", "A batch must hold at most 50 rows"),
            ("It must not be changed.", ""),
            ("I must not forget the milk tomorrow.", ""),
            ("## Considered options\n\nThe cache must not grow.", ""),
        ),
    ),
    EntityRule(
        id="requirement_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.REQUIREMENT,
        description="A sentence that states a requirement: `X must ...`, `X shall ...`.",
        finds=_states(False),
        cues=("must", "shall"),
        quality=0.65,
        examples=(
            ("Every export shall carry a checksum.", "Every export shall carry a checksum"),
            (
                "R-7: The writer must flush before it renames.",
                "R-7: The writer must flush before it renames",
            ),
            ("The close must finish within 2 h.", "The close must finish within 2 h"),
            ("You must restart the editor.", ""),
            ("Every export carries a checksum.", ""),
        ),
    ),
    EntityRule(
        id="component_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.COMPONENT,
        description="A sentence that states that X is a component of Y.",
        finds=_part(_PARTS),
        cues=_PARTS,
        examples=(
            ("The gripper is a component of the arm.", "gripper"),
            ("The gripper holds a component of the arm.", ""),
        ),
    ),
    EntityRule(
        id="subsystem_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.SUBSYSTEM,
        description="A sentence that states that X is a subsystem of Y.",
        finds=_part(("subsystem",)),
        cues=("subsystem",),
        examples=(
            ("Thermal control is a subsystem of the satellite.", "Thermal control"),
            ("This is a subsystem of the satellite.", ""),
        ),
    ),
    EntityRule(
        id="material_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.MATERIAL,
        description="A sentence that names the material of something.",
        finds=_material,
        cues=("made", "machined", "cast", "printed", "built"),
        examples=(
            ("The bracket is machined from aluminium 6061.", "aluminium 6061"),
            ("The bracket is heavy.", ""),
        ),
    ),
    EntityRule(
        id="vendor_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.VENDOR,
        description="A sentence that names the supplier of something.",
        finds=_vendor,
        cues=("suppl", "manufactur", "sold", "delivered", "vendor"),
        examples=(
            ("The castings are supplied by Northwind.", "Northwind"),
            ("Northwind supplies the castings", "Northwind"),
            ("The data is supplied by the user.", ""),
        ),
    ),
    EntityRule(
        id="result_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.RESULT,
        description="A measured or simulated amount.",
        finds=_result,
        cues=("measure", "benchmark", "simulated", "profiled"),
        examples=(
            (
                "We measured 41 minutes for the close of May.",
                "We measured 41 minutes for the close of May",
            ),
            ("We must not exceed 41 minutes.", ""),
            ("The measured close was slow.", ""),
        ),
    ),
    EntityRule(
        id="validation_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.VALIDATION_CLAIM,
        description="A statement that something was validated, and how.",
        finds=_claim,
        cues=("validate", "verif", "qualified", "confirm"),
        examples=(
            (
                "The seal was verified by a burst test at 3 bar.",
                "The seal was verified by a burst test at 3 bar",
            ),
            ("The seal must be verified by a burst test.", ""),
        ),
    ),
)
