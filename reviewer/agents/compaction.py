"""Instructions for the summary of a compaction."""

from __future__ import annotations

from pathlib import Path

from reviewer.errors import SourceError
from reviewer.text.for_agents import AgentText, joined, without_tags

LARGEST_TRANSCRIPT = 30_000_000
"""Bytes of the largest transcript read while the person waits for the compaction."""

GENERAL = AgentText(
    "Keep in the summary: the goal and the state of the work; what the person asked for, ruled out "
    "or corrected, in their own words; decisions with their reasons; the exact names of files, "
    "commands, flags, versions and numbers that are still needed; errors that were solved, with "
    "what solved them; questions without an answer; the next step."
)
"""For an unreadable session."""

LEFT_OUT = AgentText(
    "Leave out the text between <recalled-memory> tags: it is given again after the compaction."
)


def summary_instructions(agent: str, session: str, transcript: str, folder: Path) -> AgentText:
    """The instructions of `reviewer keep` for a session; general ones if it is unreadable or too
    large.
    """
    from reviewer.agents.transcripts import transcript_of
    from reviewer.compression.handover import write_keep

    text = ""
    try:
        found = transcript_of(agent, session, transcript, folder)
        if found.session is not None or found.path.stat().st_size <= LARGEST_TRANSCRIPT:
            text = write_keep(found.path, session=found.session).text
    except (OSError, SourceError):
        text = ""
    return joined([without_tags(text) or GENERAL, LEFT_OUT], "\n\n")
