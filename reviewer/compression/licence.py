"""Which tier unlocks which level (hierarchical-summarizer.md, sections 1 and 3.2)."""

from __future__ import annotations

from typing import Literal

from reviewer.compression.values import Level, Locked
from reviewer.errors import ReviewerError

Tier = Literal["core", "writer-pro", "teams"]

TIERS: tuple[Tier, ...] = ("core", "writer-pro", "teams")
"""From least to most."""

SUMMARIZER, TAGS = "Agents.Compression.Summarizer", "Agents.Compression.Tags"
"""The features' gate keys."""

NEEDED: dict[Level, tuple[str, Tier]] = {
    Level.DETAILED: (SUMMARIZER, "writer-pro"),
    Level.BRIEF: (SUMMARIZER, "writer-pro"),
    Level.TAGS: (TAGS, "teams"),
}


class LicenceError(ReviewerError):
    """The tier does not hold a feature."""

    def __init__(self, locked: Locked) -> None:
        super().__init__(locked.message)
        self.feature = locked.feature
        self.tier = locked.tier


def locked(level: Level, tier: Tier) -> Locked | None:
    """What holds a level back in this tier, or None."""
    needed = NEEDED.get(level)
    if needed is None or TIERS.index(tier) >= TIERS.index(needed[1]):
        return None
    feature, least = needed
    return Locked(
        level,
        feature,
        least,
        f"The level {level.name.title()} ({feature}) needs the tier {least}; this is {tier}. "
        "Set tier under [compression] in the settings, or choose another level.",
    )


def require(level: Level, tier: Tier) -> None:
    """Raise LicenceError when the tier does not hold the level."""
    found = locked(level, tier)
    if found is not None:
        raise LicenceError(found)
