"""Estimates how likely this person promotes a candidate, from their own past decisions.

Naive Bayes with additive log-odds: each feature contributes how much more, or less, often than
usual the person promoted candidates with it. Each contribution is a count that can be shown. The
estimate orders the queue; only a person promotes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from reviewer.promotion.views import RejectReason

ENOUGH = 30
"""Decisions needed before anything is learned."""
ENOUGH_OF_EACH = 5
"""Promotions, and rejections, needed among them."""
PSEUDO_COUNT = 2.0
"""Imaginary decisions at the usual rate that every feature starts from (Laplace smoothing)."""
SHRINKS = (0.2, 0.35, 0.5, 0.75, 1.0)
"""Features overlap (a rule has one type), so their sum is shrunk by one of these factors."""
REASONS = 3


class Feature(Struct, frozen=True, order=True):
    """One trait of a candidate: `rule=stated_preference`."""

    field: str
    value: str


class Traits(Struct, frozen=True):
    """Facts about a candidate before anybody has decided on it: plain columns of its row.

    `folder` is that of the source of its first evidence, `members` counts near duplicates behind
    the row.
    """

    type: str
    rule: str
    role: str
    format: str
    folder: str
    length: int
    confidence: float
    flags: tuple[str, ...] = ()
    members: int = 0
    proposer: str = ""
    need: str = ""


class Decided(Struct, frozen=True):
    """One decision of the person's."""

    features: tuple[Feature, ...]
    promoted: bool


class Share(Struct, frozen=True):
    """One row of the table: what a feature adds to the log-odds, and the counts behind it."""

    feature: Feature
    weight: float
    promoted: int
    decided: int


class Reason(Struct, frozen=True):
    """Why a candidate has its place: `promoted 18 of 20: rule stated_preference`."""

    feature: Feature
    text: str
    weight: float


class Score(Struct, frozen=True):
    """How likely the person promotes it, .01 to .99, and the strongest reasons, strongest first.

    Sort by `log_odds`, which distinguishes even near certainties.
    """

    probability: float
    log_odds: float
    reasons: tuple[Reason, ...]


def features_of(traits: Traits) -> tuple[Feature, ...]:
    """The features of a candidate: few and coarse, so that rows with the same ones group."""
    found = [
        Feature("type", traits.type),
        Feature("rule", traits.rule),
        Feature("role", traits.role),
        Feature("format", traits.format),
        Feature("folder", traits.folder),
        Feature("length", _bucket(traits.length, (60, 120, 200), "characters")),
        Feature("confidence", f"{min(math.floor(traits.confidence * 10), 9) / 10:.1f}"),
        Feature("members", _bucket(traits.members, (0, 2), "near duplicates")),
    ]
    found += (
        Feature(field, value)
        for field, value in (("proposer", traits.proposer), ("need", traits.need))
        if value
    )
    found += (Feature("flag", flag) for flag in sorted(set(traits.flags)) or ("none",))
    return tuple(found)


_FAULTS: dict[str, set[str]] = {
    RejectReason.NARRATION: {"rule", "role", "format", "length", "proposer", "need"},
    RejectReason.WRONG: {"rule", "role", "confidence", "flag", "proposer", "need"},
    RejectReason.NARROW: {"type", "rule", "folder", "length", "proposer", "need"},
}
"""The fields of features that a reason speaks against."""


def decision(traits: Traits, *, promoted: bool, reason: str = "") -> Decided | None:
    """A decision as an example to learn from: with a reason, only of what the reason is about. None
    where it says nothing of the next candidate: what the agent knew already was worth proposing.
    """
    own = features_of(traits)
    if promoted or not reason:
        return Decided(own, promoted)
    if reason == RejectReason.KNOWN:
        return None
    fields = _FAULTS.get(reason)
    return Decided(own if fields is None else tuple(f for f in own if f.field in fields), False)


def learn(decisions: Iterable[Decided]) -> Preference | None:
    """The model learned from a person's decisions; None until there are enough of them.

    The order of the decisions makes no difference. Time is linear in their features.
    """
    counts: Counter[Feature] = Counter()
    promotions: Counter[Feature] = Counter()
    patterns: Counter[tuple[frozenset[Feature], bool]] = Counter()
    for decision in decisions:
        own = frozenset(decision.features)
        patterns[own, decision.promoted] += 1
    for (own, promoted), times in patterns.items():
        for feature in own:
            counts[feature] += times
            promotions[feature] += times * promoted
    total = patterns.total()
    promoted_total = sum(times for (_, promoted), times in patterns.items() if promoted)
    if total < ENOUGH or min(promoted_total, total - promoted_total) < ENOUGH_OF_EACH:
        return None
    model = _Model(total, promoted_total, counts, promotions)
    return Preference(model, model.best_shrink(patterns))


