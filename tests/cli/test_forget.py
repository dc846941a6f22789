"""`reviewer forget`: nothing that is said to be gone is left, and the ledger still verifies."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.cli.conftest import Reviewer
from tests.stored import everything_in, rows_of

pytestmark = pytest.mark.usefixtures("alone")

SECRET = "The vault @home opens with the birthday of Wilhelmina Quastenburg"
NOTE = f"""# Decisions

## Decision: locks

- [Decision] {SECRET}.
- [Decision] Doors are checked every evening by the night watch.
"""


@pytest.fixture
def kept(reviewer: Reviewer) -> Reviewer:
    """A store in a folder of its own with a promoted fact, in every place that text gets to."""
    reviewer.db = reviewer.folder / "data" / "store.db"
    note = reviewer.folder / "decisions.md"
    note.write_text(NOTE, encoding="utf-8")
    assert reviewer("--project", "museum", "ingest", note).returncode == 0
    return reviewer


def fact(program: Reviewer) -> int:
    rows = program.rows("--project", "museum", "queue", "list", "--status", "all")
    return min(int(row["id"]) for row in rows if "Wilhelmina" in row["content"])


def own_bytes(program: Reviewer) -> Iterator[tuple[Path, bytes]]:
    """Every file of the store's folder and of the program's caches, and the unpacked ledger."""
    yield program.db, everything_in(program.db)
    for folder in (program.db.parent, program.folder / "home"):
        for path in folder.rglob("*"):
            if path.is_file():
                yield path, path.read_bytes()


def places_of(program: Reviewer, *words: str) -> list[str]:
    return [
        f"{path.name}: {word}"
        for path, data in own_bytes(program)
        for word in words
        if word.encode() in data or word.lower().encode() in data
    ]


def test_no_byte_of_a_forgotten_memory_is_left(kept: Reviewer) -> None:
    memory = fact(kept)
    wording = kept.folder / "wording.txt"
    wording.write_text('Quastenburg\'s birthday opens the "vault" of the museum\n', "utf-8")
    assert kept("--project", "museum", "edit", memory, "--content-file", wording).returncode == 0
    assert kept("--project", "museum", "promote", memory).returncode == 0
    with sqlite3.connect(kept.db) as connection:  # a prompt that named it
        connection.execute(
            "INSERT INTO use_of_memory (memory_id, session, moment, cue, at)"
            " SELECT min(id), 's', 'prompt', 'tell me: ' || ?, '' FROM memory WHERE id <> ?",
            (SECRET, memory),
        )
    drafts = kept.db.with_name("store.db-drafts")
    drafts.mkdir(mode=0o700)
    (drafts / f"{memory}.txt").write_text("Wilhelmina again")
    answers = kept.folder / "home" / ".cache" / "reviewer" / "answers"
    answers.mkdir(parents=True, mode=0o700)
    (answers / "a.json").write_text(json.dumps({"text": f'{{"statement": "{SECRET}"}}'}))
    (answers / "b.json").write_text(json.dumps({"text": "something else"}))
    assert places_of(kept, "Wilhelmina", "Quastenburg")
    done = kept("--project", "museum", "forget", memory, "--yes")
    assert done.returncode == 0, done.stderr
    assert places_of(kept, "Wilhelmina", "Quastenburg") == []
    assert [each.name for each in answers.iterdir()] == ["b.json"]
    assert f"{kept.folder / 'decisions.md'}, line" in done.stderr
    assert kept("--project", "museum", "packet").returncode == 0
    kept.nothing_lost()


@pytest.mark.parametrize("before", ["", "Remember "])
def test_the_title_of_an_act_on_a_turn_keeps_nothing_of_a_forgotten_memory(
    kept: Reviewer, before: str
) -> None:
    talk = kept.folder / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": f"{before}{SECRET}."}]))
    assert kept("--project", "museum", "context", "import", talk).returncode == 0
    (turn,) = kept.rows("--project", "museum", "commit", "list", "talk")
    assert kept("annotate", turn["hash"][:8], "--priority", "skip").returncode == 0
    assert f"Skipped “{before}{SECRET[:8]}" in kept("history").stdout
    assert kept("--project", "museum", "forget", fact(kept), "--yes").returncode == 0
    shown = kept("history").stdout
    assert f"Skipped “{before}█" in shown
    assert SECRET[:8] not in shown
    kept.nothing_lost()


def test_the_rest_of_an_act_can_still_be_undone(kept: Reviewer) -> None:
    memory = fact(kept)
    every = kept.ids("--project", "museum")
    assert kept("--project", "museum", "promote", *every, "--alone").returncode == 0
    assert kept("--project", "museum", "restore", memory).returncode == 0
    assert kept("--project", "museum", "forget", memory, "--yes").returncode == 0
    assert kept("--project", "museum", "undo").returncode == 0
    assert kept.ids("--project", "museum") == [each for each in every if each != memory]
    assert kept("--project", "museum", "redo").returncode == 0
    kept.nothing_lost()


def test_nothing_takes_it_back(kept: Reviewer) -> None:
    assert kept("--project", "museum", "forget", fact(kept), "--yes").returncode == 0
    act = kept.rows("--project", "museum", "history")[-1]
    assert act["kind"] == "forget"
    assert "forgetting is final" in kept.fails("--project", "museum", "undo", act["id"])
    assert "no decision" in kept.fails("--project", "museum", "undo")


def test_a_changed_act_is_found_also_where_it_lost_images(kept: Reviewer) -> None:
    kept("--project", "museum", "forget", fact(kept), "--yes")
    sealed = rows_of(kept.db, "SELECT act FROM erasure ORDER BY act")[0][0]
    with sqlite3.connect(kept.db) as connection:
        connection.execute("UPDATE ledger SET title = 'Other' WHERE id = ?", (sealed,))
    assert f"act {sealed} was changed" in kept("verify").stdout


def test_it_asks_first_and_never_without_a_terminal(kept: Reviewer) -> None:
    memory = fact(kept)
    message = kept("--project", "museum", "forget", memory)
    assert (message.returncode, "--yes" in message.stderr) == (2, True)
    assert memory in kept.ids("--project", "museum")


def test_what_other_rows_say_in_the_same_words_is_named(kept: Reviewer) -> None:
    longer = f"{SECRET}, and the watch knows it"
    assert kept("--project", "museum", "remember", longer, "--type", "knowledge").returncode == 0
    other = next(
        row["id"] for row in kept.rows("--project", "museum", "queue", "list")
        if row["content"].startswith(longer)
    )  # fmt: skip
    done = kept("--project", "museum", "forget", fact(kept), "--yes")
    assert f"reviewer forget {other}" in done.stderr
    assert kept("--project", "museum", "forget", other, "--yes").returncode == 0
    assert places_of(kept, "Wilhelmina", "Quastenburg") == []


def test_what_was_merged_into_a_memory_goes_with_it(kept: Reviewer) -> None:
    memory = fact(kept)
    kept(
        "--project", "museum", "remember", "Miss Quastenburg guards the vault", "--type", "decision"
    )
    other = next(each for each in kept.ids("--project", "museum") if each > max(memory, 2))
    assert kept("--project", "museum", "merge", other, "--into", memory).returncode == 0
    assert kept("--project", "museum", "forget", memory, "--yes").returncode == 0
    assert places_of(kept, "Quastenburg") == []


def test_a_project_goes_whole_and_others_stay(kept: Reviewer) -> None:
    other = kept.folder / "other.md"
    other.write_text("# D\n\n- [Decision] The library closes at nine in the evening.\n", "utf-8")
    assert kept("--project", "library", "ingest", other).returncode == 0
    assert kept("--project", "museum", "context", "import", kept.folder / "decisions.md")
    kept("--project", "museum", "state", "set", "vault", "Quastenburg holds the key")
    graph = kept.folder / "tour.dot"
    graph.write_text("digraph tour { start [shape=Mdiamond]; e [shape=Msquare]; start -> e }")
    kept("--project", "museum", "pipeline", "run", graph)
    (run,) = kept.rows("--project", "museum", "pipeline", "runs")
    done = kept("forget", "--project", "museum", "--yes")
    assert done.returncode == 0, done.stderr
    assert not Path(run["folder"]).exists()
    assert places_of(kept, "Wilhelmina", "Quastenburg", "night watch", "museum") == []
    assert len(kept.ids("--project", "library")) == 1
    assert "no project museum" in kept.fails("--project", "museum", "queue", "list")
    kept.nothing_lost()


def test_what_was_taken_back_before_is_erased_from_the_history(kept: Reviewer) -> None:
    ingested = next(a for a in kept.rows("--project", "museum", "history") if a["kind"] == "ingest")
    assert kept("--project", "museum", "undo", ingested["id"]).returncode == 0
    assert places_of(kept, "Quastenburg")
    assert kept("forget", "--project", "museum", "--yes").returncode == 0
    assert places_of(kept, "Quastenburg", "night watch") == []
    kept.nothing_lost()


def test_an_interrupted_forget_is_repeated_or_finished(kept: Reviewer) -> None:
    memory = fact(kept)
    marker = kept.db.with_name("store.db-forgetting")
    marker.touch(0o600)  # killed before its act
    assert memory in kept.ids("--project", "museum")
    assert not marker.exists()
    engine = Engine.open(kept.db)
    engine.forgetting.erase(engine.forgetting.memories([memory]))
    killed = kept.folder / "killed"  # after its act, when erased bytes are still there
    shutil.copytree(kept.db.parent, killed)
    engine.close()
    kept.db, marker = killed / kept.db.name, killed / marker.name
    assert any(b"Quastenburg" in path.read_bytes() for path in killed.glob("store.db*"))
    assert memory not in kept.ids("--project", "museum")
    assert places_of(kept, "Quastenburg") == []
    assert not marker.exists()


def test_an_open_reader_is_named_and_the_rest_done_later(kept: Reviewer) -> None:
    memory = fact(kept)
    reader = sqlite3.connect(kept.db, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memory").fetchone()
    done = kept("--project", "museum", "forget", memory, "--yes")
    assert (done.returncode, "Close it" in done.stderr) == (1, True)
    reader.execute("ROLLBACK")
    reader.close()
    kept.ids("--project", "museum")
    assert places_of(kept, "Quastenburg") == []


def test_memory_folders_and_prepared_packets_of_agents_lose_it(kept: Reviewer) -> None:
    work = kept.folder / "work"
    (work / ".git").mkdir(parents=True)
    memory = fact(kept)
    for words in (
        ("promote", memory),
        ("connect", "claude-code", "--memory", "--yes"),
    ):
        done = kept("--project", "museum", *words, cwd=work)
        assert done.returncode == 0, done.stderr
    files = [place.split(":")[0] for place in places_of(kept, "Quastenburg")]
    assert {"reviewer.md", "connections.json"} <= set(files)
    assert kept("--project", "museum", "forget", memory, "--yes", cwd=work).returncode == 0
    assert places_of(kept, "Quastenburg") == []


def test_a_block_that_still_has_it_is_named(kept: Reviewer) -> None:
    work = kept.folder / "work"
    (work / ".git").mkdir(parents=True)
    memory = fact(kept)
    for words in (
        ("promote", memory),
        ("connect", "claude-code", "--project", "--block", "--yes"),
    ):
        assert kept("--project", "museum", *words, cwd=work).returncode == 0
    done = kept("--project", "museum", "forget", memory, "--yes", cwd=work)
    assert f"Still there: the block in {work / 'CLAUDE.md'}" in done.stderr
    again = kept("--project", "museum", "disconnect", "claude-code", "--project", "-y", cwd=work)
    assert (again.returncode, (work / "CLAUDE.md").exists()) == (0, False), again.stderr


def test_a_memory_folder_loses_it_after_an_interruption(kept: Reviewer) -> None:
    work = kept.folder / "work"
    (work / ".git").mkdir(parents=True)
    memory = fact(kept)
    for words in (("promote", memory), ("connect", "claude-code", "--memory", "--yes")):
        assert kept("--project", "museum", *words, cwd=work).returncode == 0
    engine = Engine.open(kept.db)
    engine.forgetting.erase(engine.forgetting.memories([memory]))  # and killed
    engine.close()
    kept.ids("--project", "museum")
    assert places_of(kept, "Quastenburg") == []
