"""Rules on decisions: whole decision records (Nygard, MADR, log entries), and sentences."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from reviewer.extraction.candidates import RuleClass
from reviewer.extraction.entities.choices import choice_of, chosen_option, stated_choice
from reviewer.extraction.entities.entity import Attribute, EntityType, Relation, RelationKind
from reviewer.extraction.entities.naming import leans, named, title_parts, titled
from reviewer.extraction.entities.rule import NOT_IN_FORCE_FLAG, EntityRule, Found, Place
from reviewer.extraction.passages import wording
from reviewer.extraction.rejections import (
    FRAGMENT,
    LONGEST_STATEMENT,
    SHORTEST_STATEMENT,
    rejection,
)
from reviewer.sources.records import Record, Role, Shape
from reviewer.text.units import Unit, UnitKind

NO_LONGER = ("superseded", "superceded", "deprecated", "rejected", "obsolete", "withdrawn")
_DECISION_HEADING = re.compile(
    r"\**(?:(?:the )?decisions?(?: outcome| made)?|we decided|resolution)\**:?", re.IGNORECASE
)
_DECISION_LINE = re.compile(r"\**decision\**\s*:\**\s*", re.IGNORECASE)
_FILE_NUMBER = re.compile(r"(?:adr-?)?(\d{3,5})(?=[-_.])", re.IGNORECASE)
_REFERENCE = (
    r"(?P<target>\[\[[^\]\n]{1,100}\]\]|\[[^\]\n]{1,100}\]\([^)\n]{0,300}\)"
    r"|[\"“][^\"”\n]{2,100}[\"”]"
    r"|(?:ADR[- ]?#?)?\d{1,5}\b)"
)
_REPLACES = re.compile(rf"\bsuper[sc]edes\**:?\s+(?:ADR\s+)?{_REFERENCE}", re.IGNORECASE)
_REPLACED = re.compile(
    rf"\b(?:super[sc]eded|replaced)[ ]by\**:?\s+(?:ADR\s+)?{_REFERENCE}", re.IGNORECASE
)
_MADE = re.compile(
    r"^(?:so |therefore |thus |for now |instead |yes[,:]? |ok(?:ay)?[,:]? )*"
    r"(?:(?:we|i)(?:'ve| have)? (?:decided (?:to|on|against|that)|chose|agreed (?:to|on)|opted for"
    r"|settled on|went with)|it was decided (?:to|that)|decision:|decided (?:to|on|against)"
    r"|we (?:will|'ll) (?:use|adopt|keep|store|drop|replace|stop|move|migrate|host|deploy|run))\b",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(r"(?::|\bbecause|\bwill be|\bare)\**\s*$")
_PROSE = (UnitKind.SENTENCE, UnitKind.LIST_ITEM)


def not_in_force(record: Record) -> bool:
    """Whether an entry was superseded, rejected or withdrawn."""
    return record.meta.get("status", "").lower().startswith(NO_LONGER)


def is_decision_entry(record: Record) -> bool:
    """Whether a record is one decision: an entry with a Decision section or line."""
    return record.shape is Shape.ENTRY and bool(
        re.search(r"^\s{0,3}(?:#{1,6}\s+|\*\*)?decision", record.text, re.IGNORECASE | re.MULTILINE)
    )


def _record(place: Place) -> Found | None:
    record = place.record
    first = not record.text[: place.start].strip(" \t\n#")
    if record.shape is not Shape.ENTRY or place.statement.kind is not UnitKind.HEADING or not first:
        return None
    number, title = title_parts(record.text[place.start : place.end])
    stretch = _decision_stretch(record.text, place.below)
    if stretch is None or len(title) < 3:
        return None
    decided = wording(record.text[stretch[0] : stretch[1]])
    number = number or _number_of_file(place.path)
    closed = not_in_force(record)
    attributes = [Attribute("number", number)] if number else []
    for fact in ("status", "date"):
        if record.meta.get(fact):
            attributes.append(Attribute(fact, record.meta[fact].split(" (")[0]))
    attributes += [Attribute("superseded_by", target) for target in _targets(_REPLACED, record)]
    choice = choice_of(title, decided)
    if choice is not None:
        attributes.append(Attribute("choice", choice.option))
    elif option := chosen_option(decided):
        attributes.append(Attribute("choice", option))
    return Found(
        name=titled(title),
        start=stretch[0],
        end=stretch[1],
        attributes=tuple(attributes),
        relations=tuple(
            Relation(RelationKind.SUPERSEDES, target) for target in _targets(_REPLACES, record)
        ),
        slot=choice.slot if choice is not None and not closed else "",
        flags=(NOT_IN_FORCE_FLAG,) if closed else (),
    )


def _decision_stretch(text: str, below: tuple[Unit, ...]) -> tuple[int, int] | None:
    """The first statement of the decision, up to LONGEST_STATEMENT characters of one paragraph."""
    for position, unit in enumerate(below):
        if unit.kind is UnitKind.HEADING and _DECISION_HEADING.fullmatch(
            text[unit.start : unit.end]
        ):
            return _stretch(text, below[position + 1 :], 0)
        if unit.kind in _PROSE and (line := _DECISION_LINE.match(text, unit.start, unit.end)):
            return _stretch(text, below[position:], line.end())
    return None


def _stretch(text: str, units: tuple[Unit, ...], start: int) -> tuple[int, int] | None:
    first: Unit | None = None
    end, announced = 0, False
    for unit in units:
        if unit.kind is UnitKind.HEADING and first is None:
            continue  # a decision that has sub-headings of its own
        if unit.kind not in _PROSE:
            break
        if first is None:
            if (
                rejection(wording(text[unit.start : unit.end]), "") == FRAGMENT
                and unit.marker == ""
            ):
                continue  # an image, or a link alone
            first, start, end = unit, max(start, unit.start), unit.end
            announced = _ANNOUNCES.search(text, start, end) is not None
            continue
        listed = announced and unit.kind is UnitKind.LIST_ITEM
        if not (listed or unit.block == first.block) or unit.end - start > LONGEST_STATEMENT:
            break
        end = unit.end
    if first is None:
        return None
    if end - start > LONGEST_STATEMENT:
        end = start + LONGEST_STATEMENT
        border = max(
            text.rfind(mark, start + LONGEST_STATEMENT // 3, end) for mark in (". ", ", ", " ")
        )
        end = border + 1 if border > 0 else end
    return (start, end) if end - start >= SHORTEST_STATEMENT else None


def _targets(pattern: re.Pattern[str], record: Record) -> tuple[str, ...]:
    matches = (*pattern.finditer(record.text), *pattern.finditer(record.meta.get("status", "")))
    return tuple(dict.fromkeys(named(match["target"]) for match in matches))


def _number_of_file(path: str) -> str:
    match = _FILE_NUMBER.match(PurePosixPath(path.replace("\\", "/")).name)
    return match[1] if match else ""


def _made(place: Place) -> Found | None:
    statement = place.statement
    if statement.kind not in _PROSE or not _MADE.match(statement.text):
        return None
    choice = stated_choice(statement.text)
    if choice is None and leans(_MADE.sub("", statement.text).strip()):
        return None
    return Found(
        name=named(f"{choice.option} for {choice.subject}" if choice else "")
        or titled(statement.text),
        start=place.start,
        end=place.end,
        attributes=(Attribute("choice", choice.option),) if choice else (),
        slot=choice.slot if choice else "",
    )


_NYGARD = (
    "# 7. Use a queue table for mail\n\nDate: 2026-01-05\n\n## Status\n\nAccepted\n\n"
    "## Context\n\nMail is slow.\n\n## Decision\n\nWe will use a queue table for mail.\n"
)
_LOG = "## [2026-01-05-101500] One worker per queue\n\n**Decision**: Each queue has one worker.\n"

RULES = (
    EntityRule(
        id="decision_record",
        rule_class=RuleClass.HEADING,
        type=EntityType.DECISION,
        description="A decision record or log entry: its title, and the first statement decided.",
        finds=_record,
        quality=1.0,
        shape=Shape.ENTRY,
        examples=(
            (_NYGARD, "Use a queue table for mail"),
            (_LOG, "One worker per queue"),
            ("# Lessons of May\n\nThe disk was full.", ""),
        ),
    ),
    EntityRule(
        id="decision_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.DECISION,
        description="Somebody reports a decision: `We decided to use X for Y`.",
        finds=_made,
        quality=0.6,
        role=Role.ASSISTANT,
        shape=Shape.TURN,
        examples=(
            ("We decided to use SQLite for the queue.", "SQLite for queue"),
            (
                "I went with a single worker, since two would race.",
                "I went with a single worker, since two would race",
            ),
            ("You can decide that later on.", ""),
        ),
    ),
)
