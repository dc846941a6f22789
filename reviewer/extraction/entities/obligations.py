"""Rules on what shall or must be: requirements, and constraints on how things may be done."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from reviewer.extraction.candidates import RuleClass
from reviewer.extraction.entities.entity import OBLIGATION, Attribute, EntityType
from reviewer.extraction.entities.naming import leans, name_key, titled
from reviewer.extraction.entities.quantities import quantities
from reviewer.extraction.entities.relations import relations_in
from reviewer.extraction.entities.rule import EntityRule, Found, Place
from reviewer.sources.records import Role
from reviewer.text.units import UnitKind

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

_MODAL = r"\b(?:must|shall)"


class Obligation(Struct, frozen=True):
    """Who must, or must not, do what."""

    statement: str
    subject: str
    predicate: str
    number: str
    forbids: bool
    capped: bool
    attributes: tuple[Attribute, ...]

    @property
    def slot(self) -> str:
        """What the opposite order, or another limit, would contradict."""
        subject = name_key(_ADVERB.sub("", f"{self.subject} "))
        return f"{OBLIGATION}{subject} {name_key(self.predicate)}"


def obligation_of(statement: str) -> Obligation | None:
    """The obligation that a sentence states, or None.

    Amounts in the predicate become attributes and leave the slot, so that another limit on the
    same thing falls into the same slot.
    """
    statement = _LEAD_IN.sub("", statement)
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
    """Whether a sentence's start names who or what must, rather than telling something else."""
    if len(text.split()) > 12 or (leans(text) and not text.lower().startswith("we")):
        return False
    return not _NARRATED.search(text) and not _CLAUSE.search(text)


def _constrains(stated: Obligation) -> bool:
    """Whether it limits how something is done; its number says so first (`R-1`, `C-1`)."""
    if stated.number:
        return stated.number.upper().startswith("C")
    return stated.forbids or stated.capped


def _states(constraint: bool) -> Callable[[Place], Found | None]:
    def find(place: Place) -> Found | None:
        statement = place.statement
        if "must" not in statement.lower and "shall" not in statement.lower:
            return None
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
            return None  # what must be, or must not, is listed below
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


RULES = (
    EntityRule(
        id="constraint_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.CONSTRAINT,
        description="A sentence that forbids something or caps it: `X must not ...`.",
        finds=_states(True),
        cue=_MODAL,
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
        description="A sentence that says what something shall or must do.",
        finds=_states(False),
        cue=_MODAL,
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
)
