"""Contexts: chains of commits with priorities and retention criteria."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

from reviewer.clock import Clock, iso
from reviewer.commits import chain, commit_annotations, references
from reviewer.commits.chain import checked_type
from reviewer.commits.contents import (
    PreparedText,
    clean_name,
    count_tokens,
    known_contents,
    prepare,
    store_texts,
)
from reviewer.commits.context_reader import ContextReader
from reviewer.commits.criteria import clean_instructions, parse_patterns
from reviewer.commits.criteria_warnings import criteria_warnings
from reviewer.commits.rows import commit_rows, commit_view, compile_messages
from reviewer.commits.search import matching_ids
from reviewer.commits.values import (
    Annotated,
    CommitQuery,
    CommitRow,
    CommitView,
    CompiledMessage,
    ContextView,
    ImportResult,
    Pattern,
    Priority,
)
from reviewer.errors import ReviewerError
from reviewer.store.acts import Scope
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.text.numerals import count


class Contexts(ContextReader):
    def __init__(self, database: Database, ledger: Ledger, clock: Clock) -> None:
        super().__init__(database)
        self._ledger = ledger
        self._clock = clock

    def create(self, project: str, name: str) -> ContextView:
        """An empty context. Raises ReviewerError for a bad name, ConflictError for a taken one."""
        name = clean_name(name)
        with self._ledger.act("create context", f"Created the context {name}") as act:
            number = chain.create_context(act, project, name, self._now())
        return self.get(number)

    def import_file(
        self,
        path: Path,
        *,
        project: str,
        name: str | None = None,
        session: str | None = None,
    ) -> ImportResult:
        """Import a transcript as a chain of commits, or extend the chain imported from it before.

        The context is called `name`, or like the file. Importing a file again adds only new
        commits. `session`: only this session of the file, in a context named after both. Secrets
        are masked.
        Raises SourceError if the file cannot be read or has no commits, ConflictError if the
        context of another file has that name.
        """
        from reviewer.commits import transcript_import  # late: imports all transcript formats

        path = path.expanduser().absolute()
        read = transcript_import.read_transcript(path, session=session)
        transcript_import.require_drafts(path, read)
        if name is None and session is not None:
            name = f"{path.stem}-{session}"[: transcript_import.LONGEST_STEM]
        name = None if name is None else clean_name(name)
        texts = [draft.text for draft in read.drafts]
        tokens = count_tokens(texts, self._known(texts))
        with self._ledger.act("import context", scope=Scope.INTAKE) as act:
            number, existed = transcript_import.context_for(act, path, project, name, self._now())
            fresh = transcript_import.not_imported_yet(act, number, read.drafts)
            contents = store_texts(act, [draft.text for draft in fresh], tokens)
            chain.append(act, number, fresh, contents, self._now())
            act.title = f"Imported {prepare(path.name).text}: {count(len(fresh), 'commit')}"
        return ImportResult(
            self.get(number), len(fresh), read.skipped, existed, masked=read.masked, act=act.id
        )

    def add(
        self,
        context: int,
        *,
        role: str,
        text: str,
        type: str | None = None,  # noqa: A002 - the name of the field
        priority: Priority | str | None = None,
        retain: str | None = None,
        retain_match: Sequence[str] = (),
        retain_regex: Sequence[str] = (),
        name: str = "",
    ) -> CommitView:
        """Append a commit to a context, optionally with an annotation.

        The default `type` depends on the role: dialogue, instruction, tool result,
        artifact. Raises ReviewerError for an unknown role, an empty text or bad criteria;
        UnknownIdError.
        """
        kind, name = checked_type(role, type or ""), clean_name(name)
        if len(name) > chain.LONGEST_NAME or not name.isprintable():
            raise ReviewerError(f"A name has at most {chain.LONGEST_NAME} printable characters.")
        patterns = parse_patterns(retain_match, retain_regex) or None
        change = None
        if any(each is not None for each in (priority, retain, patterns)):
            change = self._change(priority, retain, patterns)
        prepared = prepare(text)
        if not prepared.text.strip():
            raise ReviewerError("A commit needs a text.")
        tokens, now = count_tokens([prepared], self._known([prepared])), self._now()
        with self._ledger.act("commit") as act:
            contents = store_texts(act, [prepared], tokens)
            draft = chain.Draft(role, kind, prepared, name, now)
            (number,) = chain.append(act, context, [draft], contents, now)
            about = commit_annotations.annotation_targets(act, [number])
            act.title = f"Committed {about[0].words}"
            if change is not None:
                commit_annotations.write(act, about, change, now=now, actor=self._ledger.actor)
        return self.commit(number)

    def edit(self, commit: int, text: str) -> CommitView:
        """Give a commit a new text. The edit is a commit too, and the original stays.

        Returns the edited commit; the same text again changes nothing. Raises ReviewerError for
        an empty text and for a summary, whose text is checked by `compress`, UnknownIdError,
        ConflictError when a compression replaced the commit.
        """
        prepared = prepare(text)
        if not prepared.text.strip():
            raise ReviewerError("A commit needs a text. To leave it out: priority skip.")
        before = self.commit(commit)
        if before.text == prepared.text:
            return before
        if before.summary_of:
            short = before.row.hash[:8]
            raise ReviewerError(
                f"{short} is a summary, and its text is checked against the original. To write your"
                f" own: reviewer compress CONTEXT --from {short} --to {short} --text SEGMENT=FILE"
                " --apply"
            )
        tokens = count_tokens([prepared], self._known([prepared]))
        with self._ledger.act("edit commit", f"Edited {before.row.hash[:8]}") as act:
            contents = store_texts(act, [prepared], tokens)
            chain.append_edit(act, commit, prepared, contents, self._now())
        return self.commit(commit)

    def resolve(
        self, reference: str, context: int | None = None, project: str | None = None
    ) -> int:
        """The id of a commit given as `#12`, `12`, a hash or the first characters of a hash.

        Raises UnknownIdError, or AmbiguousReferenceError listing the candidates.
        """
        return references.resolve(self._database, reference, context=context, project=project)

    def ids(self, query: CommitQuery) -> array[int]:
        """The ids that match now, in chain order. Raises FilterError."""
        return matching_ids(self._database, query)

    def rows(self, ids: Sequence[int]) -> list[CommitRow]:
        """The rows of those ids, in that order; missing ids are left out."""
        return commit_rows(self._database, ids)

    def commit(self, commit: int) -> CommitView:
        """Everything about a commit; for an edit, about the edited commit.

        Raises UnknownIdError, also for one of another project.
        """
        self._database.require_own("commit_", [commit])
        return commit_view(self._database, commit)

    def annotate(
        self,
        commit: int | str | Sequence[int],
        *,
        priority: Priority | str | None = None,
        retain: str | None = None,
        retain_match: Sequence[str] | None = None,
        retain_regex: Sequence[str] = (),
        clear: bool = False,
        adds: bool = False,
    ) -> Annotated:
        """Set priority and retention criteria of one commit, or of many as one act.

        Omitted arguments change nothing. `retain` replaces the instructions; `retain_match` and
        `retain_regex` replace the patterns, and an empty list drops them; with `adds` they are
        added to the current ones. `clear` drops all criteria first. Criteria without a priority
        make a commit at least IMPORTANT. Patterns that do not match their own commit are stored and
        reported in `warnings`. Raises UnknownIdError, AmbiguousReferenceError, PatternError,
        ReviewerError for empty criteria; nothing is written then.
        """
        patterns = None
        if retain_match is not None or retain_regex:
            patterns = parse_patterns(retain_match or (), retain_regex)
        change = self._change(priority, retain, patterns, clear=clear, adds=adds)
        ids = [self.resolve(commit)] if isinstance(commit, str) else commit
        wanted = [ids] if isinstance(ids, int) else list(ids)
        if not wanted:
            raise ReviewerError("Name at least one commit.")
        with self._ledger.act("annotate") as act:
            about = commit_annotations.annotation_targets(act, wanted)
            changed = commit_annotations.write(
                act, about, change, now=self._now(), actor=self._ledger.actor
            )
            act.title = commit_annotations.title(changed or about, change)
        if not changed:
            return Annotated(0, f"{act.title}: nothing changed", ())
        new_criteria = change.instructions is not None or bool(change.patterns)
        carried = [each.origin for each in changed if new_criteria or each.retention]
        return Annotated(
            act.id,
            act.title,
            tuple(each.origin for each in changed),
            criteria_warnings(self._database, carried),
        )

    def criteria_warnings(self, ids: Sequence[int]) -> tuple[str, ...]:
        """Warnings about the current criteria of these commits, as sentences."""
        return criteria_warnings(self._database, ids)

    def compile(self, context: int) -> list[CompiledMessage]:
        """The messages of a context; SKIP left out, edits applied. Raises UnknownIdError."""
        self.get(context)
        return compile_messages(self._database, context)

    def _change(
        self,
        priority: Priority | str | None,
        retain: str | None,
        patterns: tuple[Pattern, ...] | None,
        *,
        clear: bool = False,
        adds: bool = False,
    ) -> commit_annotations.AnnotationChange:
        change = commit_annotations.AnnotationChange(
            priority=None if priority is None else commit_annotations.read_priority(priority),
            instructions=None if retain is None else clean_instructions(retain),
            patterns=patterns,
            clear=clear,
            adds=adds,
        )
        commit_annotations.require_something(change)
        return change

    def _known(self, texts: Sequence[PreparedText]) -> dict[str, int]:
        return known_contents(self._database.query, [text.sha256 for text in texts])

    def _now(self) -> str:
        return iso(self._clock())
