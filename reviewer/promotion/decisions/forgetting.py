"""Forgetting for good: the rows, their traces in the ledger, and the program's own files.

The order makes an interruption all or nothing: the files, one act in the store, the files once more
(another program may have written them meanwhile), and SQLite's free pages.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from reviewer.errors import StoreError, UnknownIdError
from reviewer.files import read_own, reason_of, write_atomic
from reviewer.llm.answer_cache import answers_folder
from reviewer.promotion.lists.reader_log import ReaderLog
from reviewer.promotion.rows.decided_rows import RETIRE
from reviewer.sharing import COMMON, PERSONAL, is_shared, personal
from reviewer.sources.records import Role
from reviewer.store import erasing
from reviewer.store.acts import AMONG, FORGET, Scope, listed
from reviewer.store.database import Database, failures_as_sentences
from reviewer.store.erasing import References, Row, Wipe, all_changes, forms, without
from reviewer.store.ledger import Ledger
from reviewer.text.for_agents import as_markdown

SHORTEST = 8
"""Characters; shorter wordings are not searched for in other text."""
LARGEST = 1 << 30
"""Bytes of the largest own file that is searched."""
SHORTENED = ("-agents/packets", "-agents/given")
"""Own files that may have a part of a wording: they are removed, and the program recreates them."""
_WORDINGS = {"memory": "content", "content_history": "content"}
_QUOTED = {"memory": ("signature",), "finding": ("signature", "text", "words")}


class Erasure(Struct, frozen=True):
    """The scope of an erasure, for a person to read and for the program to carry out."""

    title: str
    memories: tuple[tuple[int, str], ...]
    """Ids and wordings."""
    wipe: Wipe
    sources: tuple[str, ...] = ()
    """The files that still say it, each with its line; of a project, the notes."""
    staying: tuple[str, ...] = ()
    """Remaining texts with the same words, as sentences."""
    folders: tuple[str, ...] = ()
    """Folders of reports and runs that are removed whole."""


class Forgetting:
    """Erases memories, or a whole project."""

    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database = database
        self._ledger = ledger

    def memories(self, ids: Iterable[int]) -> Erasure:
        """The scope of forgetting these memories, entities or candidates, including rows merged
        into them, near duplicates behind them, and the other side of a graduation.

        Raises UnknownIdError, OtherProjectError.
        """
        asked = list(dict.fromkeys(ids))
        self._database.require_own("memory", asked)
        with failures_as_sentences(self._database.path):
            reader = self._database.reader()
            found = self._with_kin(asked)
            for each in asked:
                if each not in found:
                    raise UnknownIdError(f"There is no candidate or memory #{each}.")
            seeds: set[Row] = {("memory", each) for each in found}
            seeds |= {
                ("finding", row[0])
                for each in found
                for row in reader.execute(
                    "SELECT f.id FROM finding f JOIN memory m ON f.project_id = m.project_id"
                    " AND f.signature = m.signature WHERE m.id = ? AND m.signature <> ''",
                    (each,),
                )
            }
            rows = References(reader).owned(reader, seeds)
            wordings, quotes = self._texts(rows)
            records = self._cited_only_by(rows)
            passages, sources = self._evidence(rows)
            passages |= {as_markdown(each) for each in (*wordings, *passages)}  # as sent to agents
            return Erasure(
                title=f"Forgot {', '.join(f'#{each}' for each in sorted(found))}",
                memories=tuple(sorted(found.items())),
                wipe=Wipe(rows, records, forms(wordings), forms((*wordings, *quotes, *passages))),
                sources=sources,
                staying=tuple(self._staying(rows, wordings)),
            )

    def project(self, name: str) -> Erasure:
        """The scope of forgetting a project. Raises UnknownIdError."""
        with failures_as_sentences(self._database.path):
            reader = self._database.reader()
            row = reader.execute("SELECT id FROM project WHERE name = ?", (name,)).fetchone()
            if row is None:
                raise UnknownIdError(f"There is no project {name}.")
            rows = References(reader).owned(reader, {("project", row[0])})
            rows |= self._contents(rows)
            found = reader.execute(
                "SELECT id, content FROM memory WHERE project_id = ? ORDER BY id", tuple(row)
            ).fetchall()
            runs = reader.execute(
                "SELECT folder FROM pipeline_run WHERE project_id = ?", tuple(row)
            ).fetchall()
            notes = reader.execute(
                "SELECT DISTINCT s.path FROM evidence e JOIN record r ON r.id = e.record_id"
                " JOIN source s ON s.id = r.source_id"
                f" WHERE s.project_id = ? AND r.role = '{Role.NOTE}' ORDER BY s.path",
                tuple(row),
            ).fetchall()
        reports = self._database.path.with_name(self._database.path.name + COMMON)
        return Erasure(
            title="Forgot a project",
            memories=tuple((each[0], each[1]) for each in found),
            wipe=Wipe(rows, project=name),
            sources=tuple(path for (path,) in notes if os.path.exists(path)),
            folders=(
                *(each[0] for each in runs),
                *(str(reports / str(number)) for table, number in sorted(rows) if table == "wave"),
            ),
        )

    def erase(self, erasure: Erasure) -> int:
        """Erase it for good; returns the act. Raises StoreError."""
        store = self._database.path
        try:
            erasing.begin(store)
            self._sweep(erasure)
        except OSError as problem:
            raise StoreError(
                f"{problem.filename} cannot be cleaned: {reason_of(problem)}. Nothing was erased "
                "from the store; fix that and forget again."
            ) from problem
        with self._ledger.act(FORGET, erasure.title, scope=Scope.INTAKE) as act:
            projects = act.query(
                "SELECT id FROM project WHERE name = ?", (self._database.ownership.project,)
            )
            erasing.erase(act, self._database.writer, erasure.wipe)
            if not erasure.wipe.project:
                act.owners.see_projects(row[0] for row in projects)
        return act.id

    def clean_up(self, erasure: Erasure | None = None) -> bool:
        """Clean the files once more, and leave no erased byte in the store; False while another
        program reads it. Raises StoreError.
        """
        try:
            if erasure is not None:
                self._sweep(erasure)
        except OSError as problem:
            raise StoreError(
                f"{problem.filename} cannot be cleaned: {reason_of(problem)}."
            ) from problem
        return erasing.finish(self._database)

    def _with_kin(self, ids: list[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for each in ids:
            rows = self._database.reader().execute(
                "WITH RECURSIVE going(id) AS (VALUES (?1) UNION"
                " SELECT m.id FROM memory m JOIN going g ON m.superseded_by = g.id UNION"
                " SELECT m.id FROM memory m JOIN going g ON m.leader_id = g.id"
                " AND m.status NOT IN ('active', 'graduated') UNION"
                " SELECT e.graduated_from FROM entity e JOIN going g ON e.memory_id = g.id"
                " WHERE e.graduated_from IS NOT NULL UNION"
                " SELECT e.memory_id FROM entity e JOIN going g ON e.graduated_from = g.id UNION"
                f" SELECT m.id FROM memory m JOIN going g ON m.signature = '{RETIRE} #' || g.id)"
                " SELECT m.id, m.content FROM memory m JOIN going USING (id)",
                (each,),
            )
            found.update((row[0], row[1]) for row in rows)
        return found

    def _texts(self, rows: frozenset[Row]) -> tuple[set[str], set[str]]:
        """Every wording that the rows ever had, and their quotes."""
        wordings: set[str] = set()
        quotes: set[str] = set()
        for change in all_changes(self._database.reader()):
            if (change.table, change.row) not in rows:
                continue
            for image in (change.before or {}, change.after or {}):
                wordings.add(str(image.get(_WORDINGS.get(change.table, "")) or ""))
                quotes.update(str(image.get(each)) for each in _QUOTED.get(change.table, ()))
                quotes.update(_strings(str(image.get("proof") or "{}")))
        return (
            {each for each in wordings if len(each) >= SHORTEST},
            {each for each in quotes if len(each) >= SHORTEST},
        )

    def _cited_only_by(self, rows: frozenset[Row]) -> frozenset[int]:
        """The records that are evidence of these rows only."""
        return self._only_of(
            "evidence", rows,
            "SELECT o.record_id, o.id FROM evidence e JOIN evidence o USING (record_id)"
            f" WHERE e.id {AMONG}",
        )  # fmt: skip

    def _contents(self, rows: frozenset[Row]) -> frozenset[Row]:
        """The texts of these commits, unless other commits share them."""
        alone = self._only_of(
            "commit_", rows,
            "SELECT o.content_id, o.id FROM commit_ c JOIN commit_ o USING (content_id)"
            f" WHERE c.id {AMONG}",
        )  # fmt: skip
        return frozenset(("content", content) for content in alone)

    def _only_of(self, table: str, rows: frozenset[Row], sql: str) -> frozenset[int]:
        """What only the rows of a table use that are among these. `sql`: what they use, with each
        row that uses it.
        """
        alone: dict[int, bool] = {}
        for used, user in self._database.reader().execute(sql, (_of(table, rows),)):
            alone[used] = alone.get(used, True) and (table, user) in rows
        return frozenset(used for used, is_so in alone.items() if is_so)

    def _evidence(self, rows: frozenset[Row]) -> tuple[set[str], tuple[str, ...]]:
        """The quotes of the evidence, and their places."""
        reader = self._database.reader()
        passages: set[str] = set()
        places: dict[str, None] = {}
        for text, start, end, path, line in reader.execute(
            "SELECT r.text, e.span_start, e.span_end, s.path, r.line_start FROM evidence e"
            " JOIN record r ON r.id = e.record_id JOIN source s ON s.id = r.source_id"
            f" WHERE e.id {AMONG} ORDER BY e.id",
            (_of("evidence", rows),),
        ):
            passages.add(text[start:end])
            if os.path.exists(path):
                places[f"{path}, line {line + 1}"] = None
        return {each for each in passages if len(each) >= SHORTEST}, tuple(places)

    def _staying(self, rows: frozenset[Row], wordings: set[str]) -> Iterator[str]:
        reader = self._database.reader()
        for wording in sorted(wordings):
            for (number,) in reader.execute(
                "SELECT id FROM memory WHERE instr(content, ?1) UNION"
                " SELECT memory_id FROM content_history WHERE instr(content, ?1)",
                (wording,),
            ).fetchall():
                if ("memory", number) not in rows:
                    yield f"#{number} has the same words: reviewer forget {number}"
            for (key,) in reader.execute("SELECT key FROM state WHERE instr(value, ?)", (wording,)):
                yield f"Trusted state {key} has the same words, and keeps them in its history."

    def _sweep(self, erasure: Erasure) -> None:
        """Remove its traces from the program's files, or make them illegible. Raises OSError."""
        store = self._database.path
        for folder in map(Path, erasure.folders):
            beside = folder.absolute().is_relative_to(store.absolute().parent)
            if beside and folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)
        for number, _ in erasure.memories:
            (personal(store, "-drafts") / f"{number}.txt").unlink(missing_ok=True)
        counts = answers_folder().with_name("packets")
        for folder in (counts, *(_own(store, each) for each in SHORTENED)):
            for path in _files(folder):
                path.unlink(missing_ok=True)
        anew = [answers_folder(), _own(store, "-answers")]
        if erasure.wipe.project:
            personal(store, ".places.json").unlink(missing_ok=True)
            ReaderLog(self._database).forget(erasure.wipe.project)
            for folder in (*anew, _own(store, "-agents/sessions")):
                for path in _files(folder):
                    path.unlink(missing_ok=True)
            return
        needles = tuple(each.encode("utf-8", "surrogatepass") for each in erasure.wipe.passages)
        places = [_own(store, each) for each in (*PERSONAL, "-runs", "-backups")]
        for place in (*anew, *places, store.with_name(store.name + COMMON)):
            for path in _files(place):
                data = read_own(path, LARGEST)
                if not any(each in data for each in needles):
                    continue
                if any(path.is_relative_to(folder) for folder in anew):
                    path.unlink(missing_ok=True)
                    continue
                text = data.decode("utf-8", "surrogateescape")
                clean = without(text, erasure.wipe.passages).encode("utf-8", "surrogateescape")
                mode = stat.S_IMODE(path.stat().st_mode)
                write_atomic(path, clean)
                path.chmod(mode)

    def out_of_reach(self, erasure: Erasure) -> list[str]:
        """Copies that the program cannot reach, as sentences."""
        found = [
            *(f"Still there, because it is not the program's: {each}" for each in erasure.sources),
            *(
                f"Still there: the run in {each}"
                for each in erasure.folders
                if os.path.exists(each)
            ),
            *erasure.staying,
            "Out of reach: exports, backups, synced copies, and the agents' own transcripts.",
        ]
        if is_shared(self._database.path):
            found.append("Drafts and backups of the other members of this store are out of reach.")
        return found


def _of(table: str, rows: frozenset[Row]) -> str:
    return listed(row for each, row in rows if each == table)


def _own(store: Path, what: str) -> Path:
    first, _, rest = what.partition("/")
    return personal(store, first) / rest


def _files(place: Path) -> Iterator[Path]:
    """The regular files in a folder of the program; links are not followed."""
    if place.is_symlink():
        return
    if place.is_file():
        yield place
    for folder, _, names in os.walk(place):
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _strings(text: str) -> Iterator[str]:
    """Every string value of a JSON text."""
    waiting = [msgspec.json.decode(text)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
