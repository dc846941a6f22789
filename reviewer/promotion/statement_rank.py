"""Confidence and order of statements: `docs/design.md`, Promotion."""

from __future__ import annotations

from reviewer.proposing.values import Proof, Proposal, Proposer
from reviewer.sources.events import Speaker

PRIORS: dict[Proposer, float] = {
    Proposer.PERSON: 0.85,
    Proposer.MODEL: 0.7,
    Proposer.COMMAND: 0.7,
    Proposer.MEMORY: 0.6,
    Proposer.NOTES: 0.6,
    Proposer.EPISODE: 0.6,
    Proposer.MCP: 0.55,
    Proposer.EXCERPT: 0.5,
}
"""Prior confidence of a proposer that states none of its own."""

LEAST, MOST = 0.5, 0.85
"""Bounds of the confidence that a proposer states: a model is never sure enough to be believed, and
the formula cannot exceed 1.
"""

NEEDS: dict[str, float] = {
    "instruction": 1.0,
    "correction": 1.0,
    "preference": 0.95,
    "trap": 0.9,
    "decision": 0.85,
    "convention": 0.8,
    "environment": 0.75,
    "architecture": 0.7,
    "open_item": 0.55,
}
"""How much a maintainer needs a kind of statement; OTHER for the rest."""
OTHER = 0.65
OF_AGENT = 0.85
"""Factor on an instruction or preference that is not in the person's own words."""
_OWN = ("instruction", "correction", "preference")

KNOWN, DOUBTED, TAKEN_BACK, PLANTED = 0.3, 0.5, 0.7, 0.3
"""Factors on what is known already, is not proved in full, was perhaps taken back later in the
session, or reads like an order planted in data.
"""


def prior(proposal: Proposal) -> float:
    """The confidence that a proposer states, bounded, or else the prior of its class."""
    if proposal.confidence is None:
        return PRIORS[proposal.proposer]
    return min(max(proposal.confidence, LEAST), MOST)


def rank(proposal: Proposal, proof: Proof, confidence: float, novelty: float) -> float:
    """The place of a statement seen in one session, 0 to 1: confidence x need x novelty, less what
    its proof leaves open. `recurring` raises it.
    """
    need = NEEDS.get(proposal.kind, OTHER)
    if proposal.kind in _OWN and proposal.speaker is not Speaker.PERSON:
        need *= OF_AGENT
    figure = confidence * need * novelty
    if proof.known:
        figure *= KNOWN
    if not proof.sound:
        figure *= DOUBTED
    if proof.later:
        figure *= TAKEN_BACK
    if "injection" in proof.flags:
        figure *= PLANTED
    return figure * recurring(1)


def recurring(sessions: int) -> float:
    """The factor of a statement found in that many sessions: .8, .9, .95 and so on, below 1."""
    return 1.0 - 0.2 * 0.5 ** (max(sessions, 1) - 1)


def flags(proof: Proof) -> tuple[str, ...]:
    """The flags by which a row shows its proof: `unproved`, `not-alone`, `known`, `taken-back`, and
    its own flags.
    """
    found = set(proof.flags)
    found.update(
        flag
        for flag, raised in (
            ("unproved", bool(proof.unproved) or not all(each.found for each in proof.quotes)),
            ("not-alone", bool(proof.not_alone_because)),
            ("known", bool(proof.known)),
            ("taken-back", bool(proof.later)),
        )
        if raised
    )
    return tuple(sorted(found))
