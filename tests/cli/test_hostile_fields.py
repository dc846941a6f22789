"""Every field that a read verb prints, planted with sequences that a terminal would obey.

Fields come from files, from typed text, and from a store that somebody else wrote to, which reaches
every column, even those that the readers check.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Reviewer
from tests.stored import planted as act_of_another_version
from tests.stored import rows_of
from tests.unit.sources.builders import Session

pytestmark = pytest.mark.xdist_group("hostile_fields")
"""The store is filled once."""

PAYLOAD = (
    "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\x9d52;c;eA\x9c\x90q\x85\x1bc\x0e\x08\x7f\r"
    "\u202egnp\u2066\u200b\u2028\U000e0041"
)
TERMINAL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Characters that a terminal obeys or hides; a newline and a tab are harmless."""

FORGED = "FORGED LINE"
PROJECT = f"kiosk{PAYLOAD}"
NAMES = ("a", "b", "c")

CLOSED = {
    ("memory", "kind"), ("memory", "status"), ("wave", "state"), ("conflict", "resolution"),
    ("annotation", "priority"), ("ledger", "scope"), ("commit_", "operation"),
    ("record", "role"), ("record", "use"), ("record", "shape"),
    ("pipeline_run", "run_id"), ("pipeline_run", "folder"), ("wave", "report_folder"),
    ("ledger_project", "project"), ("memory", "moments"),
}  # fmt: skip
"""Columns that refer to other rows and files, or that contain one of a few words: with any other
value the program stops with an error."""

LINES = {
    ("record", "text"), ("content", "text"), ("memory", "content"), ("state", "value"),
    ("content_history", "content"), ("state", "note"),
}  # fmt: skip
"""Columns shown as separate lines, where a newline cannot deceive."""

TEXTS = {"brief", "keep", "compress", "compile", "export", "packet", "summarize", "view"}
"""Verbs that print whole texts, with arbitrary lines."""


def planted(value: str, table: str, column: str) -> str:
    forged = "" if (table, column) in LINES else f"\n{FORGED}"
    return f"{PAYLOAD}{forged} {value}"


def planted_json(value: Any, table: str, column: str) -> Any:
    if isinstance(value, str):
        return planted(value, table, column)
    if isinstance(value, list):
        return [planted_json(each, table, column) for each in value]
    if isinstance(value, dict):
        return {
            key: each if key in ("mode", "type", "source") else planted_json(each, table, column)
            for key, each in value.items()
        }
    return value


def as_json(value: str) -> Any:
    try:
        found = json.loads(value)
    except ValueError:
        return None
    return found if isinstance(found, list | dict) else None


def plant(store: Path, chosen: Callable[[str, str], bool]) -> None:
    """Write payloads into the text columns that are chosen, as another program could."""
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("DROP TRIGGER memory_text_update")
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'memory_text%'"
            " AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%migrations'"
            " AND sql NOT LIKE '%WITHOUT ROWID%'"
        ).fetchall()
        for (table,) in tables:
            for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({table})").fetchall():
                if kind == "TEXT" and chosen(table, column):
                    _plant_column(connection, table, column)
        # An act is looked up by the name of its project.
        connection.execute(
            "UPDATE OR REPLACE ledger_project SET project = (SELECT name FROM project)"
        )


def _plant_column(connection: sqlite3.Connection, table: str, column: str) -> None:
    for row, value in connection.execute(
        f"SELECT rowid, {column} FROM {table} WHERE typeof({column}) = 'text' OR '{column}' = 'at'"
    ).fetchall():
        inner = as_json(value or "")
        new = (
            planted(value or "2026-03-01", table, column)
            if inner is None
            else json.dumps(planted_json(inner, table, column))
        )
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, row))


