"""The entity extractor: records in, entity candidates out, without a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import structs

from reviewer.extraction.candidates import RuleClass, Setting
from reviewer.extraction.confidence import confidence, freshness, structural_signal
from reviewer.extraction.entities import decisions, headed, sentences
from reviewer.extraction.entities.decisions import is_decision_entry, not_in_force
from reviewer.extraction.entities.entity import EntityCandidate
from reviewer.extraction.entities.rule import EntityRule, Found, Place
from reviewer.extraction.extract import KNOWN_TEXT, NOT_IN_FORCE, lines_of_span
from reviewer.extraction.flags import flags_of
from reviewer.extraction.passages import unlabelled, wording
from reviewer.extraction.rejections import FRAGMENT, LONGEST_STATEMENT, RESTATES_BOOT, rejection
from reviewer.extraction.rules.rule import Statement
from reviewer.extraction.verdicts import Dropped, KnownText, Verdict, settled
from reviewer.extraction.weights import (
    BY_PERSON,
    MOST_IDENTIFIERS,
    PER_IDENTIFIER,
    PER_QUALITY,
    START,
)
from reviewer.sources.records import Record, Role, Use
from reviewer.text.identifiers import identifiers
from reviewer.text.sentences import split_sentences
from reviewer.text.units import Unit, UnitKind, cached_units

PER_FACT = 0.05
"""Weight of each attribute and relation, up to three, because they can be queried."""
MOST_BELOW = 300
"""Units after a heading that its rule sees; this keeps long records linear."""
CLOSED = -0.25
"""Weight of entities no longer in force, which deserve less review."""

ENTITY_EXTRACTOR_VERSION = "0.1.1"
"""Stored with every entity candidate; increase it whenever a rule proposes something different."""

RULES: tuple[EntityRule, ...] = tuple(
    sorted(
        (*headed.RULES, *decisions.RULES, *sentences.RULES),
        key=lambda rule: (rule.prior, rule.quality),
        reverse=True,
    )
)
"""Every rule, by prior and then quality: if several rules match, the first names the entity."""

_PROSE = (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
_RECORDS = tuple(rule for rule in RULES if rule.id == "decision_record")
_OF_HEADINGS = tuple(
    rule
    for rule in RULES
    if rule in _RECORDS or (rule in headed.RULES and rule.id.endswith("_heading"))
)
_OF_PROSE = tuple(rule for rule in RULES if rule not in _OF_HEADINGS)
_UNTYPED = tuple(rule for rule in _OF_PROSE if rule not in headed.RULES)


def extract_entities(
    records: Iterable[Record],
    setting: Setting,
    dropped: Callable[[Dropped], None] | None = None,
    *,
    known: KnownText | None = None,
) -> Iterator[EntityCandidate]:
    """Propose entities from a stream of records, in their order.

    Only records with use MESSAGE are judged; `known` carries boot text from one file of a pass to
    the next. `dropped` receives rejected finds with the rule's id. Statements that do not match any
    rule are reported by the memory extractor only.
    """
    known = KnownText() if known is None else known
    for record in records:
        if record.use in KNOWN_TEXT:
            known.remember(record.text)
        elif record.use is Use.MESSAGE:
            for candidate in settled(judge_entities(record, setting), known, dropped):
                assert isinstance(candidate, EntityCandidate)
                yield candidate


def judge_entities(record: Record, setting: Setting) -> Iterator[Verdict]:
    """Verdicts on the entities that the rules find in a MESSAGE record."""
    signal = structural_signal(setting.path)
    closed = not_in_force(record)
    decision: tuple[int, int] | None = None
    taken: set[int] = set()
    for place in _places(record, setting.path):
        if decision is not None and decision[0] < place.end and place.start < decision[1]:
            continue
        match = None if place.start in taken else first_find(place)
        if match is None:
            continue
        rule, found = match
        taken.update(found.taken)
        if rule.id == "decision_record":
            decision = (found.start, found.end)
        elif rule.id == "decision_sentence" and is_decision_entry(record):
            continue  # the entry itself is the decision; its other sentences argue for it
        raw = record.text[found.start : found.end]
        start, content = found.start, found.content
        if not content:
            start, content = unlabelled(record.text, found.start, found.end, wording(raw))
        lines = lines_of_span(record, found.start, found.end)
        restates = Dropped(RESTATES_BOOT, content[:LONGEST_STATEMENT], rule.id, record.key, *lines)
        if (reason := _unfit(rule, content, raw)) is not None:
            yield Verdict(structs.replace(restates, reason=reason))
            continue
        if closed and rule.id != "decision_record":
            yield Verdict(structs.replace(restates, reason=NOT_IN_FORCE), content, restates)
            continue
        fresh = freshness(record, setting)
        candidate = EntityCandidate(
            type=rule.type,
            name=found.name,
            content=content,
            rule=rule.id,
            prior=rule.prior,
            signal=signal,
            freshness=fresh,
            confidence=confidence(rule.prior, signal, fresh),
            weight=_weight(rule, found, content, record.role),
            record=record,
            span_start=start,
            span_end=found.end,
            extractor_version=ENTITY_EXTRACTOR_VERSION,
            flags=(*flags_of(content, record.role), *found.flags),
            attributes=found.attributes,
            relations=found.relations,
            slot=found.slot,
        )
        yield Verdict(candidate, content, restates)


def first_find(place: Place) -> tuple[EntityRule, Found] | None:
    """The strongest rule that finds an entity at a place, and the entity."""
    statement = place.statement
    if statement.kind is UnitKind.HEADING:
        rules = _OF_HEADINGS if headed.heading_names_a_type(place) else _RECORDS
    else:
        rules = _OF_PROSE if headed.names_a_type(place) else _UNTYPED
    for rule in rules:
        if rule.has_cue(statement.lower) and (found := rule.finds(place)) is not None:
            return rule, found
    return None


def _unfit(rule: EntityRule, content: str, raw: str) -> str | None:
    """Why a find is not fit to be proposed, or None.

    Structured text may be terse (`retention: 90 days`), so only sentences must be complete.
    """
    reason = rejection(content, raw)
    if reason is not None and (reason != FRAGMENT or rule.rule_class is RuleClass.SENTENCE):
        return reason
    return None


def _places(record: Record, path: str) -> Iterator[Place]:
    """The statements of a record; a unit that is too long is split into its sentences."""
    text = record.text
    found = cached_units(text)
    for position, unit in enumerate(found):
        kind = unit.kind
        if kind is UnitKind.HEADING:
            if unit.end - unit.start > LONGEST_STATEMENT:
                continue
            below = found[position + 1 : position + 1 + MOST_BELOW]
            content = wording(text[unit.start : unit.end])
            statement = _statement(record, unit, content, content.lower())
            yield Place(statement, record, path, unit.start, unit.end, below)
        elif kind in _PROSE:
            whole = unit.end - unit.start <= LONGEST_STATEMENT
            for start, end in ((unit.start, unit.end),) if whole else _pieces(text, unit):
                content = wording(text[start:end])
                statement = _statement(record, unit, content, content.lower())
                yield Place(statement, record, path, start, end)


def _pieces(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    for start, end in split_sentences(text, unit.start, unit.end):
        if end - start <= LONGEST_STATEMENT:
            yield start, end


def _statement(record: Record, unit: Unit, content: str, lower: str) -> Statement:
    title = record.headings[-1] if record.headings else ""
    return Statement(
        text=content,
        lower=lower,
        kind=unit.kind,
        role=record.role,
        shape=record.shape,
        heading=unit.heading or title,
        title=title,
        marker=unit.marker,
    )


def _weight(rule: EntityRule, found: Found, content: str, role: Role) -> float:
    """0 to 1: as for memories (`extraction.weights`), with points for facts that can be queried."""
    score = START + PER_QUALITY * rule.quality
    score += PER_IDENTIFIER * min(len(identifiers(content)), MOST_IDENTIFIERS)
    score += PER_FACT * min(len(found.attributes) + len(found.relations), 3)
    if role is Role.USER:
        score += BY_PERSON
    if found.flags:
        score += CLOSED
    return min(max(score, 0.0), 1.0)
