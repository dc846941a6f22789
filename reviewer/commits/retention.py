"""Retention criteria as they are stored beside an annotation (important-priority.md)."""

from __future__ import annotations

import msgspec

from reviewer.commits.values import RetentionCriteria
from reviewer.errors import ReviewerError

LONGEST_INSTRUCTIONS = 4_000

_decoder = msgspec.json.Decoder(RetentionCriteria)
NONE = RetentionCriteria()


def instructions(text: str) -> str:
    """What must survive, in words, as it is kept: secrets masked.

    Raises ReviewerError when it is empty or longer than LONGEST_INSTRUCTIONS characters.
    """
    from reviewer.text.secrets import mask  # late: reading needs no patterns of secrets

    kept = mask(text.encode("utf-8", "replace").decode().strip()).text
    if not kept:
        raise ReviewerError(
            "The retention criterion is empty; say what must survive, or give a priority alone."
        )
    if len(kept) > LONGEST_INSTRUCTIONS:
        raise ReviewerError(
            f"Retention in words has at most {LONGEST_INSTRUCTIONS:,} characters, this has "
            f"{len(kept):,}. Pin the commit instead."
        )
    return kept


def to_json(criteria: RetentionCriteria) -> str | None:
    """Criteria as the column `retention_json` holds them; None for none."""
    return msgspec.json.encode(criteria).decode() if criteria else None


def from_json(stored: str | None) -> RetentionCriteria:
    """The criteria that `retention_json` holds; none where it is NULL (older stores, bare ones)."""
    return _decoder.decode(stored) if stored else NONE


def size(criteria: RetentionCriteria) -> int:
    """How many criteria there are: each pattern, and the words as one."""
    return len(criteria.patterns) + bool(criteria.instructions)
