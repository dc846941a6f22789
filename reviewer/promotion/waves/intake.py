"""Fills the queue: ingestion waves, candidates beyond the cap, and generated candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from reviewer.clock import iso
from reviewer.errors import Breakable, ConflictError
from reviewer.extraction.ranking import CAP
from reviewer.promotion.lists.beyond_cap import BeyondCap
from reviewer.promotion.rows.enqueue import QueueWriter
from reviewer.promotion.views import Done
from reviewer.promotion.waves.expiry import propose_retirements
from reviewer.promotion.waves.report import WaveProgress, WaveReport
from reviewer.promotion.waves.seed import seed
from reviewer.promotion.waves.wave import Wave
from reviewer.store.service import Service


class Intake(Service):
    """Fills the queue; decides nothing."""

    def ingest(
        self,
        paths: Sequence[Path],
        *,
        project: str,
        progress: Callable[[WaveProgress], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        breakable: Breakable | None = None,
        again: bool = False,
        sessions: Mapping[Path, frozenset[str]] | None = None,
        named: bool = False,
    ) -> WaveReport:
        """Read files and folders as one wave and queue the best candidates.

        With `again`, unchanged files are read too, and everything in them counts once more: a
        statement that a newer extractor words differently becomes another candidate, and the old
        one is never rewritten. `cancelled` is called between batches; if true, everything read so
        far is stored and queued, and the wave is `interrupted`. Long steps in between are
        `breakable` blocks. `sessions`: the only ones to read from files with sessions of several
        projects. `named`: the person named these paths, so files among them of another kind count
        as unread, too.

        Raises SourceError for a path that does not exist, StoreError if the store or the report
        cannot be written.
        """
        wave = Wave(
            self._database,
            self._ledger,
            self._clock,
            progress=progress or (lambda _: None),
            cancelled=cancelled or (lambda: False),
            breakable=breakable or nullcontext,
            again=again,
            sessions=sessions or {},
            named=named,
        )
        report = wave.run(paths, project)
        if report.state == "done":
            report.retiring = propose_retirements(self._ledger, self._clock, project)
        return report

    def more(self, *, project: str | None = None, limit: int = CAP) -> Done:
        """Queue the best candidates beyond the cap of earlier waves.

        Raises ConflictError if there are none, StoreError if a report is missing.
        """
        waiting, waves, failures = BeyondCap(self._database).waiting(project)
        if not waves:
            raise ConflictError(" ".join(["Nothing is held back.", *failures]))
        left = Counter(item.wave for item in waiting)
        writers: dict[int, QueueWriter] = {}
        ids: list[int] = []
        with self._ledger.act("queue more") as act:
            for item in waiting:
                if len(ids) >= limit:
                    break
                left[item.wave] -= 1
                if item.project_id not in writers:
                    writers[item.project_id] = QueueWriter(act, item.project_id, iso(self._clock()))
                writers[item.project_id].add(item.row, item.wave)
                ids = [row for each in writers.values() for row in each.new]
            for writer in writers.values():
                writer.count_again()
            for number in waves:
                sql = "SELECT json_set(counts, '$.over_cap_left', ?) FROM wave WHERE id = ?"
                ((counts,),) = act.query(sql, (left[number], number))
                act.update("wave", number, counts=counts)
            act.title = f"Queued {len(ids)} more"
        return Done(act.id, ". ".join([act.title, *failures]), tuple(ids))

    def seed(self, count: int, *, project: str = "seed") -> Done:
        return seed(self._ledger, self._clock, count, project=project)
