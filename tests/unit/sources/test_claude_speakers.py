"""Who wrote a record of a Claude Code session: the user, the agent, or neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.sources.records import Record, RecordUse, Role

from .builders import Json, Session, uses

RESULT = (
    "<task-notification>\n<summary>We always deploy on Mondays.</summary>\n</task-notification>"
)


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ("<local-command-caveat>Caveat: the messages</local-command-caveat>", RecordUse.WRAPPER),
        ("<command-name>/clear</command-name>", RecordUse.WRAPPER),
        ("<command-message>review</command-message>\n<command-name>/review</command-name>",
         RecordUse.WRAPPER),
        ("<local-command-stdout>Bye!</local-command-stdout>", RecordUse.WRAPPER),
        ("<bash-input>git pull</bash-input>", RecordUse.WRAPPER),
        ("<bash-stdout>Already up to date.</bash-stdout>", RecordUse.WRAPPER),
        (RESULT, RecordUse.WRAPPER),
        (f"<system-reminder>Be brief.</system-reminder>\n{RESULT}", RecordUse.WRAPPER),
        (f"{RESULT}\nFull transcript available at: /tmp/t.output", RecordUse.WRAPPER),
        ("<ide_opened_file>The user opened plan.md</ide_opened_file>", RecordUse.WRAPPER),
        ("<ide_selection>lines 1 to 3</ide_selection>", RecordUse.WRAPPER),
        ("[Request interrupted by user for tool use]", RecordUse.WRAPPER),
        ("<system-reminder>Keep the list short.</system-reminder>", RecordUse.BOOT),
        ("Contents of /work/shop/CLAUDE.md (project instructions):\n\nUse tabs.", RecordUse.BOOT),
        ("# AGENTS.md instructions for /work/shop\n\nUse tabs.", RecordUse.BOOT),
        ("<relevant-memories>The user likes tea.</relevant-memories>", RecordUse.INJECTED),
        ("<memory>The user likes tea.</memory>", RecordUse.INJECTED),
        ("<claude-mem-context>The user likes tea.</claude-mem-context>", RecordUse.INJECTED),
        ("<recalled>The user likes tea.</recalled>", RecordUse.INJECTED),
    ],
)  # fmt: skip
def test_what_a_tool_put_into_the_users_turn_is_not_the_users(
    tmp_path: Path, text: str, use: RecordUse
) -> None:
    session = Session()
    session.user(text)
    session.user([{"type": "text", "text": text}])
    session.user("but this is")
    assert [each.use for each in session.read(tmp_path)] == [use, use, RecordUse.MESSAGE]


def words(text: str) -> Json:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("content", "typed"),
    [
        ("<user-memory-input>always run the linter</user-memory-input>", "always run the linter"),
        ("Rename the <memory> element to <store>.", "Rename the <memory> element to <store>."),
        ([words("<ide_opened_file>plan.md</ide_opened_file>"), words("follow it")], "follow it"),
        (f"Use tabs.\n{RESULT}\nFull transcript available at: /tmp/t.output", "Use tabs."),
        ("Use tabs. <system-reminder>Be brief.</system-reminder> Always.", "Use tabs. Always."),
    ],
    ids=["a note for memory", "a tag that is not closed", "an event of an editor", "a report",
         "a reminder"],
)  # fmt: skip
def test_of_a_turn_that_a_tool_added_to_the_typed_words_are_the_users(
    tmp_path: Path, content: str | list[Json], typed: str
) -> None:
    session = Session()
    session.user(content)
    (record,) = session.read(tmp_path)
    assert (record.use, " ".join(record.text.split())) == (RecordUse.MESSAGE, typed)


def test_what_is_cut_out_leaves_blanks_so_that_places_stay(tmp_path: Path) -> None:
    session = Session()
    text = "Use tabs. <system-reminder>\nKeep it short.\n</system-reminder> Always."
    session.user(text)
    scan = session.scan(tmp_path)
    [record] = scan
    assert len(record.text) == len(text)
    assert record.text.splitlines()[-1] == " Always."
    assert scan.tally["system reminder cut out"] == 1


def test_errors_of_the_service_are_not_the_agents_text(tmp_path: Path) -> None:
    session = Session()
    session.reply("API Error: 529 overloaded", isApiErrorMessage=True)
    message = {"model": "<synthetic>", "content": [{"type": "text", "text": "No response."}]}
    session.add("assistant", message=message)
    assert {record.use for record in session.read(tmp_path)} == {RecordUse.WRAPPER}


def test_the_summary_of_a_compaction_is_not_the_users_text(tmp_path: Path) -> None:
    session = Session()
    before = session.user("Use Postgres.")
    session.add("system", after=None, subtype="compact_boundary", logicalParentUuid=before)
    session.user("The user asked for Postgres.", isCompactSummary=True)
    session.user("This session is being continued from a previous conversation that ran out.")
    assert [(r.use, r.role) for r in session.read(tmp_path)] == [
        (RecordUse.MESSAGE, Role.USER),
        (RecordUse.SUMMARY, Role.ASSISTANT),
        (RecordUse.SUMMARY, Role.ASSISTANT),
    ]


class TestQueuedText:
    """Text that the user types while the agent is busy."""

    def test_is_told_once_when_older_history_comes_before_its_turn(self, tmp_path: Path) -> None:
        session = Session()
        at = "2026-02-14T12:00:00Z"
        for operation in ({"operation": "enqueue", "content": "go on"}, {"operation": "dequeue"}):
            session.bare("queue-operation", timestamp=at, **operation)
        for number in range(4):
            session.user(f"Old {number}.")
            session.reply(f"Old answer {number}.")
        session.user("go on", timestamp=at)
        assert [each.text for each in session.read(tmp_path)].count("go on") == 1

    def test_is_told_while_the_session_goes_on(self, tmp_path: Path) -> None:
        session = Session()
        session.bare("queue-operation", operation="enqueue", content="and log to a file")
        session.bare("queue-operation", operation="remove")
        for number in range(3):
            session.reply(f"Answer {number}.")
        texts = [each.text for each in session.scan(tmp_path).live() if isinstance(each, Record)]
        assert texts.index("and log to a file") < texts.index("Answer 2.")
        assert session.read(tmp_path)[0].text == "and log to a file"

    def test_two_of_them_leave_the_queue_in_any_order(self, tmp_path: Path) -> None:
        session = Session()
        session.bare("queue-operation", operation="enqueue", content="one")
        session.bare("queue-operation", operation="enqueue", content="two")
        queued = {"type": "queued_command", "prompt": "one", "commandMode": "prompt"}
        session.add("attachment", attachment=queued)
        session.bare("queue-operation", operation="remove")
        for number in range(3):
            session.reply(f"Answer {number}.")
        session.bare("queue-operation", operation="dequeue")
        session.user("two")
        said = [each.text for each in session.read(tmp_path) if each.role is Role.USER]
        assert said == ["one", "two"]

    def test_of_a_branch_that_was_left_is_rewound(self, tmp_path: Path) -> None:
        session = Session()
        fork = session.reply("Ready.")
        session.user("Use MySQL.")
        session.bare("queue-operation", operation="enqueue", content="with a test")
        session.user("Use Postgres.", after=fork)
        session.reply("Postgres it is.")
        assert dict(uses(session.read(tmp_path)))["with a test"] == "rewound"