def session(folder: Path) -> Path:
    """A transcript of Claude Code with payloads in every field of a line."""
    told = Session(f"qSessionq{PAYLOAD}")
    told.cwd = f"/home/{PAYLOAD}"
    for number in range(6):
        role = "assistant" if number % 2 else "user"
        content = (
            f"We decided to keep drawer {number} of the kiosk{PAYLOAD} shut,"
            f" because `lid{number}.py` needs {number} ms. Never open it by hand."
        )
        told.add(
            role,
            gitBranch=f"main{PAYLOAD}",
            version=f"2{PAYLOAD}",
            timestamp=f"2026-03-0{number + 1}T10:00:00Z{PAYLOAD}",
            message={
                "role": role,
                "id": f"m{number}{PAYLOAD}",
                "model": f"model{PAYLOAD}",
                "content": content,
            },
        )
    path = folder / f"session{PAYLOAD}.jsonl"
    path.write_bytes(told.bytes())
    return path


def talk(folder: Path) -> Path:
    path = folder / f"talk{PAYLOAD}.json"
    path.write_text(
        json.dumps(
            [
                {
                    "role": "assistant" if number % 2 else "user",
                    "name": f"speaker{PAYLOAD}",
                    "created_at": f"2026-03-01\x1b10:{number:02}:00",
                    "session_id": f"talk{PAYLOAD}",
                    "content": f"Kiosk {number} printed {number * 3} receipts{PAYLOAD} with "
                    f"`queue_{number % 5}.py`; we decided to keep the drawer {number} closed.",
                }
                for number in range(40)
            ]
        )
    )
    return path


def note(folder: Path) -> Path:
    path = folder / f"note{PAYLOAD}.md"
    path.write_text(
        f"---\ndate: 2026-01-01\x1b10:00:00\ntags: x{PAYLOAD}\nauthor: y{PAYLOAD}\n---\n"
        f"# Kiosk{PAYLOAD}\n\n## Decision: receipts{PAYLOAD} are printed in the language\n\n"
        f"- [Decision] Receipts{PAYLOAD} are printed in the language of the customer.\n"
        f"- [Constraint] A receipt{PAYLOAD} has to be printed within two seconds.\n"
        f"- paper width = 80 mm{PAYLOAD}\n- drawer depth = 300 mm\n"
        f"- Printer{PAYLOAD} depends on the spooler{PAYLOAD} and on the lid.\n"
    )
    return path


def graph(folder: Path) -> Path:
    path = folder / f"flow{PAYLOAD}.dot"
    said = PAYLOAD.replace("\\", "")
    path.write_text(
        f'digraph "g{said}" {{ goal="goal{said}"; default_fidelity="full{said}";\n'
        f'start [shape=Mdiamond]; exit [shape=Msquare]; "n{said}" [label="label{said}",'
        f' prompt="prompt{said}", thread_id="t{said}", class="c{said}", fidelity="odd{said}",'
        f' odd="x{said}"]; "m{said}" [shape=hexagon, label="gate{said}"]\n'
        f'start -> "n{said}" [label="e{said}"]; start -> "n{said}";'
        f' "n{said}" -> "m{said}"; "m{said}" -> exit [label="[Y] yes{said}"] }}'
    )
    return path


