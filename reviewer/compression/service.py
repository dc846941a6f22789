"""Compression of contexts: previewed first, applied as one act, undone like any other."""

from __future__ import annotations

from collections.abc import Sequence

from reviewer.clock import Clock, iso
from reviewer.commits.commit_annotations import first_words
from reviewer.commits.contexts import Contexts
from reviewer.commits.criteria import clean_instructions, parse_patterns
from reviewer.commits.summaries import stored_summaries
from reviewer.commits.values import Priority, RetentionCriteria
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.anchors import find_anchors
from reviewer.compression.apply import apply_preview
from reviewer.compression.chosen_levels import ChosenLevels
from reviewer.compression.context_snapshot import (
    PINNED_SPAN,
    ContextSnapshot,
    LatestSnapshot,
    originals,
    read_chain,
    read_commits,
)
from reviewer.compression.engines import Engines
from reviewer.compression.fit import fit_plan, lower_to_target
from reviewer.compression.markers import expand, parse_markers
from reviewer.compression.measures import Measures
from reviewer.compression.plan import (
    Applied,
    CompressionPlan,
    LevelChoice,
    Preview,
    choice_of,
    read_level,
)
from reviewer.compression.preview import Watch, preview_plan
from reviewer.compression.segments import full_text, readable, speaker
from reviewer.compression.summarizer import (
    LicenceError,
    Tier,
    locked_level,
    require_licence,
)
from reviewer.compression.values import (
    ExpansionMarker,
    Level,
    Segment,
    SegmentTurn,
    SummarizationOptions,
)
from reviewer.compression.verbatim import find_verbatim
from reviewer.errors import ReviewerError, UnknownIdError
from reviewer.settings import load_settings
from reviewer.store.changes import Image
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger


class Compression:
    """Segments, previews and compressions of contexts. Reading is safe from several threads."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        clock: Clock,
        contexts: Contexts,
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._contexts = contexts
        self._database = database
        self.levels = ChosenLevels(database, ledger)
        self.measures = Measures(database, clock)
        """Durations, ratios, tokens of models and fidelity, by level."""
        self._snapshots = LatestSnapshot(database, contexts)
        self.engines = Engines(self.measures.record)

    def segments(self, context: int) -> tuple[Segment, ...]:
        """The segments of a context, without pins. Raises UnknownIdError."""
        return self._snapshots.get(context).segments

    def plan(
        self,
        context: int,
        level: Level | str | None,
        *,
        start: int | None = None,
        end: int | None = None,
        engine: str | None = None,
        options: SummarizationOptions | None = None,
    ) -> CompressionPlan:
        """Every segment of a context, or of a range of it, at one level; None: as it is.

        Raises UnknownIdError, and ReviewerError if there is nothing to compress or a pattern of
        `options` does not match there.
        """
        if level is not None:
            level = read_level(level)
            require_licence(level, self._tier())
        options = options or SummarizationOptions()
        snapshot = self._snapshots.get(context, start, end, options.retention)
        snapshot.require_segments()
        snapshot.require_matches(options.retention)
        return CompressionPlan(
            context,
            snapshot.head,
            tuple(choice_of(segment, level) for segment in snapshot.segments),
            start,
            end,
            self.engines.named(engine),
            options,
        )

    def fit(
        self,
        context: int,
        target: int,
        *,
        engine: str | None = None,
        options: SummarizationOptions | None = None,
        watch: Watch = Watch(),  # noqa: B008 - a frozen value
        anyway: bool = False,
        own: Sequence[LevelChoice] = (),
    ) -> CompressionPlan:
        """Levels with which the whole context has at most `target` tokens.

        Sizes are those of the offline engine, so that no model is called. Only passing summaries of
        it are chosen; with `anyway`, also failing ones of segments without a passing one. `own`:
        choices that are left alone. Raises UnreachableError, UnknownIdError, CancelledError.
        """
        plan = self.plan(context, Level.FULL, engine=engine, options=options)
        snapshot = self._snapshots.get(context, retention=plan.options.retention)
        offline = self.engines.summarizer("offline")
        return fit_plan(
            snapshot, plan, target, offline, self._lowest(), watch, anyway=anyway, own=own
        )

    def choose(self, plan: CompressionPlan, segment: str, level: Level | str) -> CompressionPlan:
        """The plan with another level for one segment. Raises UnknownIdError, LicenceError."""
        wanted = read_level(level)
        require_licence(wanted, self._tier())
        self._snapshot_of(plan).index_of(segment)
        return plan.with_level(segment, wanted)

    def write(self, plan: CompressionPlan, segment: str, text: str) -> CompressionPlan:
        """The plan with a person's summary for one segment, which is checked like any other.

        Raises UnknownIdError, and ReviewerError for a segment that stays Full.
        """
        number = self._snapshot_of(plan).index_of(segment)
        if plan.choices[number].level is Level.FULL:
            raise ReviewerError(
                f"{segment} stays Full and has no summary: give it another level first."
            )
        return plan.with_text(segment, text)

    def preview(
        self,
        plan: CompressionPlan,
        watch: Watch | None = None,
        *,
        strict: bool = False,
    ) -> Preview:
        """Dry run of a plan; the result's `plan` has the summaries filled in, ready to apply. The
        store is unchanged.

        A segment whose criteria cannot be met stays Full in it; `strict` raises instead. Raises
        ConflictError if the context has changed since the plan was made, and the exceptions of the
        engine: ModelError, CancelledError, RetryExhaustedError, LicenceError.
        """
        watch, snapshot = watch or Watch(), self._snapshot_of(plan)
        engine = self.engines.named(plan.engine)
        summarizer = self.engines.summarizer(engine, plan.options.model_id)
        concurrency = self.engines.concurrency(engine)
        preview = preview_plan(
            snapshot, plan, summarizer, concurrency=concurrency, watch=watch, strict=strict
        )
        if plan.target is None:
            return preview
        return lower_to_target(snapshot, preview, plan.target, summarizer, watch, self._lowest())

    def apply(self, plan: CompressionPlan) -> Applied:
        """Write a plan: summaries in place of its segments, as one act, undone by one undo.

        Commits outside the segments are unchanged. Missing summaries are written first. Raises
        ConflictError if the context has changed, RetentionError if a summary does not meet its
        criteria, ReviewerError if the context would not change, and the exceptions of the engine;
        the store is then unchanged.
        """
        preview, name = self.preview(plan, strict=True), self._contexts.get(plan.context).name
        applied = apply_preview(self._ledger, preview, name=name, now=iso(self._clock()))
        self.measures.flush()
        return applied

    def options(
        self,
        *,
        retain: str | None = None,
        retain_match: Sequence[str] = (),
        retain_regex: Sequence[str] = (),
        max_tokens: int | None = None,
        model_id: str | None = None,
    ) -> SummarizationOptions:
        """Options as given by a person. Raises PatternError, with the column of the error."""
        return SummarizationOptions(
            model_id=model_id,
            max_output_tokens=max_tokens,
            retention=RetentionCriteria(
                None if retain is None else clean_instructions(retain),
                parse_patterns(retain_match, retain_regex),
            ),
        )

    def pin(
        self, commit: int, start: int, end: int, kind: AnchorType = AnchorType.CRITICAL_FACT
    ) -> int:
        """Keep a span of a commit's text verbatim in every summary from now on; returns the act, 0
        if nothing changed.

        Raises UnknownIdError, and ReviewerError for a span that is empty or outside the text.
        """
        view = self._contexts.commit(commit)
        inside = 0 <= start < end <= len(view.text)
        content = view.text[start:end] if inside else ""
        if not content.strip():
            raise ReviewerError("The span is empty or outside the commit's text.")
        turn = first_words(view.text, view.row.hash)
        with self._ledger.act("mark anchor", f"Must survive in {turn}: {content}") as act:
            ((origin,),) = act.query(
                "SELECT coalesce(origin_id, id) FROM commit_ WHERE id = ?", (commit,)
            )
            place: Image = {"commit_id": origin, "span_start": start, "span_end": end}
            values: Image = {"type": str(kind), "content": content, "confirmed": PINNED_SPAN}
            known = act.query(
                "SELECT id FROM anchor WHERE commit_id = ? AND span_start = ? AND span_end = ?",
                tuple(place.values()),
            )
            if known:
                act.update("anchor", known[0][0], **values)
            else:
                act.insert("anchor", **place, **values, at=iso(self._clock()))
        return act.id

    def pin_text(self, commit: int, text: str) -> int:
        """Pin the first occurrence of a text in a commit; returns the act, 0 if already pinned.

        Raises UnknownIdError, and ReviewerError if the commit does not contain the text.
        """
        view = self._contexts.commit(commit)
        place = find_verbatim(view.text, text)
        if place is None:
            raise ReviewerError(
                f"{view.row.hash[:8]} does not contain that text; upper and lower case matter."
            )
        return self.pin(commit, *place)

    def expanded(self, commit: int) -> str:
        """A summary's text with all its markers expanded, level by level, down to the originals.

        Raises UnknownIdError for a commit that is not a summary.
        """
        text, query = self._contexts.commit(commit).text, self._database.query
        (read,) = read_commits(query, [commit])
        stored = stored_summaries(query, [read.origin]).get(read.origin)
        if stored is None:
            raise UnknownIdError(f"Commit #{commit} is not a summary.")
        sources = read_commits(query, stored.sources)
        turns = tuple(each.turn for each in sources)
        tokens = sum(turn.tokens for turn in turns)
        segment = readable(Segment(stored.key, turns, tokens, stored.topic))
        source, offline = full_text(segment.turns), self.engines.summarizer("offline")

        def expanded(level: Level, content: str) -> str:
            def nearer(marker: ExpansionMarker) -> str:
                if marker.target is Level.FULL:
                    return whole()
                written = offline.expanded_text(segment, level, find_anchors(segment.turns))
                return expanded(marker.target, written)

            return expand(content, parse_markers(content, level, segment.id, source=source), nearer)

        def whole() -> str:
            said = (
                (turn, self.expanded(turn.commit) if turn.summary and turn.commit else turn.text)
                for turn in segment.turns
                if turn.text.strip()
            )
            return "\n\n".join(f"{speaker(turn)}: {text}" for turn, text in said)

        found = expanded(Level(stored.level), text)
        return whole() if found == text else found  # tags have no markers

    def original_turns(self, context: int) -> tuple[SegmentTurn, ...]:
        """The turns of a context before any summary, skips left out. Raises UnknownIdError."""
        self._contexts.get(context)
        query = self._database.query
        turns = (each.turn for each in originals(query, read_chain(query, context)))
        return tuple(turn for turn in turns if turn.priority is not Priority.SKIP)

    def _snapshot_of(self, plan: CompressionPlan) -> ContextSnapshot:
        """The context of a plan. Raises ConflictError if it has changed since."""
        found = self._snapshots.get(plan.context, plan.start, plan.end, plan.options.retention)
        found.require_unchanged(plan)
        return found

    def _tier(self) -> Tier:
        return load_settings().compression.tier

    @property
    def locked(self) -> dict[Level, LicenceError]:
        found = {level: locked_level(level, self._tier()) for level in Level}
        return {level: why for level, why in found.items() if why is not None}

    def _lowest(self) -> Level:
        return max(set(Level) - set(self.locked))
