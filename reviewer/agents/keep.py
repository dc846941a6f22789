"""What the summary of a compaction has to keep, said in words to the model that writes it."""

from __future__ import annotations

import re
from pathlib import Path

from reviewer.agents.recalled import harmless
from reviewer.errors import SourceError

MOST_LINES = 20
SHORTEST_LINE, LONGEST_LINE = 12, 240
MOST_CHARACTERS = 4_000

LARGEST_TRANSCRIPT = 30_000_000
"""Bytes of a transcript that are read while the person waits for the compaction."""

_RULE = re.compile(
    r"\b(?:always|never|must|don'?t|do not|not|no,|only|instead|wrong|rather|prefer|make sure)\b",
    re.IGNORECASE,
)
"""Words by which a person sets a rule or corrects."""

GENERAL = (
    "Keep in the summary: the goal and the state of the work; what the person asked for, ruled out "
    "or corrected, in their own words; decisions with their reasons; the exact names of files, "
    "commands, flags, versions and numbers that are still needed; errors that were solved, with "
    "what solved them; questions without an answer; the next step. Leave out the text between "
    "<recalled-memory> tags: it is given again after the compaction."
)


def what_to_keep(transcript: Path | None) -> str:
    """Instructions for the summary, with what the person said that should not be lost."""
    words = person_said(transcript) if transcript is not None else []
    if not words:
        return GENERAL
    lines = "\n".join(f"- {line}" for line in words)
    return f"{GENERAL}\n\nThe person said in this session, among other things:\n{lines}"


def person_said(transcript: Path) -> list[str]:
    """What the person said in a session, in order: rules and corrections first of all, then the
    first request and the latest words.

    Empty for a transcript that cannot be read or is too large to be read meanwhile.
    """
    from reviewer.proposing.session_view import read_view
    from reviewer.proposing.values import LineRole, Speaker

    try:
        if transcript.stat().st_size > LARGEST_TRANSCRIPT:
            return []
        view = read_view(transcript)
    except (OSError, SourceError):
        return []
    said = dict.fromkeys(
        harmless(" ".join(line.text.split()))
        for line in view.lines
        if line.speaker is Speaker.PERSON and line.role in (LineRole.USER, LineRole.REJECTED)
    )
    texts = [text for text in said if len(text) >= SHORTEST_LINE]
    order = sorted(range(len(texts)), key=lambda n: (_RULE.search(texts[n]) is None, n != 0, -n))
    kept: list[int] = []
    room = MOST_CHARACTERS
    for number in order[:MOST_LINES]:
        room -= min(len(texts[number]), LONGEST_LINE)
        if room < 0:
            break
        kept.append(number)
    return [_shortened(texts[number]) for number in sorted(kept)]


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE - 1]}…"