class Program(Reviewer):
    """The program with the files above, in the planted project."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.session, self.talk = session(folder), talk(folder)
        self.note, self.graph = note(folder), graph(folder)
        (folder / ".context").mkdir(exist_ok=True)
        (folder / ".context" / "TASKS.md").write_text(f"# Tasks\n\n- [ ] Repair {PAYLOAD}\n")
        (folder / ".context" / "DECISIONS.md").write_text(
            f"# Decisions\n\n## [2026-01-02] Paper{PAYLOAD}\n\n**Decision**: {PAYLOAD} thin\n"
        )
        (folder / "block.md").write_text("# Mine\n")

    def found(self, sql: str) -> list[Any]:
        """The first column of a query on the store."""
        return [row[0] for row in rows_of(self.db, sql)]


def fill(program: Program) -> None:
    """Every input of people and files to a store, each with payloads."""
    project = ("--project", PROJECT)
    p = PAYLOAD

    def done(*arguments: object) -> None:
        program.succeeds(*project, *arguments)

    done("ingest", program.session, program.note)
    for number in range(3):
        words = program.folder / "more.md"
        words.write_text(f"Drawer {number}{p} of the kiosk sticks.")
        done("remember", "--content-file", words, "--type", "knowledge")
    memories = program.found("SELECT id FROM memory WHERE kind = 'memory' ORDER BY id")
    done("promote", *memories[:3])
    done("reject", memories[3])
    words = program.folder / "words.md"
    words.write_text(f"New words{p} for the drawer of the kiosk.")
    done("edit", memories[4], "--content-file", words)
    done("graduate", memories[0], "--as", "decision", "--name", f"entity{p}")
    for name in NAMES:
        done(
            "remember",
            f"paper width = {len(name) + ord(name)} mm{p}",
            "--type",
            "parameter",
            "--name",
            f"x{p}",
        )
    entities = program.found("SELECT id FROM memory WHERE kind = 'entity' ORDER BY id")
    done("promote", *entities[-2:])
    with act_of_another_version(program.db) as act:
        source, target = map(int, entities[-2:])
        act.insert("relation", memory_id=source, kind="depends_on", target="x", target_id=target)
    done(
        "state",
        "set",
        f"paper{p}",
        f"80 mm{p}",
        "--note",
        f"n{p}",
        "--evidence",
        f"{program.note}:3",
    )
    done("state", "set", f"paper{p}", f"90 mm{p}", "--note", f"n{p}", "--evidence", f"odd{p}")
    done("context", "import", program.talk)
    done("context", "import", program.session)
    number = program.found("SELECT min(id) FROM commit_")[0]
    done("annotate", f"#{number}", "--priority", "important",
         "--retain", f"r{p}", "--retain-match", f"m{p}", "--retain-regex", "k.osk")  # fmt: skip
    done("annotate", f"#{number}", "--clear", "--priority", "normal")
    done("annotate", f"#{number + 3}", "--retain-match", "Kiosk 3 ")
    done("commit", "edit", f"#{number + 2}", "--text", f"Edited{p}.")
    done("compress", "#1", "--level", "brief", "--apply", "--anyway")
    done("pipeline", "run", program.graph, "--set", f"k{p}=v{p}", "--answer", f"m{p}=Y")
    done("promote", entities[-3])


def in_both_forms(calls: list[Sequence[object]]) -> Iterator[Sequence[object]]:
    """Each call, and the same with --json."""
    for each in calls:
        yield each
        yield [*each, "--json"]


def reads(program: Program) -> Iterator[Sequence[object]]:
    """Every verb that shows something of the store, with every way in which it does so."""
    state_keys = program.found("SELECT key FROM state")
    contexts = [f"#{each}" for each in program.found("SELECT id FROM context")]
    commits = [f"#{each}" for each in program.found("SELECT id FROM commit_")]
    summaries = program.found("SELECT id FROM commit_ WHERE operation LIKE '%summary'")[:2]
    runs = program.found("SELECT run_id FROM pipeline_run")
    memories = program.found("SELECT id FROM memory")
    yield from in_both_forms([
        ["queue", "list", "--status", "all"],
        ["queue", "show", *memories],
        ["state", "list", "--all"],
        *(["state", "show", each, "--all"] for each in state_keys),
        ["history"],
        *(["history", "show", each] for each in
          program.found("SELECT max(id) FROM ledger GROUP BY kind")),
        ["verify"],
        ["stats"],
        ["findings"],
        ["doctor"],
        ["context", "list"],
        *(["commit", "list", each] for each in contexts),
        ["commit", "show", *commits],
        *(["compress", each, "--level", "brief"] for each in contexts),
        *(["compress", each, "--level", "all"] for each in contexts[:1]),
        *(["compress", "#1", "--expand", f"#{each}"] for each in summaries),
        ["pipeline", "runs"],
        *(["pipeline", "runs", each] for each in runs),
    ])  # fmt: skip
    texts: list[Sequence[object]] = [
        *(["compress", each, "--table"] for each in contexts),
        *(["compile", contexts[0], "--format", form] for form in ("text", "json", "chat")),
        *(["context", "export", each] for each in contexts),
        ["export"],
        ["export", "--into", "block.md"],
        ["export", "--context-dir", ".context"],
        ["packet"],
        ["packet", "--task", f"drawer{PAYLOAD}"],
        ["packet", "--explain", "--task", f"x{PAYLOAD}"],
        ["packet", "--format", "json"],
    ]
    yield from texts


def reads_of_files(program: Program) -> Iterator[Sequence[object]]:
    """Every verb that shows something of a file."""
    yield from in_both_forms([
        ["summarize", program.talk, "--level", "all"],
        ["summarize", program.note],
        ["brief", program.session],
        ["keep", program.session],
        ["view", program.session],
        ["view", program.talk],
        ["view", program.note],
        ["propose", program.session, "--dry-run", "--command", "cat"],
        ["extract", program.session],
        ["extract", program.note],
        ["pipeline", "check", program.graph],
        ["pipeline", "show", program.graph],
        ["pipeline", "show", program.graph, "--node", f"n{PAYLOAD}"],
        ["pipeline", "preamble", program.graph, "--node", f"n{PAYLOAD}", "--mode", "all"],
        ["config", "show"],
    ])  # fmt: skip
    yield from [
        ["packet", "--context-dir", "."],
        ["packet", "--context-dir", ".", "--explain"],
        ["packet", "--context-dir", ".", "--format", "json"],
        ["config", "validate"],
    ]


def writes(program: Program) -> Iterator[Sequence[object]]:
    """Verbs that report an act, and the undo of each."""
    context = program.found("SELECT min(id) FROM context")[0]
    waiting = program.found(
        "SELECT id FROM memory WHERE status = 'candidate' AND kind = 'memory' AND leader_id IS NULL"
    )
    yield from [
        ["defer", waiting[0]],
        ["undo"],
        ["redo"],
        ["promote", waiting[0]],
        ["ingest", program.talk, program.folder],
        ["ingest", program.talk, "--json"],
        ["ingest", "--again", program.talk],
        ["context", "import", program.talk],
        ["context", "import", program.session, "--name", f"again{PAYLOAD}"],
        ["context", "import", program.session, "--name", "again"],
        ["context", "create", f"made{PAYLOAD}"],
        ["commit", "add", f"#{context}", "--text", f"x{PAYLOAD}", "--name", f"y{PAYLOAD}"],
        ["state", "set", f"k{PAYLOAD}", f"v{PAYLOAD}"],
        ["state", "unset", f"k{PAYLOAD}"],
        ["queue", "show", "4711"],
        ["pipeline", "runs", f"none{PAYLOAD}"],
        ["pipeline", "resume", f"none{PAYLOAD}"],
        ["pipeline", "run", program.graph, "--json", "--answer", f"m{PAYLOAD}=Y"],
        ["pipeline", "run", program.graph],
    ]


def harmless(program: Program, project: str, call: Sequence[object]) -> str:
    """The output of a call; fails when a terminal would obey any of it."""
    done = program("--project", project, *call)
    said = done.stdout + done.stderr
    assert not TERMINAL.search(said), (call, [said[max(0, m.start() - 60) : m.end() + 20]
                                              for m in TERMINAL.finditer(said)][:3])  # fmt: skip
    if call[0] not in TEXTS:
        assert not [line for line in said.splitlines() if line.startswith(FORGED)], (call, said)
    assert "Traceback" not in said, call
    if "--json" in call:
        for line in done.stdout.splitlines():
            json.loads(line)
    return said


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Program:
    program = Program(tmp_path_factory.mktemp("filled"))
    fill(program)
    return program


@pytest.fixture
def program(filled: Program) -> Iterator[Program]:
    """The planted files and a store that the test may write to."""
    kept = filled.db.read_bytes()
    yield filled
    for each in filled.folder.glob("store.db-*"):
        if each.is_file():
            each.unlink()
    filled.db.write_bytes(kept)


@pytest.mark.timeout(300)
def test_text_from_files_is_shown_harmless(program: Program) -> None:
    for call in [*reads_of_files(program), *writes(program)]:
        harmless(program, PROJECT, call)


def about_agents(program: Program) -> Iterator[Sequence[object]]:
    """Verbs about agents, groups and fleets, and what they refuse."""
    memories = program.found("SELECT id FROM memory WHERE kind = 'memory'")
    odd = f"none{PAYLOAD}"
    yield from in_both_forms([
        ["connect"],
        ["sources"],
        ["sources", "--files"],
        ["brief", program.talk],
        ["packet", "read", f"m:{memories[0]}"],
    ])  # fmt: skip
    refused: list[Sequence[object]] = [
        ["brief", odd],
        ["connect", odd],
        ["connect", "claude-code", "--project"],
        ["connect", "codex", "--memory"],
        ["share", odd],
        ["share"],
        ["serve", "--port", odd],
        ["help", odd],
        ["packet", "read", odd],
        ["decisions", "import", program.note],
        ["decisions", "import", odd],
        ["fleet", "run", odd, "--out", odd],
        ["fleet", "import", odd],
        ["fleet", "import", program.talk],
    ]
    yield from refused


@pytest.mark.timeout(300)
def test_the_verbs_about_agents_groups_and_fleets_print_harmless_text(program: Program) -> None:
    for call in about_agents(program):
        harmless(program, PROJECT, call)


@pytest.mark.timeout(300)
def test_a_fleet_reports_harmless_text(program: Program) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    parts = program.folder / "parts"
    folder = program.folder / f"fleet{PAYLOAD[:4]}"
    folder.mkdir(exist_ok=True)
    session(folder)
    (folder / f"broken{PAYLOAD}.jsonl").write_bytes(b'{"type": "user"' + bytes(range(32)) * 40)
    (folder / f"gone{PAYLOAD}.jsonl").symlink_to(f"/nowhere/{PAYLOAD}")
    told = ""
    for more in ([], ["--json"]):
        for call in (
            ["fleet", "run", folder, "--out", parts, "--workers", "1", *more],
            ["fleet", "import", parts, *more],
            ["queue", "list", *more],
        ):
            told += harmless(program, PROJECT, call)
    assert "new candidate" in told


@pytest.mark.timeout(300)
@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_decisions_of_others_are_reported_harmless(program: Program, tmp_path: Path) -> None:
    key, out = tmp_path / f"key{PAYLOAD[3:8]}", program.folder / f"anna{PAYLOAD}.jsonl"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    allowed = tmp_path / "signers"
    allowed.write_text(f"anna@example.org {Path(f'{key}.pub').read_text()}")
    written = ["decisions", "export", "--sign", key, "--out", out]
    assert "signed in" in harmless(program, PROJECT, written)
    read = ["decisions", "import", out, "--allowed", allowed]
    harmless(program, PROJECT, read)
    out.write_text(out.read_text().replace("drawer", f"lid{PAYLOAD}", 1))
    harmless(program, PROJECT, read)


@pytest.mark.timeout(300)
def test_text_written_into_the_store_from_outside_is_shown_harmless(program: Program) -> None:
    plant(program.db, lambda table, column: (table, column) not in CLOSED)
    (project,) = program.found("SELECT name FROM project")
    said = "".join(harmless(program, project, call) for call in reads(program))
    assert "defect of reviewer" not in said, [
        line for line in said.splitlines() if "defect" in line
    ]


@pytest.mark.timeout(300)
def test_refused_values_are_shown_harmless(program: Program) -> None:
    plant(program.db, lambda table, column: (table, column) in CLOSED)
    for call in reads(program):
        if "--json" not in call:
            harmless(program, PROJECT, call)
