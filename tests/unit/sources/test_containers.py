"""Databases and archives of other programs: never written, and refused with a reason."""

from __future__ import annotations

import json
import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from reviewer.errors import OtherKindError, SourceError
from reviewer.sources import archives, databases
from reviewer.sources.events import Call, Outcome, Result
from reviewer.sources.records import RecordUse, Role
from reviewer.sources.stream import read
from reviewer.sources.walk import walk
from tests.unit.sources.builders import Scanned
from tests.unit.sources.families import (
    CHATGPT,
    CHATGPT_CONVERSATION,
    CRUSH,
    CURSOR,
    GOOSE,
    OPENCODE_DATABASE,
    Family,
    archive,
    database,
    lines,
)


def texts(path: Path) -> list[str]:
    return [record.text for record in Scanned(path)]


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("", "a database without tables"),
        ("CREATE TABLE bookmarks (url TEXT)", "a database of another program"),
        (
            "CREATE TABLE sessions (id); CREATE TABLE messages (id); CREATE VIEW files AS SELECT 1",
            "a database of another program",
        ),
        (
            "CREATE TABLE sessions (id); CREATE TABLE messages (id); CREATE TABLE files (id)",
            "no such column",
        ),
    ],
)
def test_databases_of_others_are_refused(tmp_path: Path, statements: str, reason: str) -> None:
    path = database("x.db", "PRAGMA user_version = 1", *filter(None, statements.split(";")))(
        tmp_path
    )
    with pytest.raises(SourceError, match=reason):
        texts(path)


def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    path = CRUSH.write(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:100] + b"\xff" * 3000 + data[3100:])
    with pytest.raises(SourceError, match="the database is damaged"):
        texts(path)


@pytest.mark.parametrize(
    ("family", "row", "wrong"),
    [
        (CRUSH, "messages SET parts = {} WHERE id = 'm1'", "x'00ff'"),
        (GOOSE, "messages SET content_json = {} WHERE id = 1", "x'00ff'"),
        (CURSOR, "cursorDiskKV SET value = {} WHERE key = 'bubbleId:k2:b1'", "900000000000"),
    ],
    ids=["crush", "goose", "cursor"],
)
def test_values_that_are_not_json_are_counted(
    family: Family, row: str, wrong: str, tmp_path: Path
) -> None:
    for value in ("'[{'", wrong):
        path = family.write(tmp_path / str(value == wrong))
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"UPDATE {row.format(value)}")
        scan = Scanned(path)
        list(scan)
        assert scan.tally["row that cannot be read"] == 1


@pytest.mark.parametrize("is_here", [True, False])
def test_a_crush_session_is_in_the_folder_of_its_files_or_in_none(
    tmp_path: Path, is_here: bool
) -> None:
    path = CRUSH.write(tmp_path)
    folder = tmp_path if is_here else Path("/work/bells")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE files ADD COLUMN path TEXT")
        connection.execute("INSERT INTO files VALUES ('f1', ?)", [str(folder / "bell.py")])
    assert {each.origin.cwd for each in read(path).kept()} == {str(tmp_path) if is_here else ""}


def test_a_database_with_newer_rows_beside_it_is_copied(tmp_path: Path) -> None:
    path = OPENCODE_DATABASE.write(tmp_path / "there")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE part SET data = replace(data, 'plants', 'ferns')")
        writer.commit()
        before = {each.name: each.read_bytes() for each in path.parent.iterdir()}
        assert "Water the ferns." in texts(path)
        assert {each.name: each.read_bytes() for each in path.parent.iterdir()} == before


def test_a_closed_database_gets_no_files_beside_it(tmp_path: Path) -> None:
    path = OPENCODE_DATABASE.write(tmp_path / "there")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    path.parent.chmod(0o500)
    try:
        assert "Water the plants." in texts(path)
        assert [each.name for each in path.parent.iterdir()] == ["opencode.db"]
    finally:
        path.parent.chmod(0o700)


def test_a_database_that_never_rests_is_left_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = OPENCODE_DATABASE.write(tmp_path)
    path.with_name("opencode.db-wal").write_bytes(b"x")
    stamps = iter(range(100))
    monkeypatch.setattr(databases, "_stamp", lambda _: [(next(stamps), 0)])
    with pytest.raises(SourceError, match="is constantly being written to: try again later"):
        Scanned(path)


def test_a_huge_file_beside_a_database_is_not_copied(tmp_path: Path) -> None:
    """Anybody may have put it there, and it costs its writer nothing: it has holes only."""
    path = OPENCODE_DATABASE.write(tmp_path)
    beside = path.with_name("opencode.db-wal")
    beside.touch()
    os.truncate(beside, 50_000_000_000)
    with pytest.raises(SourceError, match="in use and too large to copy"):
        Scanned(path)


def test_of_several_sessions_only_the_wanted_ones_are_read(tmp_path: Path) -> None:
    path = CRUSH.write(tmp_path)
    only = [record.session for record in Scanned(path, sessions=frozenset(("w2",)))]
    assert only == ["w2"]
    events = list(read(path, sessions=frozenset(("w2",))))
    assert {event.origin.sidechain for event in events} == {True}


