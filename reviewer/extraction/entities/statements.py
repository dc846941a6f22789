"""Rules on sentences that define, measure, validate or source something."""

from __future__ import annotations

import re
from collections.abc import Callable

from reviewer.extraction.candidates import RuleClass
from reviewer.extraction.entities.entity import Attribute, EntityType, Relation, RelationKind
from reviewer.extraction.entities.naming import leans, named, titled
from reviewer.extraction.entities.quantities import quantities
from reviewer.extraction.entities.relations import relations_in
from reviewer.extraction.entities.rule import EntityRule, Found, Place
from reviewer.text.units import UnitKind

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
    """The statement's text, or nothing where it is no prose."""
    prose = place.statement.kind in (UnitKind.SENTENCE, UnitKind.LIST_ITEM)
    return place.statement.text if prose else ""


def _found(place: Place, name: str, **more: object) -> Found | None:
    name = named(name)
    if len(name) < 2 or leans(name) or len(name.split()) > 8:
        return None
    return Found(name=name, start=place.start, end=place.end, **more)  # type: ignore[arg-type]


def _prose_with(place: Place, *cues: str) -> str:
    """The same, or nothing where it holds none of some lower-case words: most statements do not,
    and to look for these first costs a tenth of the patterns.
    """
    return _prose(place) if any(map(place.statement.lower.__contains__, cues)) else ""


def _part(kinds: tuple[str, ...]) -> Callable[[Place], Found | None]:
    def find(place: Place) -> Found | None:
        match = _PART.match(_prose_with(place, *kinds))
        if match is None or match["kind"].lower() not in kinds:
            return None
        whole = Relation(RelationKind.PART_OF, named(match["whole"]))
        others = relations_in(place.statement.text, match["name"])
        return _found(place, match["name"], relations=tuple(dict.fromkeys((whole, *others))))

    return find


def _material(place: Place) -> Found | None:
    match = _MADE_OF.match(_prose_with(place, "made", "machined", "cast", "printed", "built"))
    if match is None or leans(match["what"]):
        return None
    return _found(place, match["name"], attributes=(Attribute("of", named(match["what"])),))


def _vendor(place: Place) -> Found | None:
    cues = ("suppl", "manufactur", "sold", "delivered", "vendor")
    match = _SUPPLIES.match(_prose_with(place, *cues))
    if match is None:
        return None
    name, goods = (match["vendor"] or match["name"]), (match["goods"] or match["what"])
    if leans(goods) or not name[:1].isupper():
        return None
    return _found(place, name, attributes=(Attribute("supplies", named(goods)),))


def _result(place: Place) -> Found | None:
    text = _prose_with(place, "measure", "benchmark", "simulated", "profiled")
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
    text = _prose_with(place, "validate", "verif", "qualified", "confirm")
    match = _VALIDATED.search(text)
    if match is None or leans(text) or _HEDGED.search(text):
        return None
    return Found(name=titled(text), start=place.start, end=place.end, relations=relations_in(text))


RULES = (
    EntityRule(
        id="component_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.COMPONENT,
        description="A sentence that says what something is a component of.",
        finds=_part(("component", "module", "part")),
        cue=r"\b(?:component|module|part)\b",
        examples=(
            ("The gripper is a component of the arm.", "gripper"),
            ("The gripper holds a component of the arm.", ""),
        ),
    ),
    EntityRule(
        id="subsystem_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.SUBSYSTEM,
        description="A sentence that says what something is a subsystem of.",
        finds=_part(("subsystem",)),
        cue=r"\bsubsystem\b",
        examples=(
            ("Thermal control is a subsystem of the satellite.", "Thermal control"),
            ("This is a subsystem of the satellite.", ""),
        ),
    ),
    EntityRule(
        id="material_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.MATERIAL,
        description="A sentence that says what something is made of.",
        finds=_material,
        cue=r"\b(?:made|machined|cast|printed|built) ",
        examples=(
            ("The bracket is machined from aluminium 6061.", "aluminium 6061"),
            ("The bracket is heavy.", ""),
        ),
    ),
    EntityRule(
        id="vendor_sentence",
        rule_class=RuleClass.SENTENCE,
        type=EntityType.VENDOR,
        description="A sentence that says who supplies something.",
        finds=_vendor,
        cue=r"\b(?:supplied|manufactured|sold|delivered|supplies|manufactures|vendor|supplier)\b",
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
        cue=_MEASURED.pattern,
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
        description="A statement that something was validated, and by what.",
        finds=_claim,
        cue=_VALIDATED.pattern,
        examples=(
            (
                "The seal was verified by a burst test at 3 bar.",
                "The seal was verified by a burst test at 3 bar",
            ),
            ("The seal must be verified by a burst test.", ""),
        ),
    ),
)
