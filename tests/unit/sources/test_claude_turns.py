"""Turns of Claude Code sessions: keys, places, replies in blocks, copies, ranges."""

from __future__ import annotations

import hashlib
from pathlib import Path

from reviewer.sources.records import Role

from .builders import Session


def test_a_turn_keeps_its_id_time_place_and_digest(tmp_path: Path) -> None:
    session = Session()
    session.bare("file-history-snapshot", snapshot={})
    uuid = session.user("We ship on Fridays.")
    [record] = session.read(tmp_path)
    line = session.lines()[1]
    start = len(session.lines()[0]) + 1
    assert (record.key, record.line_start, record.line_end) == (uuid, 1, 2)
    assert (record.byte_start, record.byte_end) == (start, start + len(line))
    assert record.sha256 == hashlib.sha256(line).hexdigest()
    assert (record.role, record.session, record.at) == (Role.USER, "s1", "2026-02-14T10:00:01Z")
    assert record.meta == {
        "agent": "claude-code",
        "cwd": "/work/shop",
        "gitBranch": "main",
        "version": "2.1.0",
    }


def test_blocks_of_one_reply_are_one_record_from_first_to_last_text(tmp_path: Path) -> None:
    session = Session()
    session.user("Go on.")
    session.block({"type": "thinking", "thinking": "hm"}, "m1")
    first = session.reply("First part.", "m1")
    session.tool("m1")
    session.result()
    session.reply("Second part.", "m1")
    session.tool("m1")
    _, reply = session.read(tmp_path)
    data = session.bytes()
    assert reply.text == "First part.\n\nSecond part."
    assert reply.key == first
    assert (reply.line_start, reply.line_end) == (2, 6)
    assert data[reply.byte_start : reply.byte_end] == b"\n".join(session.lines()[2:6])
    assert reply.sha256 == hashlib.sha256(data[reply.byte_start : reply.byte_end]).hexdigest()


def test_interleaved_replies_stay_apart(tmp_path: Path) -> None:
    session = Session()
    session.user("Ask both.")
    session.reply("Main one.", "m1")
    session.reply("Side one.", "m2", isSidechain=True)
    session.reply("Main two.", "m1")
    session.reply("Side two.", "m2", isSidechain=True)
    texts = {record.text: record.sidechain for record in session.read(tmp_path)[1:]}
    assert texts == {"Main one.\n\nMain two.": False, "Side one.\n\nSide two.": True}


def test_a_file_written_twice_yields_every_record_once(tmp_path: Path) -> None:
    session = Session()
    session.user("One.")
    session.reply("Two.", "m1")
    scan = session.scan(tmp_path, session.bytes() * 2)
    assert [record.text for record in scan] == ["One.", "Two."]
    assert scan.tally["repeated"] == 2


def test_a_resumed_session_that_is_written_again_with_new_ids_is_read_once(tmp_path: Path) -> None:
    session = Session()
    session.user("One.")
    session.reply("Two.", "m1")
    again = Session("s2")
    again.user("One.")
    again.reply("Two.", "m1")
    again.user("Three.")
    scan = session.scan(tmp_path, session.bytes() + again.bytes())
    assert [record.text for record in scan] == ["One.", "Two.", "Three."]


def test_other_words_under_the_same_id_are_a_record_of_their_own(tmp_path: Path) -> None:
    session = Session()
    session.user("One.")
    session.user("Two.")
    data = session.bytes().replace(b"s1-1", b"s1-0")
    scan = session.scan(tmp_path, data + data)
    one, two = scan
    assert (one.text, one.key, two.text) == ("One.", "s1-0", "Two.")
    assert two.key == f"s1-0:{two.sha256[:16]}"
