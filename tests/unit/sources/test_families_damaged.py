"""Sessions of agents whose fields have the wrong type, are missing or cut: never a crash."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from reviewer.errors import SourceError
from reviewer.sources.events import Call, Message, Result
from reviewer.sources.open import format_of
from reviewer.sources.records import Record
from reviewer.sources.rows import has_rows
from reviewer.sources.stream import read
from tests.unit.sources.families import FAMILIES, Family

WRONG: tuple[Any, ...] = (
    None, True, -1, 10**30, 1e308, "", "x", "REDACTED", [], [1], [[]], [None], ["x"], {},
    {"a": 1}, {"type": "text"}, [{"type": "text", "text": 5}], {"text": {"text": []}},
)  # fmt: skip
ROUNDS = 20

each_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def damaged(value: Any, source: random.Random, chance: float) -> Any:
    """A copy in which some values are of another type, and some fields are gone."""
    if source.random() < chance:
        return source.choice(WRONG)
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if source.random() > chance / 2}
        return {key: damaged(each, source, chance) for key, each in kept.items()}
    if isinstance(value, list):
        return [damaged(each, source, chance) for each in value]
    return value


def spoil(path: Path, source: random.Random) -> None:
    """Damage a file in place."""
    chance = source.choice((0.02, 0.1, 0.3))
    if path.suffix == ".zip":
        data = bytearray(path.read_bytes())
        for _ in range(source.randrange(1, 20)):
            data[source.randrange(len(data))] = source.randrange(256)
        path.write_bytes(data)
    elif has_rows(path):
        with closing(sqlite3.connect(path)) as connection, connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (table,) in tables.fetchall():
                for row in connection.execute(f"PRAGMA table_info({table})").fetchall():
                    name, is_key = row[1], row[5]
                    if is_key:
                        continue
                    for number, value in connection.execute(
                        f"SELECT rowid, {name} FROM {table}"
                    ).fetchall():
                        new = _spoiled_column(value, source, chance)
                        connection.execute(
                            f"UPDATE OR IGNORE {table} SET {name} = ? WHERE rowid = ?",
                            (new, number),
                        )
    elif path.suffix == ".jsonl":
        lines = path.read_text().split("\n")
        path.write_text("\n".join(_spoiled_text(line, source, chance) for line in lines))
    else:
        path.write_text(_spoiled_text(path.read_text(), source, chance))


def _spoiled_column(value: object, source: random.Random, chance: float) -> Any:
    if isinstance(value, str) and (value[:1] == "{" or value[:2] == "[{"):
        return _spoiled_text(value, source, chance)
    return value if source.random() > chance else source.choice((None, 5, "x", b"\xff", 1e300))


def _spoiled_text(text: str, source: random.Random, chance: float) -> str:
    if not text.startswith(("{", "[")):
        return text
    if source.random() < chance / 10:
        return text[: source.randrange(len(text))]
    return json.dumps(damaged(json.loads(text), source, chance))


@each_family
def test_damage_is_counted_or_named_but_never_raised(family: Family, tmp_path: Path) -> None:
    source = random.Random(16)
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = family.write(folder)
        spoil(path, source)
        with suppress(SourceError):
            for found in read(path).with_records():
                at = found if isinstance(found, Record) else found.origin
                assert 0 <= at.line_start < at.line_end
                if isinstance(found, (Record, Message, Call, Result)):
                    found.text.encode()
        with suppress(SourceError):
            outlines = format_of(path).outlines
            for outline in outlines(path) if outlines else ():
                assert abs(outline.modified_ns) < 1 << 63
