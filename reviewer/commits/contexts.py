"""Contexts: chains of commits, and what a person says must survive of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path

from reviewer.clock import Clock, iso
from reviewer.commits import chain, commit_annotations, compiling, references, retention, views
from reviewer.commits.contents import (
    Prepared,
    count_tokens,
    known_contents,
    named,
    prepare,
    store_texts,
)
from reviewer.commits.criteria_warnings import doubts
from reviewer.commits.patterns import Given, check_patterns, parse_patterns
from reviewer.commits.reader import Reader
from reviewer.commits.rows import commit_rows, commit_view
from reviewer.commits.searching import Searcher
from reviewer.commits.values import (
    Annotated,
    CommitQuery,
    CommitRow,
    CommitView,
    ContextView,
    Imported,
    MatchMode,
    Message,
    Pattern,
    PatternCheck,
    Priority,
    TokenTotals,
)
from reviewer.commits.writing import Shape, shape_of
from reviewer.errors import ReviewerError
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger, Scope


class Contexts:
    """Reads and writes contexts. Reading is safe from several threads at once."""

    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        self._reader = Reader(database)
        self._ledger = ledger
        self._clock = clock
        self._searcher = Searcher(self._reader)

    def all(self, project: str | None = None) -> list[ContextView]:
        """The contexts of a project, or all, those that changed latest first."""
        return views.contexts(self._reader, "(?1 IS NULL OR p.name = ?1)", project)

    def get(self, context: int) -> ContextView:
        """One context. Raises UnknownIdError."""
        return self._reader.kept(("context", context), lambda: views.context(self._reader, context))

    def find(self, name_or_id: str, project: str | None = None) -> ContextView:
        """The context of that name, or `#12`. Raises UnknownIdError, naming what is near."""
        return views.find_context(self._reader, name_or_id, project)

    def create(self, project: str, name: str) -> ContextView:
        """An empty context. Raises ReviewerError for a bad name, ConflictError for a taken one."""
        name = named(name)
        with self._ledger.act("create context", f"Created the context {name}") as act:
            number = chain.create_context(act, project, name, self._now())
        return self.get(number)

    def import_file(
        self,
        path: Path,
        *,
        project: str,
        name: str | None = None,
        line_start: int = 0,
        line_end: int | None = None,
    ) -> Imported:
        """Turn a transcript into a chain of commits, or extend the one that came from it.

        `name` is that of the context, else the file's; lines are 0-based and half-open. The same
        file again adds only what is new. An exported context comes back with what was said about
        its commits. Secrets are masked. Raises SourceError when it cannot be
        read or holds nothing, ConflictError when another file's context has that name.
        """
        from reviewer.commits import transcript_import  # late: reading contexts needs no sources

        path = path.expanduser().absolute()
        read = transcript_import.read_transcript(path, line_start=line_start, line_end=line_end)
        transcript_import.require_drafts(path, read)
        name = None if name is None else named(name)
        texts = [draft.text for draft in read.drafts]
        tokens = count_tokens(texts, self._known(texts))
        with self._ledger.act("import context", scope=Scope.INTAKE) as act:
            number, existed = transcript_import.context_for(act, path, project, name, self._now())
            fresh = transcript_import.not_imported_yet(act, number, read.drafts)
            contents = store_texts(act, [draft.text for draft in fresh], tokens)
            ids = chain.append(act, number, fresh, contents, self._now())
            commit_annotations.restore(act, ids, [draft.annotations for draft in fresh])
            commits = "commit" if len(fresh) == 1 else "commits"
            act.title = f"Imported {path.name}: {len(fresh):,} {commits}"
        return Imported(
            self.get(number), len(fresh), read.skipped, existed, masked=read.masked, act=act.id
        )

    def add(
        self,
        context: int,
        *,
        role: str,
        text: str,
        type: str | None = None,  # noqa: A002 - the word of the document
        priority: Priority | str | None = None,
        retain: str | None = None,
        retain_match: Sequence[Given] = (),
        retain_regex: Sequence[Given] = (),
        match_mode: MatchMode = "substring",
        reason: str = "",
        name: str = "",
    ) -> CommitView:
        """Write a commit by hand at the end of a context, annotated at once if asked.

        Without `type` it is that of the role: dialogue, instruction, tool result, artifact.
        Raises ReviewerError for an unknown role, no text, or bad criteria; UnknownIdError.
        """
        shape = shape_of(Shape(role, type or "", name))
        criteria = [*retain_match, *retain_regex]
        said = None
        if priority is not None or retain is not None or criteria:
            patterns = parse_patterns(retain_match, retain_regex, mode=match_mode)
            said = self._statement(priority, retain, patterns or None, reason=reason)
        prepared = prepare(text)
        if not prepared.text.strip():
            raise ReviewerError("A commit needs a text.")
        tokens, now = count_tokens([prepared], self._known([prepared])), self._now()
        with self._ledger.act("commit") as act:
            contents = store_texts(act, [prepared], tokens)
            draft = chain.Draft(shape.role, shape.type, prepared, shape.name, now)
            (number,) = chain.append(act, context, [draft], contents, now)
            about = commit_annotations.subjects(act, [number])
            act.title = f"Committed {about[0].hash[:8]}"
            if said is not None:
                commit_annotations.write(act, about, said, now=now, actor=self._ledger.actor)
        return self.commit(number)

    def edit(self, commit: int, text: str, reason: str = "") -> CommitView:
        """Give a commit a new text, as a commit of its own: the latest holds, the first stays.

        Returns the commit as it reads now. A text that it has already changes nothing. Raises
        ReviewerError for no text, UnknownIdError, ConflictError when it was compressed away.
        """
        prepared = prepare(text)
        if not prepared.text.strip():
            raise ReviewerError("A commit needs a text. To leave it out: priority skip.")
        before = self.commit(commit)
        if before.text == prepared.text:
            return before
        tokens = count_tokens([prepared], self._known([prepared]))
        with self._ledger.act("edit commit", f"Edited {before.row.hash[:8]}") as act:
            contents = store_texts(act, [prepared], tokens)
            why = prepare(reason.strip()).text
            chain.append_edit(act, commit, prepared, contents, self._now(), why)
        return self.commit(commit)

    def resolve(
        self, reference: str, context: int | None = None, project: str | None = None
    ) -> int:
        """The id of the commit that `#12`, `12`, a full hash or its first characters name.

        Raises UnknownIdError, or AmbiguousReferenceError naming the candidates.
        """
        return references.resolve(self._reader, reference, context=context, project=project)

    def ids(self, query: CommitQuery) -> array[int]:
        """A snapshot of the ids that match, in chain order. Raises FilterError."""
        return self._searcher.ids(query)

    def rows(self, ids: Sequence[int]) -> list[CommitRow]:
        """The rows of those ids, in that order; ids that no longer exist are left out."""
        return commit_rows(self._reader, ids)

    def commit(self, commit: int) -> CommitView:
        """Everything about a commit; of an edit, about what it edits. Raises UnknownIdError."""
        return commit_view(self._reader, commit)

    def annotate(
        self,
        commit: int | str | Sequence[int],
        *,
        priority: Priority | str | None = None,
        retain: str | None = None,
        retain_match: Sequence[Given] | None = None,
        retain_regex: Sequence[Given] = (),
        match_mode: MatchMode = "substring",
        clear: bool = False,
        reason: str = "",
    ) -> Annotated:
        """Say what must survive of a commit, or of many as one act (important-priority.md).

        What is not given stays: `retain` (words) and the patterns (`retain_match`, in which a
        string has `match_mode` and a compiled expression is a regex, with `retain_regex`) replace
        their own kind only, and an empty list of patterns drops them; `clear` drops all criteria
        first. Criteria without a priority make a commit at least IMPORTANT. Raises UnknownIdError,
        AmbiguousReferenceError, PatternError, ReviewerError for empty criteria; then nothing is
        written. Patterns that do not match their own commit are written, and are in `warnings`.
        """
        patterns = None
        if retain_match is not None or retain_regex:
            patterns = parse_patterns(retain_match or (), retain_regex, mode=match_mode)
        said = self._statement(priority, retain, patterns, clear=clear, reason=reason)
        ids = [self.resolve(commit)] if isinstance(commit, str) else commit
        wanted = [ids] if isinstance(ids, int) else list(ids)
        if not wanted:
            raise ReviewerError("Name at least one commit.")
        with self._ledger.act("annotate") as act:
            about = commit_annotations.subjects(act, wanted)
            told = commit_annotations.write(
                act, about, said, now=self._now(), actor=self._ledger.actor
            )
            act.title = commit_annotations.title(told or about, said)
        if not told:
            return Annotated(0, f"{act.title}: that held already", ())
        new_criteria = said.instructions is not None or bool(said.patterns)
        carried = [each.origin for each in told if new_criteria or each.retention]
        return Annotated(
            act.id,
            act.title,
            tuple(each.origin for each in told),
            doubts(self._reader, carried),
        )

    def patterns(
        self,
        match: Sequence[Given],
        retain_regex: Sequence[Given] = (),
        *,
        match_mode: MatchMode = "substring",
    ) -> tuple[Pattern, ...]:
        """Patterns as they would be kept. Raises PatternError, with the column of the fault."""
        return parse_patterns(match, retain_regex, mode=match_mode)

    def check(self, patterns: Sequence[Pattern], text: str) -> tuple[PatternCheck, ...]:
        """How each pattern stands against a text, within a time limit. Raises nothing."""
        return check_patterns(patterns, text)

    def doubts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What is odd about the criteria that commits carry now, a sentence each."""
        return doubts(self._reader, ids)

    def totals(self, context: int, *, at: int | None = None) -> TokenTotals:
        """Tokens and commits of a chain as it stands, or stood at a commit, by priority and role.

        `skip` is what `compile` leaves out.
        """
        return views.totals(self._reader, context, at)

    def compile(self, context: int, *, at: int | None = None) -> list[Message]:
        """The messages of a context, SKIP left out, edits applied; as it was when `at` was written.

        Raises UnknownIdError for an unknown context, or a commit that is not in it.
        """
        view = self.get(context)
        if at is not None:
            references.require_in(self._reader, at, view)
        return compiling.compile_messages(self._reader, context, at)

    def chat(self, messages: Iterable[Message]) -> list[dict[str, str]]:
        """Messages as chat completions take them: valid roles, calls of tools as text."""
        return compiling.chat_messages(list(messages))

    def changed(self, context: int) -> tuple[int, ...]:
        """A cheap value that differs whenever anything about the context's commits did."""
        return self._reader.kept(("version", context), lambda: views.version(self._reader, context))

    def _statement(
        self,
        priority: Priority | str | None,
        retain: str | None,
        patterns: tuple[Pattern, ...] | None,
        *,
        clear: bool = False,
        reason: str = "",
    ) -> commit_annotations.Statement:
        said = commit_annotations.Statement(
            priority=None if priority is None else commit_annotations.read_priority(priority),
            instructions=None if retain is None else retention.instructions(retain),
            patterns=patterns,
            clear=clear,
            reason=prepare(reason.strip()).text,
        )
        commit_annotations.require_something(said)
        return said

    def _known(self, texts: Sequence[Prepared]) -> dict[str, int]:
        return known_contents(self._reader.all, [text.sha256 for text in texts])

    def _now(self) -> str:
        return iso(self._clock())
