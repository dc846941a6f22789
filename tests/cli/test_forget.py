"""`reviewer forget`: nothing that is said to be gone is left, and the ledger still verifies."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewer.engine import Engine
from tests.cli.agent_projects import tree
from tests.cli.conftest import Reviewer
from tests.stored import everything_in, rows_of, write

SECRET = "The vault @home opens with the birthday of Wilhelmina Quastenburg"
NOTE = f"""# Decisions

## Decision: locks

- [Decision] {SECRET}.
- [Decision] Doors are checked every evening by the night watch.
"""


@pytest.fixture
def kept(reviewer: Reviewer) -> Reviewer:
    """A work tree of the project `museum`, and a store in a folder of its own with a fact."""
    reviewer.db = reviewer.folder / "data" / "store.db"
    reviewer.folder = tree(reviewer, "museum")
    note = reviewer.folder / "decisions.md"
    note.write_text(NOTE, encoding="utf-8")
    reviewer.succeeds("ingest", note)
    return reviewer


def fact(program: Reviewer) -> int:
    rows = program.rows("queue", "list", "--status", "all")
    return min(int(row["id"]) for row in rows if "Wilhelmina" in row["content"])


def own_bytes(program: Reviewer) -> Iterator[tuple[Path, bytes]]:
    """Every file of the store's folder and of the program's caches, and the unpacked ledger."""
    yield program.db, everything_in(program.db)
    for folder in (program.db.parent, program.home):
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
    kept.succeeds("edit", memory, "--content-file", wording)
    kept.succeeds("promote", memory)
    write(  # a prompt that named it
        kept.db,
        "INSERT INTO use_of_memory (memory_id, session, moment, cue, at)"
        " SELECT min(id), 's', 'prompt', 'tell me: ' || ?, '' FROM memory WHERE id <> ?",
        SECRET,
        memory,
    )
    drafts = kept.db.with_name("store.db-drafts")
    drafts.mkdir(mode=0o700)
    (drafts / f"{memory}.txt").write_text("Wilhelmina again")
    answers = kept.home / ".cache" / "reviewer" / "answers"
    answers.mkdir(parents=True, mode=0o700)
    (answers / "a.json").write_text(json.dumps({"text": f'{{"statement": "{SECRET}"}}'}))
    (answers / "b.json").write_text(json.dumps({"text": "something else"}))
    assert places_of(kept, "Wilhelmina", "Quastenburg")
    done = kept.succeeds("forget", memory, "--yes")
    assert places_of(kept, "Wilhelmina", "Quastenburg") == []
    assert [each.name for each in answers.iterdir()] == ["b.json"]
    assert f"{kept.folder / 'decisions.md'}, line" in done.stderr
    kept.succeeds("packet")
    kept.nothing_lost()


@pytest.mark.parametrize("before", ["", "Remember "])
def test_the_title_of_an_act_on_a_turn_keeps_nothing_of_a_forgotten_memory(
    kept: Reviewer, before: str
) -> None:
    talk = kept.folder / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": f"{before}{SECRET}."}]))
    kept.succeeds("context", "import", talk)
    (turn,) = kept.rows("commit", "list", "talk")
    kept.succeeds("annotate", turn["hash"][:8], "--priority", "skip")
    assert f"Skipped “{before}{SECRET[:8]}" in kept("history").stdout
    kept.succeeds("forget", fact(kept), "--yes")
    shown = kept("history").stdout
    assert f"Skipped “{before}█" in shown
    assert SECRET[:8] not in shown
    kept.nothing_lost()


def test_the_rest_of_an_act_can_still_be_undone(kept: Reviewer) -> None:
    memory = fact(kept)
    every = kept.ids()
    kept.succeeds("promote", *every, "--alone")
    kept.succeeds("restore", memory)
    kept.succeeds("forget", memory, "--yes")
    kept.succeeds("undo")
    assert kept.ids() == [each for each in every if each != memory]
    kept.succeeds("redo")
    kept.nothing_lost()


def test_nothing_takes_it_back(kept: Reviewer) -> None:
    kept.succeeds("forget", fact(kept), "--yes")
    act = kept.rows("history")[-1]
    assert act["kind"] == "forget"
    assert "forgetting is final" in kept.fails("undo", act["id"])
    assert "no decision" in kept.fails("undo")


def test_a_changed_act_is_found_also_where_it_lost_images(kept: Reviewer) -> None:
    kept("forget", fact(kept), "--yes")
    sealed = rows_of(kept.db, "SELECT act FROM erasure ORDER BY act")[0][0]
    write(kept.db, "UPDATE ledger SET title = 'Other' WHERE id = ?", sealed)
    assert f"act {sealed} was changed" in kept("verify").stdout


def test_it_asks_first_and_never_without_a_terminal(kept: Reviewer) -> None:
    memory = fact(kept)
    message = kept("forget", memory)
    assert (message.returncode, "--yes" in message.stderr) == (2, True)
    assert memory in kept.ids()


def test_what_other_rows_say_in_the_same_words_is_named(kept: Reviewer) -> None:
    longer = f"{SECRET}, and the watch knows it"
    kept.succeeds("remember", longer, "--type", "knowledge")
    other = next(
        row["id"] for row in kept.rows("queue", "list")
        if row["content"].startswith(longer)
    )  # fmt: skip
    done = kept("forget", fact(kept), "--yes")
    assert f"reviewer forget {other}" in done.stderr
    kept.succeeds("forget", other, "--yes")
    assert places_of(kept, "Wilhelmina", "Quastenburg") == []


def test_what_was_merged_into_a_memory_goes_with_it(kept: Reviewer) -> None:
    memory = fact(kept)
    kept("remember", "Miss Quastenburg guards the vault", "--type", "decision")
    other = next(each for each in kept.ids() if each > max(memory, 2))
    kept.succeeds("merge", other, "--into", memory)
    kept.succeeds("forget", memory, "--yes")
    assert places_of(kept, "Quastenburg") == []


def test_a_project_goes_whole_and_others_stay(kept: Reviewer) -> None:
    other = kept.folder.parent / "other.md"
    other.write_text("# D\n\n- [Decision] The library closes at nine in the evening.\n", "utf-8")
    kept.succeeds("--project", "library", "ingest", other)
    assert kept("context", "import", kept.folder / "decisions.md")
    kept("state", "set", "vault", "Quastenburg holds the key")
    graph = kept.folder / "tour.dot"
    graph.write_text("digraph tour { start [shape=Mdiamond]; e [shape=Msquare]; start -> e }")
    kept("pipeline", "run", graph)
    (run,) = kept.rows("pipeline", "runs")
    done = kept.succeeds("forget", "--project", "museum", "--yes")
    assert f"it is not the program's: {kept.folder / 'decisions.md'}" in done.stderr
    assert "other.md" not in done.stderr
    assert not Path(run["folder"]).exists()
    assert places_of(kept, "Wilhelmina", "Quastenburg", "night watch", "museum") == []
    assert len(kept.ids("--project", "library")) == 1
    assert "no project museum" in kept.fails("--project", "museum", "queue", "list")
    kept.nothing_lost()


def test_what_was_taken_back_before_is_erased_from_the_history(kept: Reviewer) -> None:
    ingested = next(a for a in kept.rows("history") if a["kind"] == "ingest")
    kept.succeeds("undo", ingested["id"])
    assert places_of(kept, "Quastenburg")
    kept.succeeds("forget", "--project", "museum", "--yes")
    assert places_of(kept, "Quastenburg", "night watch") == []
    kept.nothing_lost()


def test_an_interrupted_forget_is_repeated_or_finished(kept: Reviewer) -> None:
    memory = fact(kept)
    marker = kept.db.with_name("store.db-forgetting")
    marker.touch(0o600)  # killed before its act
    assert memory in kept.ids()
    assert not marker.exists()
    engine = Engine.open(kept.db)
    engine.forgetting.erase(engine.forgetting.memories([memory]))
    killed = kept.folder / "killed"  # after its act, when erased bytes are still there
    shutil.copytree(kept.db.parent, killed)
    engine.close()
    kept.db, marker = killed / kept.db.name, killed / marker.name
    assert any(b"Quastenburg" in path.read_bytes() for path in killed.glob("store.db*"))
    assert memory not in kept.ids()
    assert places_of(kept, "Quastenburg") == []
    assert not marker.exists()


def test_an_open_reader_is_named_and_the_rest_done_later(kept: Reviewer) -> None:
    memory = fact(kept)
    reader = sqlite3.connect(kept.db, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memory").fetchone()
    done = kept("forget", memory, "--yes")
    assert (done.returncode, "Close it" in done.stderr) == (1, True)
    reader.execute("ROLLBACK")
    reader.close()
    kept.ids()
    assert places_of(kept, "Quastenburg") == []


def test_memory_folders_and_prepared_packets_of_agents_lose_it(kept: Reviewer) -> None:
    memory = fact(kept)
    for words in (
        ("promote", memory),
        ("connect", "claude-code", "--memory", "--yes"),
    ):
        kept.succeeds(*words)
    files = [place.split(":")[0] for place in places_of(kept, "Quastenburg")]
    assert {"reviewer.md", "connections.json"} <= set(files)
    kept.succeeds("forget", memory, "--yes")
    assert places_of(kept, "Quastenburg") == []


def test_a_block_that_still_has_it_is_named(kept: Reviewer) -> None:
    memory = fact(kept)
    for words in (
        ("promote", memory),
        ("connect", "claude-code", "--project", "--block", "--yes"),
    ):
        kept.succeeds(*words)
    done = kept("forget", memory, "--yes")
    assert f"Still there: the block in {kept.folder / 'CLAUDE.md'}" in done.stderr
    again = kept("disconnect", "claude-code", "--project", "-y")
    assert (again.returncode, (kept.folder / "CLAUDE.md").exists()) == (0, False), again.stderr


def test_a_memory_folder_loses_it_after_an_interruption(kept: Reviewer) -> None:
    memory = fact(kept)
    for words in (("promote", memory), ("connect", "claude-code", "--memory", "--yes")):
        kept.succeeds(*words)
    engine = Engine.open(kept.db)
    engine.forgetting.erase(engine.forgetting.memories([memory]))  # and killed
    engine.close()
    kept.ids()
    assert places_of(kept, "Quastenburg") == []
