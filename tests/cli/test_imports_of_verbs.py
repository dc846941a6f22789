"""What each command imports: a table, so that slower starts are noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Reviewer

pytestmark = pytest.mark.xdist_group("imports_of_verbs")
"""The store is filled once."""

WATCHED = {
    "textual", "rich", "openai", "tiktoken", "pydantic", "pydot", "regex", "httpx",
    "rapidfuzz", "markdown_it",
}  # fmt: skip

COUNTS = {"tiktoken", "regex"}
"""The token counter, and the packages that tiktoken imports."""
MEASURES = COUNTS | {"rapidfuzz"}

CASES: list[tuple[list[str], set[str], set[str]]] = [
    (["--help"], set(), {"msgspec", "sqlite3", "reviewer.engine"}),
    (
        ["queue", "list"],
        set(),
        {"reviewer.promotion.decisions.triage", "reviewer.promotion.waves.intake"},
    ),
    (["promote", "1"], set(), set()),
    (
        ["remember", "The paper is 80 mm wide.", "--at", "note.md:0"],
        {"rapidfuzz", "markdown_it"},
        set(),
    ),
    (["history"], set(), set()),
    (["ingest", "note.md"], {"rapidfuzz", "markdown_it"}, set()),
    (
        ["compile", "talk"],
        set(),
        {"reviewer.commits.transcript_import", "reviewer.store.verify"},
    ),
    (["compress", "talk", "--level", "brief"], MEASURES, set()),
    (["pipeline", "check", "desk.dot"], set(), {"sqlite3", "reviewer.engine"}),
    (["packet", "--context-dir", ".", "--task", "paper"], COUNTS, {"reviewer.engine"}),
    (["hook", "claude-code", "SessionStart"], set(), set()),
    (["model", "check"], {"openai", "pydantic", "httpx"}, set()),
]
"""A call on a store, the watched packages that it may import, and further modules that it must not:
no more than it needs."""


def loaded(program: Reviewer, *arguments: object) -> tuple[int, set[str], str]:
    """Exit code, the modules in `sys.modules` at the end, and the output."""
    script = (
        "import sys\nfrom reviewer.main import main\n"
        "sys.argv[0] = 'reviewer'\ncode = main()\n"
        "print('\\n::', *sys.modules, file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "--db", program.db, *map(str, arguments)],
        cwd=program.folder, env=program.environment, capture_output=True, text=True, check=False,
        timeout=250,
    )  # fmt: skip
    said, _, names = done.stderr.rpartition("\n::")
    return done.returncode, set(names.split()), said


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Reviewer:
    """A store with candidates, decisions, a context and a folder of files."""
    program = Reviewer(tmp_path_factory.mktemp("desk"))
    (program.folder / "note.md").write_text("- [Decision] The kiosk prints in black only.\n")
    (program.folder / "words.txt").write_text("The kiosk prints in blue.")
    talk = [{"role": "user", "content": f"Paper {number} jams at noon."} for number in range(20)]
    (program.folder / "talk.json").write_text(json.dumps(talk))
    (program.folder / "TASKS.md").write_text("- [ ] Mend the feed of the paper\n")
    (program.folder / "desk.dot").write_text(
        "digraph desk { start [shape=Mdiamond]; done [shape=Msquare];"
        ' count [prompt="Count."]; start -> count -> done }'
    )
    for arguments in (
        ["--project", "default", "dev-seed", "12"],
        ["promote", "2", "3", "4"],
        ["promote", "5"],
        ["context", "import", "talk.json"],
    ):
        program.succeeds(*arguments)
    return program


@pytest.mark.parametrize(
    ("arguments", "allowed", "without"), CASES, ids=[" ".join(case[0]) for case in CASES]
)
def test_a_command_imports_only_the_code_it_needs(
    desk: Reviewer, tmp_path: Path, arguments: list[str], allowed: set[str], without: set[str]
) -> None:
    program = Reviewer(tmp_path)
    for name in ("note.md", "words.txt", "talk.json", "desk.dot", "TASKS.md", "store.db"):
        (tmp_path / name).write_bytes((desk.folder / name).read_bytes())
    code, found, said = loaded(program, *arguments)
    unneeded = found & WATCHED - allowed | found & without
    assert not unneeded, f"{sorted(unneeded)} without need"
    assert "Traceback" not in said
    assert "defect" not in said
    assert code == 0 or arguments[0] == "model", said


@pytest.mark.parametrize(("arguments", "code"), [(["--version"], 0), (["queue", "lisst"], 2)])
def test_the_process_ends_at_once_with_its_exit_code_and_all_output(
    desk: Reviewer, arguments: list[str], code: int
) -> None:
    script = (
        "import atexit, sys, threading\n"
        "class Slow:\n    def __del__(self): print('taken apart')\n"
        "kept = Slow()\natexit.register(print, 'asked for')\n"
        f"sys.argv = ['reviewer', *{arguments!r}]\n"
        "from reviewer.main import program\nprogram()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=desk.folder, env=desk.environment, capture_output=True, text=True, check=False,
        timeout=250,
    )  # fmt: skip
    assert done.returncode == code
    assert done.stdout.endswith("asked for\n")
    assert "taken apart" not in done.stdout
    assert ("reviewer " in done.stdout) == (code == 0)
    assert ("lisst" in done.stderr) == (code == 2)
