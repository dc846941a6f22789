"""A session as a reader needs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewer.proposing.session_view import read_view, view_text
from reviewer.proposing.values import LineRole, SessionView
from reviewer.sources.events import Speaker
from tests.unit.sources.builders import Session

REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). To tell you how to proceed, the"
    " user said:\n"
)


class Desk(Session):
    """A session in which tools are called."""

    def call(self, name: str, number: str = "t1", **given: Any) -> str:
        return self.block({"type": "tool_use", "id": number, "name": name, "input": given})

    def answer(self, text: Any, number: str = "t1", *, error: bool = False, **more: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": number, "content": text}
        return self.user([{**block, "is_error": True} if error else block], **more)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def view(session: Session, folder: Path, **lines: Any) -> SessionView:
    path = folder / "session.jsonl"
    path.write_bytes(session.bytes())
    return read_view(path, **lines)


def shown(session: Session, folder: Path) -> list[tuple[str, str]]:
    """Role and text of every line, without the folder and branch that come first."""
    lines = view(session, folder).lines
    first = ("working folder: ", "branch: ")
    return [(line.role.value, line.text) for line in lines if not line.text.startswith(first)]


def test_dialogue_is_shown_in_full_at_its_lines(desk: Desk, tmp_path: Path) -> None:
    desk.user("Fit the timetable on one page.\n\nKeep the night boats.")
    desk.block({"type": "thinking", "thinking": "Hm."})
    desk.reply("Done.\n\n- it is on A5")
    found = view(desk, tmp_path)
    assert view_text(found.lines) == (
        "[0] EVENT: working folder: /work/shop\n"
        "[0] EVENT: branch: main\n"
        "[0] USER: Fit the timetable on one page.\n\nKeep the night boats.\n"
        "[2] ASSISTANT: Done.\n\n- it is on A5"
    )
    assert found.lines[2].speaker is Speaker.PERSON
    assert found.lines[3].speaker is Speaker.AGENT
    assert found.tally["thinking"] == 1
    assert found.format == "claude-code"


@pytest.mark.parametrize(
    ("name", "given", "result", "line"),
    [
        ("Bash", {"command": "make test"}, "ok", "Bash: make test -> ok"),
        ("Bash", {"command": "cd /work/shop && ls"}, "", "Bash: ls -> no output"),
        (
            "Bash",
            {"command": "x=1\ny=2\nz=3"},
            "a\nb\nc",
            "Bash: x=1 (+2 lines) -> a | b | c",
        ),
        (
            "Bash",
            {"command": "make test"},
            "1\n2\n3\n4\n5\n6\n12 tests passed",
            "Bash: make test -> … 12 tests passed",
        ),
        (
            "Bash",
            {"command": "cat a.py | head -3"},
            "1\n2\n3",
            "Bash: cat a.py | head -3 -> 3 lines",
        ),
        ("Bash", {"command": "cat a > b"}, "1\n2\n3", "Bash: cat a > b -> 1 | 2 | 3"),
        ("Read", {"file_path": "/work/shop/a.py"}, "1\n2\n3", "Read: a.py -> 3 lines"),
        (
            "Edit",
            {"file_path": "/work/shop/a.py", "old_string": "x", "new_string": "y\nz"},
            "The file was updated.",
            "Edit: a.py (-1 +2 lines)",
        ),
        ("Write", {"file_path": "/tmp/b", "content": "x\ny"}, "Made.", "Write: /tmp/b (2 lines)"),
        (
            "Grep",
            {"pattern": "def x", "path": "/work/shop/src"},
            "src/a.py",
            'Grep: "def x" in src -> src/a.py',
        ),
        ("mcp__web__open", {"url": "https://x.io"}, "Opened.", "web.open: https://x.io -> Opened."),
    ],
)
def test_a_call_is_one_line_with_a_short_result(
    desk: Desk, tmp_path: Path, name: str, given: dict[str, Any], result: str, line: str
) -> None:
    desk.call(name, **given)
    desk.answer(result)
    assert shown(desk, tmp_path) == [("tool", line)]


def test_a_long_command_is_cut_and_what_is_cut_is_counted(desk: Desk, tmp_path: Path) -> None:
    command = "echo " + "word " * 200
    desk.call("Bash", command=command)
    (line,) = [line for line in view(desk, tmp_path).lines if line.role is LineRole.TOOL]
    assert line.text.endswith(" …")
    assert len(line.text) < 200
    assert line.left_out > 700


def test_an_error_is_shown_by_its_first_and_last_lines(desk: Desk, tmp_path: Path) -> None:
    noise = "\n".join(f"line {number}" for number in range(50))
    desk.call("Bash", command="make test")
    desk.answer(f"Exit code 2\n{noise}", error=True)
    assert shown(desk, tmp_path) == [
        ("tool", "Bash: make test"),
        (
            "error",
            "Bash: Exit code 2 | line 0 | line 1 | line 2 | … | line 44 | line 45 | line 46"
            " | line 47 | line 48 | line 49",
        ),
    ]


def test_a_refused_call_has_the_persons_words(desk: Desk, tmp_path: Path) -> None:
    desk.call("Bash", command="git merge main")
    desk.answer(
        f"{REFUSAL}merge from origin/main,\nnever the local main\n\nNote: The user's next message "
        "may contain a correction or preference.",
        error=True,
    )
    desk.user("[Request interrupted by user for tool use]")
    assert shown(desk, tmp_path)[1:] == [
        (
            "rejected",
            "refused: Bash: git merge main; the person said: merge from origin/main,\n"
            "never the local main",
        ),
        ("event", "[Request interrupted by user for tool use]"),
    ]
    refused, interrupted = view(desk, tmp_path).lines[-2:]
    assert (refused.speaker, interrupted.speaker) == (Speaker.PERSON, Speaker.HARNESS)


def test_to_do_lists_are_shown_in_full_and_then_by_what_changed(desk: Desk, tmp_path: Path) -> None:
    def todos(*statuses: str) -> list[dict[str, str]]:
        return [
            {"content": f"step {number}", "status": status}
            for number, status in enumerate(statuses, 1)
        ]

    desk.call("TodoWrite", todos=todos("in_progress", "pending"))
    desk.call("TodoWrite", todos=todos("completed", "in_progress"))
    desk.call("TaskCreate", "t2", subject="print it", description="on A5")
    desk.answer("Task #7 created successfully: print it", "t2")
    desk.call("TaskUpdate", taskId="7", status="completed")
    assert shown(desk, tmp_path) == [
        ("event", "to-do list: [~] step 1; [ ] step 2"),
        ("event", "to-do (1 of 2 done): [x] step 1; [~] step 2"),
        ("event", "to-do (0 of 1 done): [ ] print it"),
        ("event", "to-do (1 of 1 done): [x] print it"),
    ]


def test_a_commit_has_its_message_branch_and_hash(desk: Desk, tmp_path: Path) -> None:
    desk.call(
        "Bash",
        command="git add -A && git commit -m \"$(cat <<'EOF'\nPrint on A5\n\nThe tray holds no A4."
        '\n\nCo-Authored-By: Claude <noreply@anthropic.com>\nEOF\n)"',
    )
    desk.answer("[main 1a2b3c4] Print on A5\n 1 file changed")
    desk.call("Bash", "t2", command="git commit --amend -m 'Print on A6'")
    desk.answer("nothing to commit", "t2")
    assert shown(desk, tmp_path) == [
        ("event", "commit: Print on A5 [main 1a2b3c4]\n\nThe tray holds no A4."),
        ("event", "commit: Print on A6 -> nothing to commit"),
    ]


@pytest.mark.parametrize(
    ("command", "beside"),
    [
        ("make check && git commit -m A5", ["Bash: make check && git commit -m A5"]),
        ("cd app && git add -A && git commit -m A5 && git push", []),
        ("git add -A\ngit commit -m A5\nmake", ["Bash: git add -A (+2 lines)"]),
        ("git commit -F - <<EOF\nA5\nEOF", []),
    ],
)
def test_a_command_that_does_more_than_a_commit_has_a_line(
    desk: Desk, tmp_path: Path, command: str, beside: list[str]
) -> None:
    desk.call("Bash", command=command)
    found = shown(desk, tmp_path)
    assert [text for role, text in found if role == "tool"] == beside
    assert ("event", "commit: A5") in found


def test_a_pull_request_has_its_text_and_address(desk: Desk, tmp_path: Path) -> None:
    desk.call("Bash", command='gh pr create --title "A5" --body "The tray holds no A4."')
    desk.answer("https://github.com/x/y/pull/7")
    assert shown(desk, tmp_path) == [
        ("event", "pull request: A5\n\nThe tray holds no A4. -> https://github.com/x/y/pull/7")
    ]


def test_a_plan_is_shown_with_what_the_person_decided(desk: Desk, tmp_path: Path) -> None:
    desk.call("ExitPlanMode", plan="# Plan\n1. print")
    desk.answer("User has approved your plan. You can now start coding.")
    desk.call("ExitPlanMode", "t2", plan="# Plan\n2. fold")
    desk.answer(f"{REFUSAL}do not fold", "t2", error=True)
    assert shown(desk, tmp_path) == [
        ("assistant", "plan: # Plan\n1. print"),
        ("event", "approved the plan"),
        ("assistant", "plan: # Plan\n2. fold"),
        ("rejected", "refused: the plan; the person said: do not fold"),
    ]


def test_a_plan_carried_over_is_the_agents_not_the_persons(desk: Desk, tmp_path: Path) -> None:
    desk.user("Implement the following plan:\n\n# Print on A5")
    lines = view(desk, tmp_path).lines[2:]
    assert [(line.speaker, line.text) for line in lines] == [
        (Speaker.PERSON, "Implement the following plan:"),
        (Speaker.AGENT, "# Print on A5"),
    ]


def test_the_answers_to_an_agents_questions_are_the_persons(desk: Desk, tmp_path: Path) -> None:
    asked = {"question": "Which paper?", "options": [{"label": "A5"}, {"label": "A4"}]}
    desk.call("AskUserQuestion", questions=[asked])
    desk.answer(
        'User has answered your questions: "Which paper?"="A5, always". You can now continue.'
    )
    lines = view(desk, tmp_path).lines[2:]
    assert [(line.role, line.speaker, line.text) for line in lines] == [
        (LineRole.ASSISTANT, Speaker.AGENT, "asks: Which paper? (A5 | A4)"),
        (LineRole.USER, Speaker.PERSON, 'answered: "Which paper?"="A5, always"'),
    ]


def test_sub_agents_are_shown_by_their_task_and_their_final_report(
    desk: Desk, tmp_path: Path
) -> None:
    desk.call("Task", description="Count", subagent_type="Explore", prompt="Count the trays.")
    desk.user("Count the trays.", isSidechain=True)
    desk.block({"type": "text", "text": "Looking."}, isSidechain=True)
    desk.block({"type": "text", "text": "There are 3 trays."}, isSidechain=True)
    desk.answer([{"type": "text", "text": "There are 3 trays.\nagentId: a1 (use SendMessage)"}])
    desk.user(
        "<task-notification><status>completed</status><summary>Agent done</summary>"
        "<result>There are 3 trays.</result></task-notification>"
    )
    lines = view(desk, tmp_path).lines[2:]
    assert view_text(lines) == (
        "[0] TOOL: Task: Count the trays.\n"
        "[1] AGENT TO AGENT: Count the trays.\n"
        "[2] SUBAGENT: Looking.\n"
        "[3] SUBAGENT: There are 3 trays.\n"
        "[5] EVENT: Agent done"
    )


def test_a_report_that_was_waited_for_is_shown_when_it_is_complete(
    desk: Desk, tmp_path: Path
) -> None:
    task = "<task_id>a1</task_id>\n\n<task_type>local_agent</task_type>\n\n<status>{}</status>\n\n"
    output = "<output>\n"
    desk.call("TaskOutput", task_id="a1")
    desk.answer(f"{task.format('running')}{output}</output>")
    desk.call("TaskOutput", "t2", task_id="a1")
    desk.answer(f"{task.format('completed')}{output}There are 3 trays.\n</output>", "t2")
    assert shown(desk, tmp_path) == [
        ("tool", 'TaskOutput: {"task_id":"a1"} -> running'),
        ("tool", 'TaskOutput: {"task_id":"a1"} -> completed'),
        ("assistant", "There are 3 trays."),
    ]


def test_summaries_are_the_harness_and_not_the_person(desk: Desk, tmp_path: Path) -> None:
    desk.user("This session is being continued ...\n1. Request: A5", isCompactSummary=True)
    desk.add("system", subtype="away_summary", content="The trays were counted.")
    lines = view(desk, tmp_path).lines[2:]
    assert [(line.role, line.speaker, line.line) for line in lines] == [
        (LineRole.SUMMARY, Speaker.HARNESS, 0),
        (LineRole.SUMMARY, Speaker.HARNESS, 1),
    ]
    assert lines[1].text == "The trays were counted."


def test_commands_of_the_person_are_events_and_wrappers_are_left_out(
    desk: Desk, tmp_path: Path
) -> None:
    desk.user("<command-name>/review</command-name><command-args>PR 7</command-args>")
    desk.user("<bash-input>git pull</bash-input>")
    desk.user("<bash-stdout>Already up to date.</bash-stdout><bash-stderr></bash-stderr>")
    desk.user("<ide_opened_file>The user opened a.py</ide_opened_file>")
    desk.user("Contents of /work/shop/CLAUDE.md:\n" + "Use tabs.\n" * 100)
    desk.user("<system-reminder>Be brief.</system-reminder>Print it.")
    assert shown(desk, tmp_path) == [
        ("event", "/review PR 7"),
        ("event", "! git pull"),
        ("tool", "-> Already up to date."),
        (
            "event",
            "... boot text left out: Contents of /work/shop/CLAUDE.md: (1,033 characters) ...",
        ),
        ("user", "Print it."),
    ]
    assert view(desk, tmp_path).tally["wrapper"] == 1


def test_a_paste_is_shortened_and_its_length_given(desk: Desk, tmp_path: Path) -> None:
    log = "\n".join(f"2026-02-14 10:00:{at:02} INFO tray {at} is empty" for at in range(60))
    desk.user(f"It stopped here:\n{log}\nWhat do you make of it?")
    line = view(desk, tmp_path).lines[-1]
    assert line.text.startswith("It stopped here:\n2026-02-14 10:00:00 INFO tray 0 is empty\n")
    assert "\n... 55 lines of a paste left out ...\n" in line.text
    assert line.text.endswith("INFO tray 59 is empty\nWhat do you make of it?")
    assert line.left_out > 55 * 40


def test_secrets_are_masked_everywhere(desk: Desk, tmp_path: Path) -> None:
    secret = "ghp_" + "a8Fk29xQ" * 5
    desk.user(f"The token is {secret}")
    desk.call("Bash", command=f"curl -H 'Authorization: Bearer {secret}' x.io")
    desk.answer(f"fatal: token {secret} expired", error=True)
    desk.call("TodoWrite", todos=[{"content": f"revoke {secret}", "status": "pending"}])
    desk.call("Bash", "t2", command=f"git commit -m 'Use {secret}'")
    desk.answer(f"{REFUSAL}not {secret}", "t2", error=True)
    text = view_text(view(desk, tmp_path).lines)
    assert secret not in text
    assert text.count("[masked github-token]") == 6


def test_a_conversation_in_one_json_document_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    call = {"id": "c1", "function": {"name": "find", "arguments": '{"query": "ferry"}'}}
    messages = [
        {"role": "system", "content": "You are a clerk.\n" + "You are kind.\n" * 60},
        {"role": "user", "content": "When is the ferry?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "at 7"},
        {"role": "assistant", "content": "At 7."},
    ]
    path.write_text(json.dumps(messages, indent=0))
    assert [(line.role.value, line.text) for line in read_view(path).lines] == [
        ("event", "... boot text left out: You are a clerk. (856 characters) ..."),
        ("user", "When is the ferry?"),
        ("tool", "find: ferry -> at 7"),
        ("assistant", "At 7."),
    ]  # fmt: skip


def test_steps_of_an_orchestrator_are_shown_with_the_commands_that_it_ran(tmp_path: Path) -> None:
    path = tmp_path / "run.atif.jsonl"
    ran = {"command": "make test", "passed": False, "output": "error: no shelf"}
    steps: list[dict[str, object]] = [
        {"__header__": True, "schema_version": "ATIF-v1.4", "session_id": "s1"},
        {"step_id": 1, "source": "system", "message": "Selected task: Mend the shelf"},
        {
            "step_id": 2,
            "source": "system",
            "message": "",
            "observation": {"results": [{"content": ran}]},
        },
    ]
    path.write_text("".join(json.dumps(step) + "\n" for step in steps))
    assert [(line.role.value, line.text) for line in read_view(path).lines] == [
        ("event", "Selected task: Mend the shelf"),
        ("tool", "shell: make test"),
        ("error", "shell: error: no shelf"),
    ]
