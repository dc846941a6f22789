"""Finds known statements: in active memories, and in the files that agents always read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from reviewer.files import open_file
from reviewer.projects import work_tree
from reviewer.promotion.rows.known_rows import SHORTLIST, query_of
from reviewer.proposing.alike import PreparedTexts, says
from reviewer.proposing.given import KnownText
from reviewer.proposing.values import Proposer
from reviewer.sources.records import Shape
from reviewer.store.database import Database

BOOT_FILES = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    ".claude/CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    "CONVENTIONS.md",
)
"""Files of a work tree that agents read at every start."""

MAX_BYTES = 1_000_000
"""Bytes of such a file that are searched."""

MAX_LISTED = 5_000
"""Memories and statements searched for the nearest to a question."""
SHORT_LINE = 20
"""Characters; shorter lines are headings and markup."""


class KnownFacts:
    """Looks statements up for one project. A call returns the places, such as `CLAUDE.md:12`."""

    def __init__(self, database: Database, project: str, tree: Path | None = None) -> None:
        """`tree`: the project's work tree; by default the one in the store, or the current one."""
        self._database = database
        self._project = project
        self._tree = tree or _tree_of(database, project)
        self._texts = boot_texts(self._tree) if self._tree else {}
        self._prepared = PreparedTexts(self._texts)

    def __call__(self, statement: str) -> tuple[str, ...]:
        """The places that say the same, memories first."""
        return (*self.memories(statement), *self._prepared.places(statement))

    def besides(self, path: Path) -> Callable[[str], tuple[str, ...]]:
        """The same, except in a given file."""
        texts = {
            name: text
            for name, text in self._texts.items()
            if self._tree is None or not _same_file(self._tree / name, path)
        }
        known = PreparedTexts(texts)
        return lambda statement: (*self.memories(statement), *known.places(statement))

    def listed(self) -> list[KnownText]:
        """Known texts for a reader: memories, waiting and rejected statements, and the lines of
        boot files, but neither rows made from findings nor sentences taken from dialogue by rules:
        the reader words those itself.
        """
        rows = self._database.query(
            "SELECT m.id, m.content, substr(m.last_seen, 1, 10)"
            " || iif(m.status = 'invalid', ', rejected', '')"
            " || iif(' ' || m.flags || ' ' LIKE '% once %', ', once', ''), m.signature"
            " FROM memory m JOIN project p ON p.id = m.project_id"
            " WHERE p.name = ? AND m.status IN ('active', 'candidate', 'invalid')"
            " AND m.excerpt = 0 AND m.kind = 'memory' AND m.leader_id IS NULL"
            " AND (m.status = 'active'"
            f" OR m.proposer <> ? AND NOT (m.proposer = '{Proposer.NOTES}' AND EXISTS"
            " (SELECT 1 FROM evidence e JOIN record r ON r.id = e.record_id"
            f" WHERE e.memory_id = m.id AND r.shape = '{Shape.TURN}')))"
            " ORDER BY m.status, m.rank DESC LIMIT ?",
            (self._project, Proposer.FINDING, MAX_LISTED),
        )
        found = [KnownText(f"#{number}", *texts) for number, *texts in rows]
        for name, text in self._texts.items():
            found += (
                KnownText(f"{name}:{number}", line.strip())
                for number, line in enumerate(text.splitlines(), 1)
                if len(line.strip()) > SHORT_LINE
            )
        return found

    def memories(self, statement: str) -> tuple[str, ...]:
        """The active memories that say the same, possibly in more words: `memory #7`."""
        query = query_of(statement)
        if not query:
            return ()
        rows = self._database.query(
            "SELECT m.id, m.content FROM memory_text t JOIN memory m ON m.id = t.rowid"
            " JOIN project p ON p.id = m.project_id WHERE memory_text MATCH ?"
            " AND m.status = 'active' AND p.name = ? ORDER BY t.rank LIMIT ?",
            (query, self._project, SHORTLIST),
        )
        return tuple(f"memory #{row[0]}" for row in rows if says(row[1], statement))


def boot_texts(tree: Path) -> Mapping[str, str]:
    """The texts that agents read at the start, by name in the work tree; an unreadable file is
    skipped.
    """
    found: dict[str, str] = {}
    for name in BOOT_FILES:
        try:
            with open_file(tree / name) as file:
                found[name] = file.read(MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            continue  # most trees have at most one of them
    return found


def _tree_of(database: Database, project: str) -> Path | None:
    """The work tree bound to a project, else that of the working folder."""
    row = database.first("SELECT root FROM project WHERE name = ?", (project,))
    if row is not None:
        return Path(row["root"]) if row["root"] else None
    claim = database.ownership.claim
    if claim is not None and claim.project == project and claim.root:
        return Path(claim.root)
    tree = work_tree()
    return Path(tree.root) if tree is not None and tree.name == project else None


def _same_file(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return False
