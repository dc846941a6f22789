"""Statements from the files of a wave without a model, with their proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from reviewer.promotion.known_facts import KnownFacts
from reviewer.promotion.statement_rows import DroppedStatement, Prepared, dropped, prepare
from reviewer.proposing.offline import offline_views, project_proposals, proposals_by_session
from reviewer.proposing.proof import ProofIndex, prove, reasons
from reviewer.proposing.values import Proposal, Proved


class Proposed(Struct, frozen=True):
    """The proposals from a file: those that are proved, and the others with the reasons."""

    ready: tuple[Prepared, ...] = ()
    left_out: tuple[DroppedStatement, ...] = ()


def propose_from(
    path: Path,
    proposals: Mapping[str, Sequence[Proposal]],
    *,
    now: datetime,
    known: Callable[[str], tuple[str, ...]],
    cited_as: str = "",
    modified_ns: int | None = None,
) -> Proposed:
    """Prove the proposals from the sessions of a file, and find the records behind them; needs no
    store.

    Nobody is asked for a better wording, so only what is proved in full is kept. `cited_as` and
    `modified_ns`: see `prepare`. Raises SourceError when the file cannot be read.
    """
    wanted = {session: each for session, each in proposals.items() if each}
    if not wanted:
        return Proposed()
    views = offline_views(path, wanted)
    ready: list[Prepared] = []
    left_out: list[DroppedStatement] = []
    for session, own in wanted.items():
        index = ProofIndex(views[session])
        sound: list[Proved] = []
        for proposal in own:
            proved = Proved(path, proposal, prove(proposal, index, known=known))
            if proved.proof.sound:
                sound.append(proved)
            else:
                why = next(iter(reasons(proved.proof)), "not proved")
                left_out.append(dropped(proved, why))
        made = prepare(
            sound, now=now, view=views[session], cited_as=cited_as, modified_ns=modified_ns
        )
        ready += (each for each in made if isinstance(each, Prepared))
        left_out += (each for each in made if isinstance(each, DroppedStatement))
    return Proposed(tuple(ready), tuple(left_out))


class OfflineStatements:
    """Collects the statements of a wave. `drop` is called for each that is not queued."""

    def __init__(
        self, known: KnownFacts, now: datetime, drop: Callable[[DroppedStatement], None]
    ) -> None:
        self._known = known
        self._now = now
        self._drop = drop
        self.ready: list[Prepared] = []
        self.dropped: Counter[str] = Counter()

    def take(self, path: Path, sessions: frozenset[str] | None = None) -> None:
        """Propose from a file, all or nothing; `sessions`: from these of several. Raises
        SourceError when it cannot be read.

        Nobody is asked for a better wording, so only what is proved in full is kept.
        """
        self._collect([self._proved(path, proposals_by_session(path, sessions))])

    def take_together(
        self, files: Mapping[Path, frozenset[str] | None], *, keep: bool = True
    ) -> None:
        """Propose what the sessions of a project show only together, all or nothing: of each file
        these, or all. Without `keep` they are only read.

        Raises SourceError.
        """
        by_path: dict[Path, dict[str, list[Proposal]]] = {}
        for (path, session), proposal in project_proposals(files):
            by_path.setdefault(path, {}).setdefault(session, []).append(proposal)
        found = [self._proved(path, proposals) for path, proposals in by_path.items()]
        self._collect(found if keep else [])

    def give_up(self, path: Path) -> None:
        """Forget the statements of a file."""
        self.ready = [each for each in self.ready if each.proved.path != path]

    def _proved(self, path: Path, proposals: Mapping[str, Sequence[Proposal]]) -> Proposed:
        return propose_from(path, proposals, now=self._now, known=self._known.besides(path))

    def _collect(self, found: Sequence[Proposed]) -> None:
        for of_file in found:
            self.ready += of_file.ready
            for each in of_file.left_out:
                self.dropped[_without_names(each.reason)] += 1
                self._drop(each)


def _without_names(reason: str) -> str:
    """A reason that can be counted: without the words that it quotes."""
    return reason.partition(": ")[0]
