"""What agents remembered by themselves: statements from their memory files, with proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from reviewer.promotion.known_facts import KnownFacts
from reviewer.promotion.statement_rows import DroppedStatement, Prepared, dropped, prepare
from reviewer.proposing.agent_memories import is_memory_file, memory_proposals, memory_view
from reviewer.proposing.proof import ProofIndex, prove, reasons
from reviewer.proposing.values import Proved


class Proposed(Struct, frozen=True):
    """The proposals from a file: those that are proved, and the others with the reasons."""

    ready: tuple[Prepared, ...] = ()
    left_out: tuple[DroppedStatement, ...] = ()


def propose_from(
    path: Path,
    *,
    now: datetime,
    known: Callable[[str], tuple[str, ...]],
    cited_as: str = "",
    modified_ns: int | None = None,
) -> Proposed:
    """Prove what a memory file says, and find the records behind it; nothing from other files.

    Nobody is asked for a better wording, so only what is proved in full is kept. `cited_as` and
    `modified_ns`: see `prepare`. Raises SourceError when the file cannot be read.
    """
    proposals = list(memory_proposals(path)) if is_memory_file(path) else []
    if not proposals:
        return Proposed()
    view = memory_view(path)
    index = ProofIndex(view)
    sound: list[Proved] = []
    left_out: list[DroppedStatement] = []
    for proposal in proposals:
        proved = Proved(path, proposal, prove(proposal, index, known=known))
        if proved.proof.sound:
            sound.append(proved)
        else:
            left_out.append(dropped(proved, next(iter(reasons(proved.proof)), "not proved")))
    made = prepare(sound, now=now, view=view, cited_as=cited_as, modified_ns=modified_ns)
    ready = tuple(each for each in made if isinstance(each, Prepared))
    left_out += (each for each in made if isinstance(each, DroppedStatement))
    return Proposed(ready, tuple(left_out))


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

    def take(self, path: Path) -> None:
        """Propose from a file, all or nothing. Raises SourceError when it cannot be read."""
        found = propose_from(path, now=self._now, known=self._known.besides(path))
        self.ready += found.ready
        for each in found.left_out:
            self.dropped[each.reason.partition(": ")[0]] += 1  # without the words that it quotes
            self._drop(each)

    def give_up(self, path: Path) -> None:
        """Forget the statements of a file."""
        self.ready = [each for each in self.ready if each.proved.path != path]
