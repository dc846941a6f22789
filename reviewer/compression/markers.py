"""Expansion markers: `[→more:SEGMENT:topic]` and `[→detail:SEGMENT]` (`docs/design.md`, "Levels and
anchors").

Only a marker of the summary's own segment can be expanded. Any other, or one from the source, is
plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reviewer.compression.values import ExpansionMarker, Level

_FORMS = {
    Level.DETAILED: re.compile(r"\[→more:([^:\[\]]+):((?:(?!\[→)[^\]\n])*)\]"),
    Level.BRIEF: re.compile(r"\[→detail:([^:\[\]]+)\]"),
}
"""Tags and Full have no markers."""
ANY_MARKER = re.compile(r"\[→(?:more|detail):[^\]\n]{0,200}\]")
_NOT_IN_TOPIC = re.compile(r"[\[\]\s:]+")
LABEL = "More detail"


def marker_text(level: Level, segment: str, topic: str = "") -> str:
    """The marker at the end of a summary of this level; empty for levels without markers."""
    if level is Level.DETAILED:
        topic = _NOT_IN_TOPIC.sub(" ", topic).strip() or "all"
        return f"[→more:{segment}:{topic}]"
    return f"[→detail:{segment}]" if level is Level.BRIEF else ""


def parse_markers(
    content: str, level: Level, segment: str, *, source: str = ""
) -> tuple[ExpansionMarker, ...]:
    """The markers in a summary of `segment`, in order.

    `source`: the summarized text; a marker in it counts only as the last line of the content, where
    engines put theirs.
    """
    form = _FORMS.get(level)
    if form is None or "[→" not in content:
        return ()
    found: list[ExpansionMarker] = []
    end = len(content.rstrip())
    for match in form.finditer(content):
        ours = match.end() == end and content[match.start() - 1 : match.start()] in ("", "\n")
        if match[1] != segment or (match[0] in source and not ours):
            continue
        label = match[2] if level is Level.DETAILED and match[2] else LABEL
        number = len(found) + 1
        found.append(
            ExpansionMarker(
                f"{segment}-{level.value}-{number}",
                label,
                Level(level - 1),
                *match.span(),
                segment,
            )
        )
    return tuple(found)


def change_level(content: str, level: Level, segment: str, *, source: str = "") -> str:
    """The content of the level nearer to Full, with its markers changed to those of `level`."""
    marker = marker_text(level, segment)
    found = parse_markers(content, Level(level - 1), segment, source=source)
    content = expand(content, found, lambda _: marker)
    return content if marker else content.rstrip()


def without_markers(content: str) -> str:
    """The text without anything that looks like a marker."""
    return ANY_MARKER.sub("", content) if "[→" in content else content


def expand(
    content: str,
    markers: Sequence[ExpansionMarker],
    closer: Callable[[ExpansionMarker], str],
) -> str:
    """The content with every marker replaced by the segment one level closer to Full."""
    for marker in reversed(markers):
        content = content[: marker.start] + closer(marker) + content[marker.end :]
    return content
