"""Builds a level's content from an engine's text: anchors restored, criteria and ceilings met."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from reviewer.compression.engine import EngineText, SummaryEngine, SummaryTask
from reviewer.compression.fidelity import missing_anchors, tags_in
from reviewer.compression.markers import parse_markers
from reviewer.compression.measures import log
from reviewer.compression.retention import (
    anchor_points,
    append_points,
    diagnosis,
    is_in,
    validate_retention,
)
from reviewer.compression.values import AnchorPoint, Level
from reviewer.compression.verbatim import anchor_tag
from reviewer.compression.writing import begun
from reviewer.llm.steering import RetryExhaustedError
from reviewer.text.normalise import fold

ROUNDS = 4
"""Requests for a text in another length before it is cut."""
BESIDE = 30
"""Minimum tokens of a text beside its anchors and the person's words."""
LEAST_ROOM, LEAST_FOR_TAGS = 8, 4
"""Tokens below which an engine is not asked for a text."""
TAGS_SHARE = 0.5
"""Share of a hard ceiling that tags of detected anchors may take at Tags."""

Count = Callable[[str], int]


def assemble(engine: SummaryEngine, task: SummaryTask, marker: str, count: Count) -> EngineText:
    """The content of a level; `marker` ends it, empty for none.

    Raises as the engine does, and RetryExhaustedError for unmet criteria.
    """
    _require_possible(task)
    task = structs.replace(task, anchors=_by_weight(task.anchors))
    if task.level is Level.TAGS:
        found, need = _tags(engine, task, count)
    else:
        found, need = _prose(engine, task, marker, count)
    ceiling = task.options.ceiling
    if failures := validate_retention(found.text, task.criteria.patterns):
        too_low = "" if ceiling is None else f" The ceiling of {ceiling} tokens may be too low."
        raise RetryExhaustedError(diagnosis(failures) + too_low, found.attempts, found.text)
    exceeds = f"anchors need {need} tokens" if need > task.max_tokens else ""
    return structs.replace(found, note="; ".join(filter(None, (exceeds, found.note))))


def _require_possible(task: SummaryTask) -> None:
    """Raise RetryExhaustedError for a criterion that matches nothing in the segment."""
    failures = validate_retention("", task.criteria.patterns)
    if impossible := [each for each in failures if not is_in(task.segment, each.pattern)]:
        raise RetryExhaustedError(
            f"{diagnosis(impossible)} No text of the segment matches it, so no summary of it "
            "can: correct the criterion, or write the summary by hand.",
            1,
            "",
        )


def _prose(
    engine: SummaryEngine, task: SummaryTask, marker: str, count: Count
) -> tuple[EngineText, int]:
    """Detailed and Brief: the engine's text, Key Points for missing anchors, the marker; and the
    tokens of the anchors.
    """
    ceiling = task.options.ceiling
    tail = count(f"\n{marker}") if marker else 0
    need = sum(count(each.content) + 1 for each in task.anchors)
    limit = task.max_tokens
    if need:
        beside = BESIDE + task.segment.added_words
        listed = append_points("", anchor_points(task.anchors, task.segment))
        limit = max(limit, count(listed) + beside + tail)
    if ceiling is not None:
        limit = min(limit, ceiling)
    room, model_tokens = limit - tail, 0
    for _ in range(ROUNDS):
        found = engine.write(structs.replace(task, max_tokens=max(room, 0)))
        model_tokens += found.model_tokens
        body = found.text if room >= LEAST_ROOM or not engine.deterministic else ""
        missing = missing_anchors(body, task.anchors, task.level)
        points = anchor_points(missing, task.segment)
        content = _joined(body, points, marker, task)
        over = count(content) - limit
        if over <= 0 or not body or not engine.deterministic:
            break
        room -= max(over, 2)
    if points:
        log.warning("[COMP:SUM] %d anchors missing, re-injecting", len(points))
    while ceiling is not None and count(content) > ceiling and points:
        points = points[:-1]
        content = _joined(body, points, marker, task)
    if ceiling is not None and count(content) > ceiling:
        content = begun(body, ceiling, count)
    written = "" if engine.deterministic else found.text
    return structs.replace(found, text=content, written=written, model_tokens=model_tokens), need


def _joined(body: str, points: Sequence[str], marker: str, task: SummaryTask) -> str:
    """A text with its Key Points, and with the marker unless the engine wrote one."""
    content = append_points(body, points)
    if marker and not parse_markers(body, task.level, task.segment.id, source=task.analysis.text):
        return f"{content}\n{marker}".lstrip()
    return content


def _tags(engine: SummaryEngine, task: SummaryTask, count: Count) -> tuple[EngineText, int]:
    """Tags: a person's anchors verbatim, detected anchors as tags, then the engine's tags; and the
    tokens of the anchors.
    """
    ceiling = task.options.ceiling
    limit = min(task.max_tokens, ceiling or task.max_tokens)
    own = [fold(each.content) for each in task.anchors if each.source != "detected"]
    detected = [anchor_tag(each.content) for each in task.anchors if each.source == "detected"]
    tags = list(dict.fromkeys([*own, *detected]))
    if ceiling is not None and count(", ".join(tags)) > limit:
        while len(tags) > len(own) and count(", ".join(tags)) > limit * TAGS_SHARE:
            tags.pop()
    need = size = count(", ".join(tags))
    room = limit - need
    found = EngineText("", engine.name)
    if room >= LEAST_FOR_TAGS or not engine.deterministic:
        found = engine.write(structs.replace(task, max_tokens=room))
    known = {tag.lower() for tag in tags}
    for tag in tags_in(found.text):
        if tag.lower() not in known:
            size += count(f", {tag}")
            if size > max(limit, need):
                break
            known.add(tag.lower())
            tags.append(tag)
    content = ", ".join(tags)
    if ceiling is not None:
        content = begun(content, ceiling, count)
    written = "" if engine.deterministic else found.text
    return structs.replace(found, text=content, written=written), need


def _by_weight(anchors: Sequence[AnchorPoint]) -> tuple[AnchorPoint, ...]:
    """A person's anchors first, then by importance."""
    return tuple(sorted(anchors, key=lambda each: (each.source == "detected", -each.importance)))