def test_folders_are_searched_for_databases_and_archives_of_agents(tmp_path: Path) -> None:
    CRUSH.write(tmp_path)
    database("bookmarks.db", "CREATE TABLE bookmarks (url TEXT)")(tmp_path)
    archive("export.zip", chat__x="", message_feedback=[], conversations=[CHATGPT_CONVERSATION])(
        tmp_path
    )
    archive("photos.zip", photo=1)(tmp_path)
    found = {each.path.name: each.reason for each in walk([tmp_path])}
    left_out = {"bookmarks.db": "binary", "photos.zip": "binary"}
    assert found == {"crush.db": "", "export.zip": "", **left_out}


def test_a_zip_bomb_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MEMBER_LIMIT", 2_000_000)
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("message_feedback.json", "[]")
        packed.writestr("conversations-000.json", b"[" + b" " * 30_000_000 + b"]")
        packed.writestr("conversations-001.json", json.dumps([CHATGPT_CONVERSATION]))
    assert path.stat().st_size < 100_000
    scan = Scanned(path)
    assert [record.text for record in scan if record.role is Role.USER] == CHATGPT.person
    assert scan.errors == ["conversations-000.json: more than 2 MB after unpacking"]
    assert scan.tally["member of the archive left out"] == 1


def test_archives_that_are_damaged_or_of_others_are_named(tmp_path: Path) -> None:
    path = CHATGPT.write(tmp_path).with_name("export.zip")
    archive("export.zip", message_feedback=[], conversations=[CHATGPT_CONVERSATION])(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(SourceError, match="the archive is damaged"):
        Scanned(path)
    other = archive("photos.zip", photo=1)(tmp_path)
    with pytest.raises(OtherKindError, match="an archive without chats"):
        Scanned(other)


def event(text: str, kind: str = "user_message") -> dict[str, object]:
    return {"type": "event_msg", "payload": {"type": kind, "message": text}}


def item(kind: str, **payload: object) -> dict[str, object]:
    return {"type": "response_item", "payload": {"type": kind, **payload}}


def message(text: str) -> dict[str, object]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def meta(name: str) -> dict[str, object]:
    return {"type": "session_meta", "payload": {"id": name}}


def test_calls_without_ids_of_their_own_are_linked_by_their_order(tmp_path: Path) -> None:
    path = lines(
        "r.jsonl",
        meta("REDACTED"),
        item("function_call", call_id="REDACTED", name="first", arguments="{}"),
        item("function_call_output", call_id="REDACTED", output="one"),
        item("function_call", call_id="REDACTED", name="second", arguments="{}"),
        item("function_call_output", call_id="REDACTED", output="two"),
    )(tmp_path)
    one, its, two, other = read(path)
    assert isinstance(one, Call)
    assert isinstance(two, Call)
    assert isinstance(its, Result)
    assert isinstance(other, Result)
    assert [(each.tool, each.text) for each in (its, other)] == [
        ("first", "one"),
        ("second", "two"),
    ]
    assert one.id == its.call != two.id == other.call


def test_a_file_that_grows_while_it_is_read_is_read_to_where_it_was_then(tmp_path: Path) -> None:
    path = lines("r.jsonl", *(event(f"Tray {number}.") for number in range(5_000)))(tmp_path)
    records = iter(Scanned(path))
    assert next(records).text == "Tray 0."
    path.write_text("")
    assert all(record.text.startswith("Tray ") for record in records)


def test_escapes_that_a_collector_has_cut_do_not_lose_the_line(tmp_path: Path) -> None:
    said = {
        r"cut \u00REDACTED here": "cut \ufffd00REDACTED here",
        r"half \ud83d here": "half \ufffd here",
        r"a path C:\\users": "a path C:\\users",
        r"whole \ud83d\ude00": "whole \U0001f600",
    }
    line = '{"type":"event_msg","payload":{"type":"user_message","message":"%s"}}'
    scan = Scanned(lines("r.jsonl", *(line % text for text in said))(tmp_path))
    assert [record.text for record in scan] == list(said.values())
    assert scan.tally["odd escapes replaced"] == 2


def test_what_ends_a_compacted_history_is_a_summary_only_if_nobody_typed_it(tmp_path: Path) -> None:
    request = "Go on with the shelf. " * 60
    summary = "The shelf was painted and the door was left alone. " * 20
    scan = Scanned(
        lines(
            "r.jsonl",
            event(request),
            {"type": "response_item", "payload": message(request)},
            *(
                {"type": "compacted", "payload": {"replacement_history": [message(text)]}}
                for text in (request, "Short.", summary)
            ),
        )(tmp_path)
    )
    assert [(record.text, record.use) for record in scan] == [
        (request, RecordUse.MESSAGE),
        (summary, RecordUse.SUMMARY),
    ]
    assert scan.tally["compaction without a readable summary"] == 2


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nred\nblue\n", "red\nblue\n", False),
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno shelf", "no shelf", True),
        (
            "Chunk ID: a1\nWall time: 0.0 seconds\nProcess exited with code 1\n"
            "Original token count: 0\nOutput:\n",
            "Process exited with code 1",
            True,
        ),
        ("The note says:\nExit code: 1", "The note says:\nExit code: 1", False),
        ('{"output": "red", "metadata": {"exit_code": 0}}', "red", False),
        ('{"colour": "red"}', '{"colour": "red"}', False),
    ],
)
def test_the_output_of_a_codex_command_comes_without_its_header(
    tmp_path: Path, output: str, text: str, failed: bool
) -> None:
    given = item("function_call_output", call_id="c", output=output)
    path = lines("r.jsonl", meta("x"), given)(tmp_path)
    (result,) = read(path)
    assert isinstance(result, Result)
    assert (result.text, result.outcome is Outcome.FAILED) == (text, failed)
