"""A long session is read as a stream for a hand-over, and is never joined to one text."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.compression.file_turns import FileTurns
from reviewer.compression.handover import write_brief
from tests.memory import peak_of
from tests.unit.sources.builders import Session

RESULTS = 40
PRINTED = "ok  the ferry left the pier at noon, and nothing else is to be said of it\n" * 130
"""About 10 kB, so that all results together have 400 kB."""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session of many results, with as many times 10 kB."""
    told = Session()
    told.user("Make the timetable of the ferry fit one page, and keep the night boats in bold.")
    for number in range(RESULTS):
        told.tool()
        told.result(f"{number} → {PRINTED}")
    told.user("never shrink the type below 9 points")
    return told.write(tmp_path_factory.mktemp("long") / "ferry.jsonl")


def test_a_handover_does_not_keep_what_tools_printed(session: Path) -> None:
    write_brief(session)  # which loads modules and compiles patterns once
    assert peak_of(lambda: write_brief(session))[0] < session.stat().st_size


def test_a_streamed_session_gives_the_same_and_counts_everything(session: Path) -> None:
    found = write_brief(session)
    assert "never shrink the type below 9 points" in found.text
    assert found.original_tokens == sum(turn.tokens for turn in FileTurns(session))


def test_a_session_of_sub_agents_alone_is_handed_over_too(tmp_path: Path) -> None:
    told = Session()
    told.user("Count the boats of the ferry line in `boats.csv`.", isSidechain=True)
    told.reply("There are 14 boats in `boats.csv`, two of them without a night light.")
    for record in told.records:
        record["isSidechain"] = True
    path = told.write(tmp_path / "agent.jsonl")
    assert "boats.csv" in write_brief(path).text
    assert write_brief(path).original_tokens == sum(turn.tokens for turn in FileTurns(path))
