"""What agents remembered by themselves: statements from their memory files, with proof."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from reviewer.promotion.statement_rows import DroppedStatement, Prepared, dropped, prepare
from reviewer.proposing.agent_memories import is_memory_file, memory_proposals, memory_view
from reviewer.proposing.proof import ProofIndex, prove, reasons
from reviewer.proposing.values import Proved


def propose_from(
    path: Path,
    *,
    now: datetime,
    known: Callable[[str], tuple[str, ...]],
    cited_as: str = "",
    modified_ns: int | None = None,
) -> list[Prepared | DroppedStatement]:
    """Prove what a memory file says, and find the records behind it; nothing from other files.

    Nobody is asked for a better wording, so what is not proved in full is dropped. `cited_as` and
    `modified_ns`: see `prepare`. Raises SourceError when the file cannot be read.
    """
    proposals = list(memory_proposals(path)) if is_memory_file(path) else []
    if not proposals:
        return []
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
    return [*left_out, *made]
