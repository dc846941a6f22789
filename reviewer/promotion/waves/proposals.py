"""Statements with proof: queueing proposers' statements, and wording one by hand."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from reviewer.clock import iso
from reviewer.errors import ConflictError, ReviewerError, SourceError
from reviewer.extraction.candidates import MemoryType
from reviewer.extraction.confidence import setting_of
from reviewer.extraction.rules import sentence_type
from reviewer.promotion.decisions.triage import promote_rows
from reviewer.promotion.rows.decided_rows import STATUS_WORDS
from reviewer.promotion.rows.enqueue import QueueWriter
from reviewer.promotion.rows.evidence_rows import wave_row
from reviewer.promotion.rows.known_facts import KnownFacts
from reviewer.promotion.rows.relations import Related, relate, to_compare
from reviewer.promotion.rows.statement_rows import (
    DroppedStatement,
    PreparedStatement,
    Written,
    dropped,
    prepare_statements,
    queue_statements,
)
from reviewer.promotion.rows.wordings import LONGEST_WORDING, require_wording
from reviewer.promotion.views import Done, Status
from reviewer.promotion.waves.report import ReportFolder, WaveReport
from reviewer.proposing.proof import prove
from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import (
    Proposal,
    Proposer,
    Proved,
    Quote,
    Relations,
    Sentence,
    SessionView,
    ViewLine,
)
from reviewer.sources.events import Speaker
from reviewer.store.acts import Act, Scope
from reviewer.store.project_rows import project_row
from reviewer.store.service import Service
from reviewer.text.numerals import count
from reviewer.text.secrets import mask

BY_HAND = "worded"
"""Rule of a statement that a person worded from lines of a session."""

MAX_QUOTED = 2_000
"""Characters of a line quoted as the proof of a statement worded by hand."""


class Proposals(Service):
    """Puts statements into the queue; decides nothing, unless a person says so."""

    def known(self, project: str, tree: Path | None = None) -> KnownFacts:
        """Finds known statements of a project, for `prove`."""
        return KnownFacts(self._database, project, tree)

    def add(
        self,
        project: str,
        proved: Sequence[Proved],
        *,
        title: str,
        view_of: Callable[[Path], SessionView] | None = None,
    ) -> Written:
        """Queue statements as one act with this `title`: one row per fact.

        A known fact is seen again, with its new places as evidence, whatever its status; adding the
        same statements again changes nothing. Statements of an unreadable file are dropped, with
        the reason. `view_of` saves reading a session again.

        Raises StoreError if the store or the report cannot be written; then nothing is queued.
        """
        ready, left_out = self._prepared(proved, view_of)
        with self._ledger.act("propose", title, scope=Scope.INTAKE) as act:
            project_id = project_row(act, project) if ready else 0
            now = iso(self._clock())

            @cache
            def wave() -> int:
                roots = sorted({str(each.proved.path) for each in ready})
                return wave_row(act, project_id, roots, now)

            written = queue_statements(QueueWriter(act, project_id, now), wave, ready)
            written.dropped = left_out
            if written.new or written.over_cap or written.seen:
                self._report(act, wave(), project, written)
            act.title = written.title = _title(title, written)
        written.act = act.id
        return written

    def to_compare(self, project: str, new: Sequence[int]) -> list[Sentence]:
        """New statements and those nearest to each, for the question over all sessions."""
        return to_compare(self._database, project, new)

    def relate(self, project: str, relations: Relations) -> Related:
        """Record a reader's relations between statements, as one act; nothing is decided."""
        with self._ledger.act("propose", scope=Scope.INTAKE) as act:
            project_row(act, project)
            found = relate(act, relations, iso(self._clock()))
            act.title = (
                f"Compared the statements of all sessions: {found.joined} joined,"
                f" {found.untrue} made untrue by later ones, {found.contradictions} contradicting"
            )
        return found

    def word(
        self,
        project: str,
        path: Path,
        lines: Sequence[int],
        statement: str,
        type_: MemoryType | None = None,
        *,
        promote: bool = False,
        view: SessionView | None = None,
    ) -> Done:
        """Create a memory in a person's own words, with lines of a session (0-based, as counted by
        a view) as its evidence. It waits in the queue unless `promote`. A missing type is read from
        the beginning of the statement.

        The excerpts in those lines are hidden behind it, or merged into it when it is promoted.
        Raises ReviewerError for a statement that is too short or too long and for lines without
        text, SourceError if the file cannot be read, ConflictError if a memory already says the
        same.
        """
        require_wording(mask(" ".join(statement.split())).text)
        place = Path(os.path.abspath(path))
        view = view or read_view(place)
        kind = type_ or sentence_type(statement)
        proved = self._worded(project, place, lines, statement, kind, view)
        setting = setting_of(place, self._clock())
        ready, left_out = prepare_statements([proved], setting, view=view, longest=LONGEST_WORDING)
        for each in left_out:
            raise ReviewerError(f"This cannot be remembered: it is {each.reason}.")
        now = iso(self._clock())
        with self._ledger.act("word") as act:
            project_id = project_row(act, project)
            wave = cache(lambda: wave_row(act, project_id, [str(place)], now))
            written = queue_statements(QueueWriter(act, project_id, now), wave, ready)
            number = _undecided(act, written)
            act.title = f"Wrote #{number}"
            merged: list[int] = []
            if promote:
                _, merged, _ = promote_rows(act, [number], now=now)
                act.title = f"Wrote and promoted #{number}"
        return Done(act.id, act.title, (number, *merged))

    def _worded(
        self,
        project: str,
        path: Path,
        lines: Sequence[int],
        statement: str,
        type_: MemoryType,
        view: SessionView,
    ) -> Proved:
        wanted = set(lines)
        shown = _words_first([line for line in view.lines if line.line in wanted])
        if not shown:
            raise ReviewerError(
                f"{path} has no text in those lines. See: reviewer view {shlex.quote(str(path))}"
            )
        speakers = Counter(line.speaker for line in shown)
        own = Speaker.PERSON in speakers
        proposal = Proposal(
            statement=" ".join(statement.split()),
            type=type_,
            quotes=tuple(Quote(line.line, line.text[:MAX_QUOTED]) for line in shown),
            speaker=Speaker.PERSON if own else speakers.most_common(1)[0][0],
            proposer=Proposer.PERSON,
            rule=BY_HAND,
        )
        known = self.known(project).besides(path)
        return Proved(path, proposal, prove(proposal, view, known=known))

    def _prepared(
        self, proved: Sequence[Proved], view_of: Callable[[Path], SessionView] | None
    ) -> tuple[list[PreparedStatement], list[DroppedStatement]]:
        by_path: dict[Path, list[Proved]] = {}
        for each in proved:
            by_path.setdefault(each.path, []).append(each)
        ready: list[PreparedStatement] = []
        left_out: list[DroppedStatement] = []
        for path, own in by_path.items():
            try:
                view = (view_of or read_view)(path)
                more, others = prepare_statements(own, setting_of(path, self._clock()), view=view)
            except SourceError as problem:
                more, others = [], [dropped(each, str(problem)) for each in own]
            ready += more
            left_out += others
        return ready, left_out

    def _report(self, act: Act, wave: int, project: str, written: Written) -> None:
        with ReportFolder(self._database.path, wave) as folder:
            for row in written.over_cap:
                folder.drop(row)
            for each in written.dropped:
                folder.drop(each)
            report = WaveReport(
                wave=wave,
                project=project,
                files=len({each.proved.path for each in written.new.values()}),
                new=len(written.new),
                repeated=len(written.seen),
                over_cap=len(written.over_cap),
                over_cap_left=len(written.over_cap),
                dropped=Counter(each.reason for each in written.dropped),
                rules=Counter(each.proved.proposal.rule for each in written.new.values()),
            )
            folder.finish(act, report, list(written.new), iso(self._clock()))


