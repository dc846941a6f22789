"""A short command imports only the code that it needs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.cli.conftest import Reviewer

HEAVY = {"textual", "rich", "openai", "tiktoken", "sqlite_utils", "pydantic"}
ENGINE = {"msgspec", "sqlite3", "rapidfuzz", "reviewer.engine"}


def imported(program: Reviewer, *arguments: object) -> set[str]:
    """The modules that a call imports, by `python -X importtime`."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "reviewer", "--db", program.db,
         *map(str, arguments)],
        cwd=program.folder, env=program.environment, capture_output=True, text=True, check=False,
        timeout=250,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    modules = re.findall(r"^import time:[^|]*\|[^|]*\|\s*(\S+)$", done.stderr, re.MULTILINE)
    return {*modules, *(module.partition(".")[0] for module in modules)}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["queue", "list", "--help"]])
def test_help_imports_no_engine(reviewer: Reviewer, arguments: list[str]) -> None:
    assert not imported(reviewer, *arguments) & (HEAVY | ENGINE)


@pytest.mark.parametrize(
    "arguments",
    [
        ["queue", "list"],
        ["queue", "list", "--json"],
        ["queue", "show", "1"],
        ["promote", "1"],
        ["reject", "1"],
        ["defer", "1"],
        ["history"],
        ["verify"],
        ["stats"],
        ["doctor"],
        ["config", "show"],
        ["dev-seed", "2"],
        ["ingest", "note.md"],
        ["extract", "note.md"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_headless_verbs_import_no_screen_and_no_model(
    seeded: Reviewer, arguments: list[str]
) -> None:
    (seeded.folder / "note.md").write_text("- [Decision] The kiosk prints in black only.\n")
    assert not imported(seeded, *arguments) & HEAVY


@pytest.mark.parametrize(
    "arguments",
    [
        ["queue", "list"],
        ["queue", "list", "--json"],
        ["queue", "list", "--sort", "learned"],
        ["state", "list"],
        ["history"],
        ["stats"],
        ["promote", "1"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_reading_and_deciding_import_no_extractor(seeded: Reviewer, arguments: list[str]) -> None:
    assert not imported(seeded, *arguments) & {
        "reviewer.extraction.extract", "reviewer.extraction.rules", "reviewer.sources.open",
        "reviewer.extraction.entities.extract", "reviewer.promotion.wave", "rapidfuzz",
    }  # fmt: skip
