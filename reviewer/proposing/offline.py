"""What is proposed without a model: the door that ingestion uses for each file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reviewer.proposing.agent_memories import memory_proposals
from reviewer.proposing.values import Proposal


def offline_proposals(path: Path) -> Iterator[Proposal]:
    """Every statement that the rules propose from a file, in the order of the file.

    Memory use does not depend on the size of the file. Raises SourceError when the file cannot be
    read; a damaged record is left out.
    """
    yield from memory_proposals(path)