def _words_first(lines: Sequence[ViewLine]) -> list[ViewLine]:
    """Lines of a view, a person's first, without additions by the agent's program to a line in
    which somebody speaks.
    """
    spoken = {line.line for line in lines if line.speaker is not Speaker.HARNESS}
    kept = [
        line for line in lines if line.speaker is not Speaker.HARNESS or line.line not in spoken
    ]
    return sorted(kept, key=lambda line: line.speaker is not Speaker.PERSON)


def _undecided(act: Act, written: Written) -> int:
    """The row of a statement. Raises ConflictError unless it is new or waits with new evidence."""
    if written.new:
        return next(iter(written.new))
    row = (*written.seen, *written.unchanged)[0]
    (status,) = act.query("SELECT status FROM memory WHERE id = ?", (row,))[0]
    if status != Status.CANDIDATE or written.unchanged:
        raise ConflictError(
            f"#{row} ({STATUS_WORDS[Status(status)]}) says the same. Nothing was changed."
        )
    return row


def _title(title: str, written: Written) -> str:
    parts = []
    if written.new:
        parts.append(count(len(written.new), "statement"))
    if written.seen:
        parts.append(f"{len(written.seen)} seen again")
    if written.over_cap:
        parts.append(f"{len(written.over_cap)} held back")
    return f"{title}: {', '.join(parts) or 'nothing new'}"
