"""Claude Code sessions: every trap of the format."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from reviewer.sources.records import Role, Use

from .builders import Session, uses


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
    assert record.meta == {"cwd": "/work/shop", "gitBranch": "main", "version": "2.1.0"}


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


def test_replies_told_interleaved_stay_apart(tmp_path: Path) -> None:
    session = Session()
    session.user("Ask both.")
    session.reply("Main one.", "m1")
    session.reply("Side one.", "m2", isSidechain=True)
    session.reply("Main two.", "m1")
    session.reply("Side two.", "m2", isSidechain=True)
    texts = {record.text: record.sidechain for record in session.read(tmp_path)[1:]}
    assert texts == {"Main one.\n\nMain two.": False, "Side one.\n\nSide two.": True}


@pytest.mark.parametrize(
    "text",
    [
        "<local-command-caveat>Caveat: the messages below</local-command-caveat>",
        "<command-name>/clear</command-name>",
        "<command-message>review</command-message>\n<command-name>/review</command-name>",
        "<local-command-stdout>Bye!</local-command-stdout>",
        "<bash-input>git pull</bash-input>",
        "<bash-stdout>Already up to date.</bash-stdout>",
        "<task-notification>\n<task-id>a1</task-id></task-notification>",
        "<ide_opened_file>The user opened plan.md</ide_opened_file>",
        "<ide_selection>lines 1 to 3</ide_selection>",
        "[Request interrupted by user for tool use]",
    ],
)
def test_wrappers_are_not_the_persons_words(tmp_path: Path, text: str) -> None:
    session = Session()
    session.user(text)
    session.user([{"type": "text", "text": text}])
    session.user("but this is")
    assert [record.use for record in session.read(tmp_path)] == [
        Use.WRAPPER,
        Use.WRAPPER,
        Use.SAID,
    ]


def test_meta_records_are_wrappers_whatever_they_say(tmp_path: Path) -> None:
    session = Session()
    session.user("Base folder of this skill: skills/review", isMeta=True)
    assert [record.use for record in session.read(tmp_path)] == [Use.WRAPPER]


@pytest.mark.parametrize(
    "text",
    [
        "<system-reminder>Keep the list short.</system-reminder>",
        "Contents of /work/shop/CLAUDE.md (project instructions):\n\nUse tabs.",
        "# AGENTS.md instructions for /work/shop\n\nUse tabs.",
    ],
)
def test_instructions_read_at_start_are_boot_text(tmp_path: Path, text: str) -> None:
    session = Session()
    session.user(text)
    [record] = session.read(tmp_path)
    assert (record.use, record.text) == (Use.BOOT, text)


@pytest.mark.parametrize("tag", ["relevant-memories", "memory", "claude-mem-context", "recalled"])
def test_memories_that_a_tool_put_in_are_injected(tmp_path: Path, tag: str) -> None:
    session = Session()
    session.user(f"<{tag}>The user likes tea.</{tag}>")
    assert [record.use for record in session.read(tmp_path)] == [Use.INJECTED]


def test_reminders_among_typed_words_become_blanks_of_their_length(tmp_path: Path) -> None:
    session = Session()
    reminder = "<system-reminder>\nKeep it short.\n</system-reminder>"
    session.user(f"Use tabs. {reminder} Always.")
    scan = session.scan(tmp_path)
    [record] = scan
    assert record.use is Use.SAID
    assert record.text.split() == ["Use", "tabs.", "Always."]
    assert len(record.text) == len(f"Use tabs. {reminder} Always.")
    assert record.text.count("\n") == 2
    assert scan.tally["system reminder cut out"] == 1


def test_an_opening_tag_that_never_closes_cuts_nothing(tmp_path: Path) -> None:
    session = Session()
    session.user("Rename the <memory> element in config.xml to <store>.")
    assert "<memory> element" in session.read(tmp_path)[0].text


def test_a_note_typed_for_memory_is_said_without_its_tags(tmp_path: Path) -> None:
    session = Session()
    session.user("<user-memory-input>always run the linter</user-memory-input>")
    [record] = session.read(tmp_path)
    assert (record.use, record.text.strip()) == (Use.SAID, "always run the linter")


def test_typed_words_beside_an_editor_event_are_said_alone(tmp_path: Path) -> None:
    session = Session()
    event = {"type": "text", "text": "<ide_opened_file>plan.md</ide_opened_file>"}
    session.user([event, {"type": "text", "text": "follow the plan"}])
    assert uses(session.read(tmp_path)) == [("follow the plan", "said")]


def test_tool_results_are_counted_and_words_typed_with_them_are_kept(tmp_path: Path) -> None:
    session = Session()
    result = {"type": "tool_result", "tool_use_id": "t", "content": "SECRET OUTPUT"}
    session.user([result])
    session.user([result, {"type": "text", "text": "stop, use the other file"}])
    scan = session.scan(tmp_path)
    assert uses(scan) == [("stop, use the other file", "said")]
    assert scan.tally["tool result"] == 2


def test_errors_of_the_service_are_not_the_agents_words(tmp_path: Path) -> None:
    session = Session()
    session.reply("API Error: 529 overloaded", isApiErrorMessage=True)
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": "No response."}]}
    session.add("assistant", message=message)
    assert {record.use for record in session.read(tmp_path)} == {Use.WRAPPER}


def test_the_summary_of_a_compaction_is_no_persons_text(tmp_path: Path) -> None:
    session = Session()
    before = session.user("Use Postgres.")
    session.add("system", after=None, subtype="compact_boundary", logicalParentUuid=before)
    session.user("The user asked for Postgres.", isCompactSummary=True)
    session.user("This session is being continued from a previous conversation that ran out.")
    assert [(r.use, r.role) for r in session.read(tmp_path)] == [
        (Use.SAID, Role.USER),
        (Use.SUMMARY, Role.ASSISTANT),
        (Use.SUMMARY, Role.ASSISTANT),
    ]


def test_a_subagents_task_is_not_the_persons_words(tmp_path: Path) -> None:
    session = Session()
    session.user("Find all callers of save().", isSidechain=True)
    session.reply("There are three.", isSidechain=True)
    assert [(r.sidechain, r.role, r.session) for r in session.read(tmp_path)] == [
        (True, Role.ASSISTANT, "s1"),
        (True, Role.ASSISTANT, "s1"),
    ]


class TestQueuedText:
    """What a person types while the agent is busy."""

    def test_is_the_persons_words(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Start.")
        session.bare("queue-operation", operation="enqueue", content="and log to a file")
        session.bare("queue-operation", operation="remove")
        [_, queued] = session.read(tmp_path)
        assert (queued.text, queued.role, queued.use) == (
            "and log to a file",
            Role.USER,
            Use.SAID,
        )
        assert queued.key == f"sha256:{queued.sha256}"

    def test_is_given_once_when_it_comes_again_as_a_turn(self, tmp_path: Path) -> None:
        session = Session()
        session.bare("queue-operation", operation="enqueue", content="run the tests")
        session.bare("queue-operation", operation="dequeue")
        turn = session.user("run the tests")
        scan = session.scan(tmp_path)
        assert [record.key for record in scan] == [turn]
        assert scan.tally["queued text that comes again"] == 1

    def test_is_not_said_when_it_was_taken_back(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Start.")
        session.bare("queue-operation", operation="enqueue", content="never mind this")
        session.bare("queue-operation", operation="popAll", content="never mind this")
        assert [record.text for record in session.read(tmp_path)] == ["Start."]


class TestBranches:
    """Which branches of the tree a person left."""

    def test_a_prompt_replaced_by_a_later_one_is_rewound_with_its_replies(
        self, tmp_path: Path
    ) -> None:
        session = Session()
        session.user("Set up the project.")
        fork = session.reply("It is set up.")
        session.user("Use MySQL.")
        session.reply("MySQL it is.")
        session.add("progress", data={}, after=fork)
        session.user("Use Postgres.")
        session.reply("Postgres it is.")
        assert uses(session.read(tmp_path)) == [
            ("Set up the project.", "said"),
            ("It is set up.", "said"),
            ("Use MySQL.", "rewound"),
            ("MySQL it is.", "rewound"),
            ("Use Postgres.", "said"),
            ("Postgres it is.", "said"),
        ]

    def test_parallel_tool_calls_are_no_rewind(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Fix both files.")
        first = session.tool("m1")
        second = session.tool("m1")
        session.result("one", after=first)
        session.reply("Reading one.", "m2")
        session.result("two", after=second)
        session.reply("Both fixed.", "m3")
        session.user("Thanks.")
        assert {record.use for record in session.read(tmp_path)} == {Use.SAID}

    def test_words_typed_into_a_running_tool_call_are_no_rewind(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Fix it.")
        call = session.tool("m1")
        other = session.tool("m1")
        session.user("leave the tests alone", after=call)
        session.result(after=other)
        session.reply("Done.")
        session.user("Next.")
        assert {record.use for record in session.read(tmp_path)} == {Use.SAID}

    def test_a_prompt_later_than_the_path_that_went_on_is_kept(self, tmp_path: Path) -> None:
        session = Session()
        fork = session.user("Write two poems.")
        kept = session.user("And publish them.")
        session.user("are they still being written?", after=fork)
        session.reply("Published.", after=kept)
        assert {record.use for record in session.read(tmp_path)} == {Use.SAID}

    def test_a_conversation_before_a_resume_is_kept(self, tmp_path: Path) -> None:
        session = Session()
        session.user("First task.")
        session.reply("Done.")
        session.user("Second task.", after=None)
        session.user("Third task.", after="unknown-parent")
        assert {record.use for record in session.read(tmp_path)} == {Use.SAID}

    def test_rewinds_are_seen_across_a_compaction(self, tmp_path: Path) -> None:
        session = Session()
        fork = session.reply("Ready.")
        session.user("Use red.")
        session.user("Use blue.", after=fork)
        last = session.reply("Blue.")
        session.add("system", after=None, subtype="compact_boundary", logicalParentUuid=last)
        session.user("Summary of it all", isCompactSummary=True)
        session.reply("Going on.")
        found = {record.text: record.use for record in session.read(tmp_path)}
        assert found["Use red."] is Use.REWOUND
        assert found["Use blue."] is Use.SAID


def test_a_resumed_copy_gives_the_same_keys(tmp_path: Path) -> None:
    session = Session()
    session.user("One.")
    session.reply("Two.", "m1")
    keys = [record.key for record in session.read(tmp_path)]
    copy = Session("s2")
    copy.records = [{**record, "sessionId": "s2"} for record in session.records]
    copy.last = session.last
    copy.user("Three.")
    assert [record.key for record in copy.read(tmp_path)][:2] == keys


def test_a_file_written_twice_gives_every_record_once(tmp_path: Path) -> None:
    session = Session()
    session.user("One.")
    session.reply("Two.", "m1")
    scan = session.scan(tmp_path, session.bytes() * 2)
    assert [record.text for record in scan] == ["One.", "Two."]
    assert scan.tally["repeated"] == 2


class TestDamage:
    """Broken files lose the broken record and nothing else."""

    def test_a_cut_last_line_is_counted(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Whole.")
        session.user("This one is cut in the middle.")
        scan = session.scan(tmp_path, session.bytes()[:-40])
        assert [record.text for record in scan] == ["Whole."]
        assert scan.tally["bad JSON"] == 1
        assert scan.errors == ["line 2: not a JSON record"]

    def test_records_run_together_are_both_read(self, tmp_path: Path) -> None:
        session = Session()
        for text in ("Grüße.", "Two.", "Three."):
            session.user(text)
        one, two, three = session.lines()
        data = one + two + b"\n" + three + b"\n"
        scan = session.scan(tmp_path, data)
        records = list(scan)
        assert [(r.text, r.line_start) for r in records] == [
            ("Grüße.", 0),
            ("Two.", 0),
            ("Three.", 1),
        ]
        assert data[records[1].byte_start : records[1].byte_end] == two
        assert scan.tally["recovered from a damaged line"] == 2

    def test_the_record_after_a_cut_one_on_the_same_line_is_read(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Cut.")
        session.user("Whole.")
        session.user("Last.")
        one, two, three = session.lines()
        scan = session.scan(tmp_path, one[:60] + two + b"\n" + three + b"\n")
        assert [record.text for record in scan] == ["Whole.", "Last."]

    def test_lines_that_are_no_records_are_counted(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Said.")
        data = b"// a comment\n[1, 2]\n\x00\x00\x00\n" + session.bytes() * 1 + b"12\n"
        scan = session.scan(tmp_path, data)
        assert [record.line_start for record in scan] == [3]
        assert scan.tally["bad JSON"] == 4

    def test_unknown_types_are_counted_by_a_clean_short_name(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Said.")
        session.add("new\x1b[31mthing" + "x" * 100)
        scan = session.scan(tmp_path)
        list(scan)
        [name] = [name for name in scan.tally if name.startswith("unknown type: ")]
        assert name.startswith("unknown type: new?")
        assert "\x1b" not in name
        assert len(name) < 60

    def test_fields_of_another_type_do_not_lose_the_record(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Said.", timestamp=17, cwd=["x"], isSidechain="no", version=None)
        session.user([{"type": "text", "text": "Kept."}, {"type": 5, "text": []}, "bare", 7])
        assert [record.text for record in session.read(tmp_path)] == ["Said.", "Kept.\n\nbare"]

    def test_nesting_too_deep_to_read_is_counted(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Said.")
        deep = b'{"type":"user","message":' + b'[{"a":' * 50_000 + b"1" + b"}]" * 50_000 + b"}\n"
        scan = session.scan(tmp_path, session.bytes() + deep)
        assert [record.text for record in scan] == ["Said."]
        assert scan.tally["nested too deep"] == 1

    def test_invalid_utf8_is_replaced_and_counted(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Keep XX this.")
        scan = session.scan(tmp_path, session.bytes().replace(b"XX", b"\xff\xc3"))
        assert [record.text for record in scan] == ["Keep \ufffd\ufffd this."]
        assert scan.tally["invalid UTF-8"] == 1

    @pytest.mark.parametrize("end", [b"\r", b"\r\n", "\u2028".encode()])
    def test_other_line_ends_are_lines(self, tmp_path: Path, end: bytes) -> None:
        session = Session()
        session.user("One.")
        session.user("Two.")
        data = session.bytes().replace(b"\n", end)
        records = session.read(tmp_path, data)
        assert [(record.text, record.line_start) for record in records] == [
            ("One.", 0),
            ("Two.", 1),
        ]
        assert json.loads(data[records[1].byte_start : records[1].byte_end])["uuid"] == "s1-1"

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
    def test_utf16_is_read_at_its_own_bytes(self, tmp_path: Path, encoding: str) -> None:
        session = Session()
        session.user("Eins — ĊਊĀ.")  # code units with 0x0A bytes in them
        session.user("Zwei.")
        text = session.bytes().decode()
        mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
        data = mark + "\n".join(
            json.dumps(json.loads(line), ensure_ascii=False) for line in text.splitlines()
        ).encode(encoding)
        records = session.read(tmp_path, data)
        assert [(r.text, r.line_start) for r in records] == [("Eins — ĊਊĀ.", 0), ("Zwei.", 1)]
        raw = data[records[1].byte_start : records[1].byte_end]
        assert json.loads(raw.decode("utf-16-be" if mark else "utf-16-le"))["uuid"] == "s1-1"

    def test_a_huge_line_between_records_is_passed_over(self, tmp_path: Path) -> None:
        session = Session()
        session.user("Before.")
        session.user("After.")
        one, two = session.lines()
        scan = session.scan(tmp_path, one + b"\n" + b"A" * 8_000_000 + b"\n" + two + b"\n")
        assert [record.line_start for record in scan] == [0, 2]

    def test_a_first_line_longer_than_the_sample_does_not_hide_the_format(
        self, tmp_path: Path
    ) -> None:
        session = Session()
        session.user("Said.")
        scan = session.scan(tmp_path, b"A" * 600_000 + b"\n" + session.bytes())
        assert [(scan.format, record.line_start) for record in scan] == [("claude-code", 1)]


def test_only_records_inside_the_range_are_given_with_their_own_lines(tmp_path: Path) -> None:
    session = Session()
    for number in range(6):
        session.user(f"Turn {number}.")
    records = session.read(tmp_path, line_start=2, line_end=4)
    assert [(record.text, record.line_start) for record in records] == [
        ("Turn 2.", 2),
        ("Turn 3.", 3),
    ]
