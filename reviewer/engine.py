"""The one in-process engine: opens a store and hands out what a face may do with it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from reviewer.clock import Clock, utc_now
from reviewer.errors import ActStoppedError, ReadStoppedError
from reviewer.projects import default_project
from reviewer.promotion.drafts import Drafts
from reviewer.store.database import APPLICATION_ID, SCHEMA_VERSION, Database
from reviewer.store.ledger import Ledger
from reviewer.store.read_only import looking_address

if TYPE_CHECKING:
    from reviewer.commits.contexts import Contexts
    from reviewer.commits.values import Annotated as Annotated
    from reviewer.commits.values import Annotation as Annotation
    from reviewer.commits.values import CommitQuery as CommitQuery
    from reviewer.commits.values import CommitRow as CommitRow
    from reviewer.commits.values import CommitView as CommitView
    from reviewer.commits.values import ContextView as ContextView
    from reviewer.commits.values import Imported as Imported
    from reviewer.commits.values import MatchMode as MatchMode
    from reviewer.commits.values import Message as Message
    from reviewer.commits.values import Pattern as Pattern
    from reviewer.commits.values import PatternCheck as PatternCheck
    from reviewer.commits.values import Priority as Priority
    from reviewer.commits.values import RetentionCriteria as RetentionCriteria
    from reviewer.commits.values import TokenTotals as TokenTotals
    from reviewer.compression.compaction_report import CompactionReport as CompactionReport
    from reviewer.compression.file_summary import FileSummary as FileSummary
    from reviewer.compression.measures import MeasureSummary as MeasureSummary
    from reviewer.compression.plan import Applied as Applied
    from reviewer.compression.plan import Plan as Plan
    from reviewer.compression.plan import Preview as Preview
    from reviewer.compression.plan import SegmentPreview as SegmentPreview
    from reviewer.compression.service import Compression
    from reviewer.compression.sizes import Outlook as Outlook
    from reviewer.compression.sizes import Reach as Reach
    from reviewer.compression.values import CompressedSegment as CompressedSegment
    from reviewer.compression.values import FidelityValidation as FidelityValidation
    from reviewer.compression.values import SummarizationOptions as SummarizationOptions
    from reviewer.llm.model import CancelledError as CancelledError
    from reviewer.llm.model import ChatMessage as ChatMessage
    from reviewer.llm.model import ChatModel as ChatModel
    from reviewer.llm.model import ModelError as ModelError
    from reviewer.packets.service import Packets
    from reviewer.pipelines.events import AnswerChoice as AnswerChoice
    from reviewer.pipelines.events import Event as Event
    from reviewer.pipelines.events import Question as Question
    from reviewer.pipelines.events import Retrying as Retrying
    from reviewer.pipelines.events import RunDone as RunDone
    from reviewer.pipelines.events import RunStarted as RunStarted
    from reviewer.pipelines.events import StageDone as StageDone
    from reviewer.pipelines.events import StageStarted as StageStarted
    from reviewer.pipelines.events import Text as Text
    from reviewer.pipelines.resolve import Carried as Carried
    from reviewer.pipelines.resolve import Way as Way
    from reviewer.pipelines.run_store import RunView as RunView
    from reviewer.pipelines.service import KeptTurn as KeptTurn
    from reviewer.pipelines.service import Pipelines
    from reviewer.pipelines.service import RunOptions as RunOptions
    from reviewer.pipelines.values import Pipeline as Pipeline
    from reviewer.pipelines.values import PipelineEdge as PipelineEdge
    from reviewer.pipelines.values import PipelineNode as PipelineNode
    from reviewer.pipelines.values import Preamble as Preamble
    from reviewer.pipelines.values import Remark as Remark
    from reviewer.pipelines.values import Resolution as Resolution
    from reviewer.pipelines.values import RunHistory as RunHistory
    from reviewer.pipelines.values import Stage as Stage
    from reviewer.pipelines.walk import Stop as Stop
    from reviewer.promotion.conflicts import Conflicts
    from reviewer.promotion.entities import Entities
    from reviewer.promotion.entity_views import ConflictView as ConflictView
    from reviewer.promotion.entity_views import EntityView as EntityView
    from reviewer.promotion.export.plans import PlannedFile as PlannedFile
    from reviewer.promotion.exports import Exports
    from reviewer.promotion.history import ActView, ChangeView, History, Undone
    from reviewer.promotion.holdings import Holding as Holding
    from reviewer.promotion.holdings import Holdings
    from reviewer.promotion.insight import Insight
    from reviewer.promotion.intake import Intake
    from reviewer.promotion.learning import Score as Score
    from reviewer.promotion.policies import Hint as Hint
    from reviewer.promotion.provenance import Provenance
    from reviewer.promotion.provenance import Step as Step
    from reviewer.promotion.queue import STATUSES, Queue
    from reviewer.promotion.source_view import FileWindow, SourceView
    from reviewer.promotion.triage import Done, Seen, Triage
    from reviewer.promotion.trusted_state import StateView as StateView
    from reviewer.promotion.trusted_state import TrustedState
    from reviewer.promotion.views import (
        CandidateView,
        Counts,
        EvidenceView,
        Kind,
        Member,
        QueueQuery,
        QueueRow,
        RecordView,
        Sort,
        SourceRef,
        SourceState,
        Status,
    )
    from reviewer.promotion.wave_report import Progress, WaveReport
    from reviewer.store.verify import Verdict

__all__ = [
    "APPLICATION_ID",
    "SCHEMA_VERSION",
    "STATUSES",
    "ActView",
    "CandidateView",
    "ChangeView",
    "Counts",
    "Done",
    "Engine",
    "EvidenceView",
    "FileWindow",
    "Kind",
    "Member",
    "Progress",
    "QueueQuery",
    "QueueRow",
    "RecordView",
    "Seen",
    "Sort",
    "SourceRef",
    "SourceState",
    "Status",
    "Undone",
    "Verdict",
    "WaveReport",
    "default_project",
    "looking_address",
]

_LATE = {
    "reviewer.pipelines.values": {
        "Pipeline", "PipelineEdge", "PipelineNode", "Preamble", "Remark", "Resolution",
        "RunHistory", "Stage",
    },
    "reviewer.pipelines.events": {
        "AnswerChoice", "Event", "Question", "Retrying", "RunDone", "RunStarted", "StageDone",
        "StageStarted", "Text",
    },
    "reviewer.pipelines.run_store": {"RunView"},
    "reviewer.pipelines.service": {"KeptTurn", "RunOptions"},
    "reviewer.llm.model": {"CancelledError", "ChatMessage", "ChatModel", "ModelError"},
    "reviewer.compression.sizes": {"Outlook", "Reach"},
    "reviewer.promotion.history": {"ActView", "ChangeView", "Undone"},
    "reviewer.promotion.queue": {"STATUSES"},
    "reviewer.promotion.source_view": {"FileWindow"},
    "reviewer.promotion.triage": {"Done", "Seen"},
    "reviewer.promotion.views": {
        "CandidateView", "Counts", "EvidenceView", "Kind", "Member", "QueueQuery", "QueueRow",
        "RecordView", "Sort", "SourceRef", "SourceState", "Status",
    },
    "reviewer.promotion.wave_report": {"Progress", "WaveReport"},
    "reviewer.store.verify": {"Verdict"},
    "reviewer.commits.values": {
        "Annotated", "Annotation", "CommitQuery", "CommitRow", "CommitView", "ContextView",
        "Imported", "MatchMode", "Message", "Pattern", "PatternCheck", "Priority",
        "RetentionCriteria", "TokenTotals",
    },
}  # fmt: skip
"""Values of this module that are imported when they are first asked for."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        for module, names in _LATE.items():
            if name in names:
                from importlib import import_module

                return getattr(import_module(module), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class Engine:
    """A store and everything that can be done with it.

    `queue` reads, `triage` decides, `history` undoes, `intake` brings in, `sources` looks into
    files, the `drafts` keep unsaved wordings. Each is imported when it is first used. Reading is
    safe from several threads.
    """

    def __init__(self, database: Database, *, actor: str, clock: Clock) -> None:
        self.path = database.path
        self._database = database
        self._ledger = Ledger(database, actor=actor, clock=clock)
        self.clock = clock
        self.drafts = Drafts(database.path)
        self.edit_drafts = Drafts(database.path, "edit-drafts")
        self.retention_drafts = Drafts(database.path, "retention-drafts")
        self.summary_drafts = Drafts(database.path, "summary-drafts")

    @cached_property
    def queue(self) -> Queue:
        """Candidates, and what was decided about them."""
        from reviewer.promotion.queue import Queue

        return Queue(self._database, self.clock)

    @cached_property
    def triage(self) -> Triage:
        """Decisions about candidates."""
        from reviewer.promotion.triage import Triage

        return Triage(self._ledger, self.clock)

    @cached_property
    def history(self) -> History:
        """Every act, undo and redo."""
        from reviewer.promotion.consequences import look_again
        from reviewer.promotion.history import History
        from reviewer.store.undo import Undo

        undo = Undo(self._database, self._ledger, look_again(self.clock))
        return History(self._database, undo)

    @cached_property
    def sources(self) -> SourceView:
        """The files that candidates come from."""
        from reviewer.promotion.source_view import SourceView

        return SourceView(self._database)

    def ids(
        self,
        query: QueueQuery,
        *,
        limit: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> array[int]:
        """A snapshot of the ids that match, in the order asked, the learning order included.

        Raises FilterError, and ReadStoppedError as soon as `cancelled` says that nobody waits.
        """
        from reviewer.promotion.views import Sort

        if query.sort is Sort.LEARNED:
            return self.insight.order(query, cancelled=cancelled)[:limit]
        return self.queue.ids(query, limit=limit, cancelled=cancelled)

    @cached_property
    def entities(self) -> Entities:
        """Entities: structure, graduation, relations, what is written by hand."""
        from reviewer.promotion.entities import Entities

        return Entities(self._database, self._ledger, self.clock)

    @cached_property
    def conflicts(self) -> Conflicts:
        """Entities that contradict each other."""
        from reviewer.promotion.conflicts import Conflicts

        return Conflicts(self._database, self._ledger, self.clock, self.queue)

    @cached_property
    def state(self) -> TrustedState:
        """Trusted state, written by hand only."""
        from reviewer.promotion.trusted_state import TrustedState

        return TrustedState(self._database, self._ledger, self.clock)

    @cached_property
    def insight(self) -> Insight:
        """Hints and the learning order."""
        from reviewer.promotion.insight import Insight

        return Insight(self._database, self.clock, self.queue)

    @cached_property
    def holdings(self) -> Holdings:
        """What is active, by type."""
        from reviewer.promotion.holdings import Holdings

        return Holdings(self._database, self.queue)

    @cached_property
    def exports(self) -> Exports:
        """What was decided, as files."""
        from reviewer.promotion.exports import Exports

        return Exports(self._database, self.clock, self.queue, self.state)

    @cached_property
    def provenance(self) -> Provenance:
        """Why something is known."""
        from reviewer.promotion.provenance import Provenance

        return Provenance(self.queue, self.entities)

    @cached_property
    def contexts(self) -> Contexts:
        """Contexts, their commits and what was said about these."""
        from reviewer.commits.contexts import Contexts

        return Contexts(self._database, self._ledger, self.clock)

    @cached_property
    def compression(self) -> Compression:
        """Contexts made smaller: preview, checks, apply."""
        from reviewer.compression.service import Compression

        return Compression(self._database, self._ledger, self.clock, self.contexts)

    @cached_property
    def packets(self) -> Packets:
        """Context packets from what is active and trusted."""
        from reviewer.packets.service import Packets

        return Packets(self._database, self.clock, self.queue, self.state)

    @cached_property
    def pipelines(self) -> Pipelines:
        """Pipelines and their runs."""
        from reviewer.pipelines.service import Pipelines

        return Pipelines(self._database, self._ledger, self.clock)

    @cached_property
    def intake(self) -> Intake:
        """Ingestion; imported late, because commands that only read the queue need none of it."""
        from reviewer.promotion.intake import Intake

        return Intake(self._database, self._ledger, self.clock)

    @classmethod
    def open(cls, path: Path, *, actor: str = "you", clock: Clock = utc_now) -> Engine:
        """Open the store at `path`, made or brought up to date where needed.

        Raises StoreError.
        """
        return cls(Database(path), actor=actor, clock=clock)

    @property
    def read_only(self) -> bool:
        """Whether this user may not write the store: it can be looked at, and acts are refused."""
        return self._database.read_only

    def version(self) -> tuple[int, int]:
        """A value that differs whenever this or another process has written since."""
        return self._database.data_version(), self._ledger.writes

    def foreign_version(self) -> int:
        """A number, for the calling thread, that changes when another connection has written."""
        return self._database.data_version()

    def waits_to_write(self) -> bool:
        """Whether an act waits, in another thread, until another program has written."""
        return self._ledger.waiting

    @contextmanager
    def watched(self, watch: Callable[[int], bool]) -> Iterator[None]:
        """Show how the acts of the calling thread go on: `watch` gets the rows written so far.

        When it says True the act is taken back, with ActStoppedError.
        """
        try:
            with self._ledger.watched(watch):
                yield
        except ReadStoppedError as stopped:
            raise ActStoppedError("Stopped. Nothing was changed.") from stopped

    def close(self) -> None:
        """Close the store, once the figures that previews left waiting are written."""
        if "compression" in vars(self):
            self.compression.flush()
        self._database.close()
