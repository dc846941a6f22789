"""A session as a reader needs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import LineRole, SessionView
from reviewer.proposing.view_pieces import view_text
from reviewer.sources.events import Speaker
from tests.unit.sessions.told import Step, Told, calls, fails, runs, user
from tests.unit.sources.builders import Session

REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). To tell you how to proceed, the"
    " user said:\n"
)


@pytest.fixture
def told() -> Told:
    return Told()


def view(session: Session, folder: Path, **lines: Any) -> SessionView:
    return read_view(session.write(folder / "session.jsonl"), **lines)


def shown(session: Session, folder: Path) -> list[tuple[str, str]]:
    """Role and text of every line, without the folder and branch that come first."""
    lines = view(session, folder).lines
    first = ("working folder: ", "branch: ")
    return [(line.role.value, line.text) for line in lines if not line.text.startswith(first)]


def test_dialogue_is_shown_in_full_at_its_lines(told: Told, tmp_path: Path) -> None:
    told.user("Fit the timetable on one page.\n\nKeep the night boats.")
    told.block({"type": "thinking", "thinking": "Hm."})
    told.reply("Done.\n\n- it is on A5")
    found = view(told, tmp_path)
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
        ("Bash", {"command": "x=1\ny=2\nz=3"}, "a\nb", "Bash: x=1 (+2 lines) -> a | b"),
        ("Bash", {"command": "make"}, "1\n2\n3\n4\n5\n6\n9 passed", "Bash: make -> … 9 passed"),
        ("Bash", {"command": "cat a | head"}, "1\n2\n3", "Bash: cat a | head -> 3 lines"),
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
            {"pattern": "x y", "path": "/work/shop/src"},
            "a.py",
            'Grep: "x y" in src -> a.py',
        ),
        ("mcp__web__open", {"url": "https://x.io"}, "Opened.", "web.open: https://x.io -> Opened."),
    ],
)
def test_a_call_is_one_line_with_a_short_result(
    told: Told, tmp_path: Path, name: str, given: dict[str, Any], result: str, line: str
) -> None:
    told.call(name, result, **given)
    assert shown(told, tmp_path) == [("tool", line)]


def test_a_long_command_is_cut_and_what_is_cut_is_counted(told: Told, tmp_path: Path) -> None:
    command = "echo " + "word " * 200
    told.call("Bash", None, command=command)
    (line,) = [line for line in view(told, tmp_path).lines if line.role is LineRole.TOOL]
    assert line.text.endswith(" …")
    assert len(line.text) < 200
    assert line.left_out > 700


def todos(*statuses: str) -> Step:
    steps = enumerate(statuses, 1)
    return calls(
        "TodoWrite", todos=[{"content": f"step {n}", "status": status} for n, status in steps]
    )


def report(status: str, text: str) -> str:
    """What is answered to an agent that waits for another one."""
    return (
        "<task_id>a1</task_id>\n\n<task_type>local_agent</task_type>\n\n"
        f"<status>{status}</status>\n\n<output>\n{text}</output>"
    )


MESSAGE = (
    "git add -A && git commit -m \"$(cat <<'EOF'\nPrint on A5\n\nThe tray holds no A4."
    '\n\nCo-Authored-By: Claude <noreply@anthropic.com>\nEOF\n)"'
)
PAPERS = [{"question": "Which paper?", "options": [{"label": "A5"}, {"label": "A4"}]}]
LINES: dict[str, tuple[list[Step], list[str]]] = {
    "an error by its first and last lines": (
        [fails("make test", "\n".join(f"line {number}" for number in range(50)))],
        ["harness tool: Bash: make test",
         "harness error: Bash: Exit code 1 | line 0 | line 1 | line 2 | … | line 44 | line 45"
         " | line 46 | line 47 | line 48 | line 49"],
    ),
    "a refused call with the person's words": (
        [calls("Bash", f"{REFUSAL}from origin/main,\nnever the local main\n\nNote: The user's next"
               " message may contain a correction or preference.",
               failed=True, command="git merge main"),
         user("[Request interrupted by user for tool use]")],
        ["harness tool: Bash: git merge main",
         "person rejected: refused: Bash: git merge main; the person said: from origin/main,\n"
         "never the local main",
         "harness event: [Request interrupted by user for tool use]"],
    ),
    "a to-do list in full and then by what changed": (
        [todos("in_progress", "pending"), todos("completed", "in_progress"),
         calls("TaskCreate", "Task #7 created successfully: print it", subject="print it"),
         calls("TaskUpdate", taskId="7", status="completed")],
        ["agent event: to-do list: [~] step 1; [ ] step 2",
         "agent event: to-do (1 of 2 done): [x] step 1; [~] step 2",
         "agent event: to-do (0 of 1 done): [ ] print it",
         "agent event: to-do (1 of 1 done): [x] print it"],
    ),
    "a commit with its message, branch and hash": (
        [runs(MESSAGE, "[main 1a2b3c4] Print on A5\n 1 file changed"),
         runs("git commit --amend -m 'Print on A6'", "nothing to commit")],
        ["agent event: git commit: Print on A5 [main 1a2b3c4]\n\nThe tray holds no A4.",
         "agent event: git commit: Print on A6 -> nothing to commit"],
    ),
    "a pull request with its text and address": (
        [runs('gh pr create --title "A5" --body "The tray holds no A4."',
              "https://github.com/x/y/pull/7")],
        ["agent event: gh pr create: A5\n\nThe tray holds no A4. -> https://github.com/x/y/pull/7"],
    ),
    "a plan with what the person decided": (
        [calls("ExitPlanMode", "User has approved your plan. You can now start coding.",
               plan="# Plan\n1. print"),
         calls("ExitPlanMode", f"{REFUSAL}do not fold", failed=True, plan="# Plan\n2. fold")],
        ["agent assistant: plan: # Plan\n1. print", "harness event: approved the plan",
         "agent assistant: plan: # Plan\n2. fold",
         "person rejected: refused: the plan; the person said: do not fold"],
    ),
    "a plan carried over as the agent's": (
        [user("Implement the following plan:\n\n# Print on A5")],
        ["person user: Implement the following plan:", "agent user: # Print on A5"],
    ),
    "the answers to an agent's questions as the person's": (
        [calls("AskUserQuestion", 'User has answered your questions: "Which paper?"="A5, always".'
               " You can now continue.", questions=PAPERS)],
        ["agent assistant: asks: Which paper? (A5 | A4)",
         'person user: answered: "Which paper?"="A5, always"'],
    ),
    "a report that was waited for when it is complete": (
        [calls("TaskOutput", report("running", ""), task_id="a1"),
         calls("TaskOutput", report("completed", "There are 3 trays.\n"), task_id="a1")],
        ['harness tool: TaskOutput: {"task_id":"a1"} -> running',
         'harness tool: TaskOutput: {"task_id":"a1"} -> completed',
         "subagent assistant: There are 3 trays."],
    ),
    "summaries as the harness's": (
        [lambda told: told.user("This session is being continued ...", isCompactSummary=True),
         lambda told: told.add("system", subtype="away_summary", content="3 trays were counted.")],
        ["harness summary: This session is being continued ...",
         "harness summary: 3 trays were counted."],
    ),
    "another folder whose name begins like the one before": (
        [lambda told: setattr(told, "cwd", "/work/shop-web"),
         calls("Read", "x", file_path="/work/shop-web/index.html")],
        ["harness event: working folder: /work/shop-web", "harness tool: Read: index.html -> x"],
    ),
    "commands of the person as events, and no wrappers": (
        [user("<command-name>/review</command-name><command-args>PR 7</command-args>"),
         user("<bash-input>git pull</bash-input>"),
         user("<bash-stdout>Already up to date.</bash-stdout><bash-stderr></bash-stderr>"),
         user("<ide_opened_file>The user opened a.py</ide_opened_file>"),
         user("Contents of /work/shop/CLAUDE.md:\n" + "Use tabs.\n" * 100),
         user("<system-reminder>Be brief.</system-reminder>Print it.")],
        ["person event: /review PR 7", "harness event: ! git pull",
         "harness tool: -> Already up to date.",
         "harness event: ... boot text left out: Contents of /work/shop/CLAUDE.md:"
         " (1,033 characters) ...",
         "person user: Print it."],
    ),
}  # fmt: skip
"""What happened in a session, and its lines with who speaks in each."""


@pytest.mark.parametrize("what", LINES)
def test_a_session_shows(told: Told, tmp_path: Path, what: str) -> None:
    steps, expected = LINES[what]
    told.user("Print the timetable.")
    lines = view(told.go(steps), tmp_path).lines[3:]
    assert [f"{line.speaker} {line.role}: {line.text}" for line in lines] == expected


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
    told: Told, tmp_path: Path, command: str, beside: list[str]
) -> None:
    told.call("Bash", None, command=command)
    found = shown(told, tmp_path)
    assert [text for role, text in found if role == "tool"] == beside
    assert ("event", "git commit: A5") in found


def test_a_poll_of_a_commit_in_the_background_is_no_commit(told: Told, tmp_path: Path) -> None:
    told.call("Bash", "Command running in background with ID: b1", command="git commit -m A5")
    for _ in range(2):
        told.call("BashOutput", "<status>running</status>", bash_id="b1")
    assert [role for role, _ in shown(told, tmp_path)].count("event") == 1


def test_sub_agents_are_shown_by_their_task_and_their_final_report(
    told: Told, tmp_path: Path
) -> None:
    told.call("Task", None, description="Count", prompt="Count the trays.")
    told.user("Count the trays.", isSidechain=True)
    told.block({"type": "text", "text": "Looking."}, isSidechain=True)
    told.block({"type": "text", "text": "There are 3 trays."}, isSidechain=True)
    answer = [{"type": "text", "text": "There are 3 trays.\nagentId: a1 (use SendMessage)"}]
    told.user([{"type": "tool_result", "tool_use_id": "t0", "content": answer}])
    told.user(
        "<task-notification><status>completed</status><summary>Agent done</summary>"
        "<result>There are 3 trays.</result></task-notification>"
    )
    lines = view(told, tmp_path).lines[2:]
    assert view_text(lines) == (
        "[0] TOOL: Task: Count the trays.\n"
        "[1] AGENT TO AGENT: Count the trays.\n"
        "[2] SUBAGENT: Looking.\n"
        "[3] SUBAGENT: There are 3 trays.\n"
        "[5] EVENT: Agent done"
    )


def test_a_paste_is_shortened_and_its_length_given(told: Told, tmp_path: Path) -> None:
    log = "\n".join(f"2026-02-14 10:00:{at:02} INFO tray {at} is empty" for at in range(60))
    told.user(f"It stopped here:\n{log}\nWhat do you make of it?")
    line = view(told, tmp_path).lines[-1]
    assert line.text.startswith("It stopped here:\n2026-02-14 10:00:00 INFO tray 0 is empty\n")
    assert "\n... 55 lines of a paste left out ...\n" in line.text
    assert line.text.endswith("INFO tray 59 is empty\nWhat do you make of it?")
    assert line.left_out > 55 * 40


def test_secrets_are_masked_everywhere(told: Told, tmp_path: Path) -> None:
    secret = "ghp_" + "a8Fk29xQ" * 5
    told.user(f"The token is {secret}")
    told.run(f"curl -H 'Authorization: Bearer {secret}' x.io", f"{secret} expired", failed=True)
    told.call("TodoWrite", todos=[{"content": f"revoke {secret}", "status": "pending"}])
    told.refuse("Bash", f"not {secret}", command=f"git commit -m 'Use {secret}'")
    text = view_text(view(told, tmp_path).lines)
    assert secret not in text
    assert text.count("[masked github-token]") == 6


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
