"""No act stores a secret, whatever table and column it writes, and whoever forgot to mask it."""

from __future__ import annotations

import ast
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewer.store.acts import LEDGERED, Act
from reviewer.store.changes import Value
from reviewer.store.database import Database
from reviewer.store.ledger import Ledger
from reviewer.store.migrations import migrate
from reviewer.store.stored_text import JSON, UNMASKED, has_only_our_words, masked_columns
from reviewer.text.secrets import mask
from tests.source_code import ROOT, in_one_process, trees
from tests.stored import everything_in

TOKEN = "gh" + "p_" + "t7Kq2Zn9Tb4Xv5Rm8Lc3Pd6Hs1Jf0GyAaBd"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def text_columns() -> Iterator[tuple[str, str]]:
    """Every column with text, of a new store."""
    with closing(sqlite3.connect(":memory:")) as connection:
        migrate(connection, is_new=True)
        for table in LEDGERED:
            for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})"):
                if kind == "TEXT":
                    yield table, name


def test_every_text_column_is_masked_or_has_a_reason() -> None:
    columns = {f"{table}.{name}" for table, name in text_columns()}
    assert len(columns) > 60
    assert UNMASKED.keys() - columns == set(), "these columns do not exist"
    assert columns >= JSON
    for table, name in text_columns():
        column = f"{table}.{name}"
        value = json.dumps({"said": f"it is {TOKEN}"}) if column in JSON else f"it is {TOKEN}"
        stored = str(masked_columns(table, {name: [value]})[name][0])
        assert (TOKEN in stored) == (column in UNMASKED), column
        if column in JSON:
            assert "masked" in json.loads(stored)["said"]


def test_json_is_masked_by_its_names_and_stays_json() -> None:
    key = "q3Vn8Tb1Xw6Rm9Lc2Pd7Hs4Jf0GyZk5Aa1"
    given_ = {"api_key": key, TOKEN: ["x", {"note": f'"{TOKEN}"'}], "n": 3}
    stored = str(masked_columns("commit_", {"meta": [json.dumps(given_)]})["meta"][0])
    assert TOKEN not in stored
    assert key not in stored
    assert json.loads(stored)["n"] == 3


def test_what_has_no_secret_is_stored_as_it_is() -> None:
    columns: dict[str, list[Value]] = {"content": ["The drawer is oiled."], "edited": [1, None]}
    assert masked_columns("memory", columns) is columns


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[tuple[Ledger, Path]]:
    path = tmp_path / "store.db"
    database = Database(path)
    yield Ledger(database, actor=f"ann {TOKEN}", clock=lambda: NOW), path
    database.close()


def test_rows_acts_and_what_undo_needs_have_no_secret(ledger: tuple[Ledger, Path]) -> None:
    writer, path = ledger

    def fill(act: Act, project: int) -> int:
        return act.insert(
            "state", project_id=project, key=f"{TOKEN} key", value=f"it is {TOKEN}",
            note=f"password: {TOKEN}", set_at=f"2026 {TOKEN}",
        )  # fmt: skip

    with writer.act("kind", f"Set {TOKEN} = 1") as act:
        project = act.insert("project", name="kiosk")
        number = fill(act, project)
    with writer.act("state") as act:
        act.update("state", number, value=f"now {TOKEN}", evidence=f"{TOKEN}:3")
        act.update_each("state", [(number, {"note": f"then {TOKEN}"})])
    assert TOKEN.encode() not in everything_in(path)


OWN_WRITERS = {
    "compression/measures.py": "figures of the program, whose labels are masked",
    "store/acts.py": "the door itself",
    "promotion/exchange/syncing.py": "hashes of what was synced",
    "store/erasing.py": "takes text away, and leaves no image of it",
    "packets/relevance.py": "an index in memory",
    "fleet/best.py": "a table of DuckDB, gone after the import",
    "recall/uses.py": "counts and derived moments, of signatures and names of commands",
    "store/migrations.py": "search indexes, of text that is stored",
}
"""Files with SQL that writes -> why they do not go through an act."""

_WRITES = re.compile(r"\b(?:INSERT (?:OR \w+ )?INTO|REPLACE INTO|UPDATE \w+ SET|DELETE FROM)\b")


@in_one_process
def test_rows_are_written_by_acts_only() -> None:
    """Text gets into the store through `Act`, which masks it."""
    found = set()
    for file, tree in trees().items():
        for node in ast.walk(tree):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [each.value if isinstance(each, ast.Constant) else "{}" for each in parts]
            if _WRITES.search("".join(each for each in texts if isinstance(each, str))):
                found.add(file)
    assert found == OWN_WRITERS.keys()


VOCABULARY = sorted(
    {
        word
        for path in (ROOT / "text" / "secrets").glob("*.py")
        for word in re.findall(r"[a-z]{2,10}", path.read_text().lower())
    }
    | {"sunflower", "hunter", "correct", "horse", "promoted", "into", "by"}
)


@given(st.lists(st.sampled_from(VOCABULARY) | st.integers(0, 9_999_999).map(str), min_size=1,
                max_size=6), st.booleans())  # fmt: skip
@example(["pin", "1234567"], True)
@example(["pw", "sunflower"], False)
def test_a_title_that_is_not_looked_at_has_no_secret(words: list[str], capital: bool) -> None:
    text = " ".join(words)
    text = text.capitalize() if capital else text
    if has_only_our_words(text):
        assert mask(text).kinds == ()


def test_titles_of_decisions_are_not_looked_at() -> None:
    for title in ("Promoted #8", "Merged #1 into #2", "Undone: Promoted #8", "Rejected 22 rows"):
        assert has_only_our_words(title), title
