"""Rules on headings and list items that begin with the type of an entity."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from reviewer.extraction.candidates import RuleClass
from reviewer.extraction.entities.choices import stated_choice
from reviewer.extraction.entities.entity import Attribute, EntityType, Relation
from reviewer.extraction.entities.naming import name_key, named, title_parts, titled
from reviewer.extraction.entities.quantities import QUANTITY
from reviewer.extraction.entities.relations import labelled_relations, relations_in
from reviewer.extraction.entities.rule import EntityRule, Found, Place
from reviewer.extraction.entities.sentences import obligation_of
from reviewer.extraction.passages import wording
from reviewer.extraction.rejections import LONGEST_STATEMENT
from reviewer.text.units import Unit, UnitKind

_PROSE = (UnitKind.SENTENCE, UnitKind.LIST_ITEM)


class _Kind(Struct, frozen=True):
    """The words for a type, and a sample entity."""

    type: EntityType
    words: str
    sample: str


_KINDS = (
    _Kind(EntityType.DECISION, r"decisions?|entscheidung", "keep one file per project"),
    _Kind(EntityType.REQUIREMENT, r"requirements?|req|anforderung", "each export has a checksum"),
    _Kind(EntityType.CONSTRAINT, r"constraints?", "no network at start-up"),
    _Kind(EntityType.SUBSYSTEM, r"sub-?systems?", "Thermal control"),
    _Kind(EntityType.SYSTEM, r"systems?", "Ground station"),
    _Kind(EntityType.COMPONENT, r"components?|modules?", "Ledger writer"),
    _Kind(EntityType.INTERFACE, r"interfaces?|api|endpoints?", "Posting export"),
    _Kind(EntityType.MATERIAL, r"materials?", "Aluminium 6061"),
    _Kind(EntityType.PARAMETER, r"parameters?", "Preload of the bolts"),
    _Kind(EntityType.ANALYSIS_MODEL, r"(?:analysis |simulation )models?", "Thermal network"),
    _Kind(EntityType.RESULT, r"results?|findings?", "The arm bends 0.4 mm under load"),
    _Kind(EntityType.VALIDATION_CLAIM, r"validation claims?|validations?|verifications?|claims?",
          "The seal holds at 3 bar"),
    _Kind(EntityType.VENDOR, r"vendors?|suppliers?", "Northwind Castings"),
    _Kind(EntityType.PROCESS, r"process(?:es)?|procedures?", "Month-end close"),
    _Kind(EntityType.PROJECT, r"projects?", "Export rewrite"),
)  # fmt: skip
_PLACES = ("heading_", "bracket_", "bold_", "plain_")


def _kind(place: str) -> str:
    """A type word and its number (`Requirement R-12`), as groups named after the place."""
    words = "|".join(f"(?P<{place}{kind.type}>{kind.words})" for kind in _KINDS)
    number = rf"(?:[ ]*[#(]?(?P<{place}number>[A-Z]{{0,5}}-?\d[\w.]{{0,12}})\)?)?"
    return f"(?:{words}){number}"


_HEADING = re.compile(
    rf"{_kind('heading_')}[ ]*(?::|[ ][-–—][ ])[ ]*+\**+[ ]*+(?P<rest>\S.+)", re.IGNORECASE
)
_ITEM = re.compile(
    rf"(?:\[{_kind('bracket_')}\][ ]+(?!\()"
    rf"|\*\*{_kind('bold_')}[ ]*(?::\*\*|\*\*[ ]*:)[ ]*"
    rf"|{_kind('plain_')}[ ]*:[ ]+)"
    r"(?P<rest>\S.{2,})",
    re.IGNORECASE | re.DOTALL,
)
_BRACKET = re.compile(r"\[[A-Za-z][\w /-]{2,30}\][ ]+(?!\()")
_LABEL_LINE = re.compile(r"(?P<label>[^:=\n]{2,40}?)\**\s*+[:=]\**+\s*+(?P<value>\S[^\n]{0,200})")
_AMOUNT = re.compile(rf"{QUANTITY}\W*$")
_NAME_END = re.compile(r"\s[-–—]\s|:\s|;\s|\.\s|,\s|\s\(")
_STATING = frozenset((
    EntityType.DECISION, EntityType.REQUIREMENT, EntityType.CONSTRAINT, EntityType.RESULT,
    EntityType.VALIDATION_CLAIM,
))  # fmt: skip


class _Typed(Struct, frozen=True):
    type: EntityType
    number: str
    rest: str


@lru_cache(maxsize=64)
def _typed(text: str, heading: bool) -> _Typed | None:
    """The type, number and remainder of a text that begins with its type."""
    match = (_HEADING if heading else _ITEM).match(text)
    if match is None:
        return None
    groups = match.groupdict()
    for kind in _KINDS:
        for place in _PLACES:
            if groups.get(f"{place}{kind.type}"):
                return _Typed(kind.type, groups[f"{place}number"] or "", match["rest"])
    return None


def _in_heading(type_: EntityType) -> Callable[[Place], Found | None]:
    def find(place: Place) -> Found | None:
        if place.statement.kind is not UnitKind.HEADING:
            return None
        typed = _typed_heading(place)
        if typed is None or typed.type is not type_:
            return None
        return _found(place, typed, _section(place.below))

    return find


def _typed_heading(place: Place) -> _Typed | None:
    return _typed(title_parts(place.record.text[place.start : place.end])[1], True)


def heading_names_a_type(place: Place) -> bool:
    """Whether a heading begins with a type."""
    return _typed_heading(place) is not None


def names_a_type(place: Place) -> bool:
    """Whether a list item, or a sentence after a marker, begins with a type."""
    return _typed_item(place) is not None


def _typed_item(place: Place) -> _Typed | None:
    raw = place.record.text[place.start : place.end]
    return _typed(raw, False) if _may_begin_an_item(place.statement.kind, raw) else None


def _begins_an_item(unit: Unit, raw: str) -> bool:
    """Whether a unit under a heading has a label of its own, and so is a statement of its own."""
    if not _may_begin_an_item(unit.kind, raw):
        return False
    return _BRACKET.match(raw) is not None or _typed(raw, False) is not None


def _may_begin_an_item(kind: UnitKind, raw: str) -> bool:
    return kind is UnitKind.LIST_ITEM or raw.startswith(("**", "["))


def _in_item(type_: EntityType) -> Callable[[Place], Found | None]:
    def find(place: Place) -> Found | None:
        if place.statement.kind not in _PROSE:
            return None
        typed = _typed_item(place)
        if typed is None or typed.type is not type_:
            return None
        return _found(place, typed, ())

    return find


def _section(below: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """The units up to the next heading."""
    for position, unit in enumerate(below):
        if unit.kind is UnitKind.HEADING:
            return below[:position]
    return below


def _found(place: Place, typed: _Typed, section: tuple[Unit, ...]) -> Found | None:
    text = place.record.text
    statement = wording(typed.rest)
    stated = typed.type in _STATING
    name = titled(statement) if stated else named(_NAME_END.split(statement, 1)[0])
    if len(name) < 2 or not any(c.isalpha() for c in name):
        return None
    attributes: list[Attribute] = [Attribute("number", typed.number)] if typed.number else []
    relations: list[Relation] = list(relations_in(statement, name))
    if typed.type is EntityType.PARAMETER and (amount := _AMOUNT.search(statement)):
        name = named(re.sub(r"\s*(?:[:=]|\bis\b)\s*$", "", statement[: amount.start()])) or name
        attributes.append(_attribute("value", amount))
    heading = wording(text[place.start : place.end])
    end, content = place.end, heading
    taken: list[int] = []
    joins = True
    for unit in section:
        if unit.kind not in _PROSE:
            continue
        raw = text[unit.start : unit.end]
        line = _LABEL_LINE.fullmatch(raw) if unit.kind is UnitKind.LIST_ITEM or ":" in raw else None
        if line is not None:
            label, value = named(line["label"]), wording(line["value"])
            if more := labelled_relations(label, value):
                relations += more
                taken.append(unit.start)
            elif _begins_an_item(unit, raw):
                joins = False
            elif unit.kind is UnitKind.LIST_ITEM and (amount := _AMOUNT.fullmatch(value)):
                attributes.append(_attribute(label, amount))
                taken.append(unit.start)
            continue
        if _begins_an_item(unit, raw):
            joins = False
            continue
        relations += relations_in(raw, name)
        joined = f"{heading}: {wording(raw)}"
        if (
            joins
            and end == place.end
            and len(joined) <= LONGEST_STATEMENT
            and unit.end - place.start <= 2 * LONGEST_STATEMENT
        ):
            end, content = unit.end, joined
    slot, more_attributes = _slot(typed.type, name, statement, attributes)
    return Found(
        name=name,
        start=place.start,
        end=end,
        content=content if end > place.end else "",
        attributes=(*attributes, *more_attributes),
        relations=tuple(dict.fromkeys(relations)),
        slot=slot,
        taken=tuple(taken),
    )


def _attribute(name: str, amount: re.Match[str]) -> Attribute:
    return Attribute(name, amount["value"], amount["unit"] or amount["currency"] or "")


def _slot(
    type_: EntityType, name: str, statement: str, attributes: list[Attribute]
) -> tuple[str, tuple[Attribute, ...]]:
    """The slot of a heading or item, and the attributes that fill it."""
    if type_ is EntityType.DECISION:
        choice = stated_choice(statement)
        return (choice.slot, (Attribute("choice", choice.option),)) if choice else ("", ())
    if type_ in (EntityType.REQUIREMENT, EntityType.CONSTRAINT):
        obligation = obligation_of(statement)
        return (obligation.slot, obligation.attributes) if obligation else ("", ())
    if any(attribute.name != "number" for attribute in attributes):
        return f"{type_}:{name_key(name)}", ()
    return "", ()


def _word(kind: _Kind) -> str:
    return str(kind.type).replace("_", " ")


RULES = tuple(
    rule
    for kind in _KINDS
    for rule in (
        EntityRule(
            id=f"{kind.type}_heading",
            rule_class=RuleClass.HEADING,
            type=kind.type,
            description=f"A heading that names its kind: `## {_word(kind).capitalize()}: ...`.",
            finds=_in_heading(kind.type),
            quality=0.8,
            examples=(
                (f"## {_word(kind).capitalize()}: {kind.sample}\n\nMore on it.", kind.sample),
                (f"### {_word(kind).capitalize()} X-12 - {kind.sample}", kind.sample),
                (f"## {_word(kind).capitalize()}s\n\nNone yet.", ""),
            ),
        ),
        EntityRule(
            id=f"{kind.type}_item",
            rule_class=RuleClass.LIST_ITEM,
            type=kind.type,
            description=f"A list item or bold line that names its kind: `- [{_word(kind)}] ...`.",
            finds=_in_item(kind.type),
            quality=0.7,
            examples=(
                (f"- [{_word(kind).capitalize()}] {kind.sample}", kind.sample),
                (f"- **{_word(kind).capitalize()}**: {kind.sample}", kind.sample),
                (f"- {_word(kind).capitalize()}: {kind.sample}", kind.sample),
                (f"The {_word(kind)} is discussed elsewhere.", ""),
                (f"- [{_word(kind).capitalize()}](https://example.org) is a link", ""),
            ),
        ),
    )
)
"""Two rules for each type: as a heading, and as a list item."""
