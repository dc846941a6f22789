"""Contexts and commits, for every screen that shows them: signs, figures, options to choose."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING
from unicodedata import is_normalized, normalize

from reviewer.text.token_numbers import short_count
from reviewer.tui.kit.text import Span, count, moment
from reviewer.tui.theme import Glyphs

if TYPE_CHECKING:
    from reviewer.commits.values import ContextView, Pattern, PatternCheck
    from reviewer.compression.fit import Reach
    from reviewer.tui.kit.choice_pane import Option

HASH_CHARACTERS = 8
MARKED_PLACES = 200
"""Matches of one pattern that are marked."""
REGEX_SECONDS = 0.25
"""A regular expression that takes longer than this is not marked."""


def priority_sign(priority: str, sign: Glyphs) -> str:
    """`●` pinned, `◆` important, `·` normal, `∅` skip."""
    return {"pinned": sign.pinned, "important": sign.important, "skip": sign.skip}.get(
        priority, sign.dot
    )


def context_words(context: ContextView, *, with_project: bool) -> str:
    """`214 commits, 48,120 tok, changed 2026-02-14 10:22`."""
    where = f"{context.project}: " if with_project else ""
    size = f"{count(context.commits, 'commit')}, {context.tokens:,} tok"
    return f"{where}{size}, changed {moment(context.changed_at)}"


def cost_options(reach: Reach, first_lines: dict[int, str], signs: Glyphs) -> list[Option]:
    """Whether a target can be reached, then the commits that cost most, heaviest first."""
    from reviewer.tui.kit.choice_pane import Option  # late: text fields take a while

    if reach.reachable:
        verdict = (signs.promoted, f"yes: it can get to about {reach.needs:,}")
    else:
        verdict = (signs.rejected, f"no: it needs about {reach.needs:,}")
    found = [Option("", f"{verdict[0]} {reach.target:,}", verdict[1])]
    for cost in reach.costly:
        line = first_lines.get(cost.commit, "")
        name = f"{cost.hash[:HASH_CHARACTERS]} {short_count(cost.tokens)}"
        found.append(Option(str(cost.commit), name, f"{cost.why}: {line}"))
    return found


def match_spans(checks: Sequence[PatternCheck], text: str) -> tuple[Span, ...]:
    """Where the patterns that match occur in `text`, in order, without overlaps.

    For display only: `check` decides. A text that is not NFC-normalised is left unmarked, because
    the checked text has other offsets.
    """
    if not is_normalized("NFC", text):
        return ()
    found = [
        (start, end)
        for check in checks
        if check.state == "matches"
        for start, end in islice(_places(check.pattern, text), MARKED_PLACES)
        if start < end
    ]
    spans: list[Span] = []
    for start, end in sorted(found, key=lambda place: (place[0], -place[1])):
        if spans and start < spans[-1].end:
            if end > spans[-1].end:
                spans[-1] = Span(spans[-1].start, end, "kept")
        else:
            spans.append(Span(start, end, "kept"))
    return tuple(spans)


def _places(pattern: Pattern, text: str) -> Iterator[tuple[int, int]]:
    wanted = normalize("NFC", pattern.text)
    if pattern.mode == "substring":
        words = r"\s+".join(re.escape(word) for word in wanted.split())
        yield from (match.span() for match in re.finditer(words, text))
        return
    import regex  # late: only criteria with regular expressions need it

    try:
        yield from (match.span() for match in regex.finditer(wanted, text, timeout=REGEX_SECONDS))
    except TimeoutError:
        return