class Preference:
    """The model of one person; immutable."""

    def __init__(self, model: _Model, shrink: float) -> None:
        self.decisions = model.total
        self.base = _logit(model.usual)
        """Log-odds of a candidate without known features."""
        self._shares = {
            feature: Share(
                feature,
                round(shrink * model.weight(feature), 9),
                model.promotions[feature],
                decided,
            )
            for feature, decided in model.counts.items()
        }

    def log_odds(self, feature: Feature) -> float:
        """How much a feature adds; 0 for one that was never decided on."""
        share = self._shares.get(feature)
        return share.weight if share else 0.0

    def table(self) -> tuple[Share, ...]:
        """Every feature with its weight, the strongest first: `base` + sum of weights = log-odds.

        For scoring in bulk, for example by a join.
        """
        return tuple(
            sorted(self._shares.values(), key=lambda share: (-abs(share.weight), share.feature))
        )

    def score(self, features: Iterable[Feature]) -> Score:
        """The probability of a candidate with these features, with the strongest reasons."""
        own = sorted(set(features))
        total = math.fsum([self.base, *(self.log_odds(feature) for feature in own)])
        shares = [self._shares[f] for f in own if f in self._shares and self._shares[f].weight]
        shares.sort(key=lambda share: (-abs(share.weight), share.feature))
        reasons = tuple(
            Reason(share.feature, _words(share), share.weight) for share in shares[:REASONS]
        )
        return Score(min(max(round(_chance(total), 6), 0.01), 0.99), round(total, 9), reasons)


class _Model(Struct, frozen=True):
    """The counts, and the weights that follow from them."""

    total: int
    promoted: int
    counts: Counter[Feature]
    promotions: Counter[Feature]

    @property
    def usual(self) -> float:
        """How often the person promotes."""
        return self.promoted / self.total

    def weight(self, feature: Feature) -> float:
        """How much a feature adds to the log-odds, before shrinking."""
        return _weight(self.promotions[feature], self.counts[feature], self.usual)

    def best_shrink(self, patterns: Counter[tuple[frozenset[Feature], bool]]) -> float:
        """The factor that best predicts each decision from the others (log-loss)."""
        judged: list[tuple[bool, int, float, float]] = []
        for (own, promoted), times in patterns.items():
            usual = (self.promoted - promoted) / (self.total - 1)
            weights = (
                _weight(self.promotions[f] - promoted, self.counts[f] - 1, usual) for f in own
            )
            judged.append((promoted, times, _logit(usual), math.fsum(weights)))

        def loss(factor: float) -> float:
            return math.fsum(
                times * -math.log(max(_chance((base + factor * margin) * (1 if up else -1)), 1e-9))
                for up, times, base, margin in judged
            )

        return min(SHRINKS, key=lambda factor: (loss(factor), factor))


def _weight(promoted: int, decided: int, usual: float) -> float:
    """Log-odds of promotion with a feature, relative to the usual ones."""
    rate = (promoted + PSEUDO_COUNT * usual) / (decided + PSEUDO_COUNT)
    return _logit(rate) - _logit(usual)


def _logit(rate: float) -> float:
    return math.log(rate / (1 - rate))


def _chance(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(min(log_odds, 700.0), -700.0)))


def _bucket(number: int, borders: tuple[int, ...], what: str) -> str:
    """`up to 60 characters`, `61 to 120 characters`, ..., `over 200 characters`."""
    below: int | None = None
    for border in borders:
        if number <= border:
            if border == 0:
                return f"no {what}"
            return f"up to {border} {what}" if below is None else f"{below + 1} to {border} {what}"
        below = border
    return f"over {borders[-1]} {what}"


_NAMES = {"role": "said by", "folder": "from", "format": "read as", "flag": "flag", "length": "",
          "members": "", "proposer": "proposed by", "need": "about"}  # fmt: skip


def _words(share: Share) -> str:
    feature = share.feature
    name = f"{_NAMES.get(feature.field, feature.field)} {feature.value}".strip()
    return f"you promoted {share.promoted} of {share.decided}: {name}"
