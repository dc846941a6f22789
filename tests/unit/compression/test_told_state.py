"""What a summary of a session's file says about the state of the work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewer.compression.file_summary import summarize_file
from reviewer.compression.handover import brief_of, write_brief
from reviewer.compression.values import Level
from reviewer.engine import Engine
from tests.unit.sessions.told import Step, Told, calls, edits, fails, runs, user

SHOP = "/work/shop"
LOG = " ".join(f"Receipt {number} of till {number % 7} came late." for number in range(200))
"""Something long to read: the summary of a short file is hardly longer than that."""


def told(path: Path) -> str:
    [found] = summarize_file(path, levels=[Level.BRIEF], max_tokens=800)
    return found.segment.content


def claude(folder: Path) -> Told:
    session = Told(folder=folder)
    session.user(LOG)
    session.user("Keep the port open between two receipts, and say when it is done.")
    return session


def codex(path: Path, *items: dict[str, Any]) -> Path:
    """A session of Codex that starts on the branch `main`."""
    start = {"id": "c1", "cwd": SHOP, "cli_version": "0.99", "git": {"branch": "main"}}
    said = {"type": "user_message", "message": f"{LOG} Why?", "kind": "plain"}
    lines = [
        ("session_meta", start),
        ("event_msg", said),
        *(("response_item", item) for item in items),
    ]
    records = (
        {"timestamp": f"2026-02-14T10:00:{second:02}Z", "type": kind, "payload": payload}
        for second, (kind, payload) in enumerate(lines)
    )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def ran(number: int, cmd: str, printed: str, folder: str) -> list[dict[str, Any]]:
    given = json.dumps({"cmd": cmd, "workdir": folder})
    call = {"name": "exec_command", "arguments": given, "call_id": f"c{number}"}
    output = f"Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n{printed}"
    result = {"call_id": f"c{number}", "output": output}
    return [
        {"type": "function_call", **call},
        {"type": "function_call_output", **result},
    ]


# Place


def test_a_branch_that_only_the_start_names_is_told_as_that(tmp_path: Path) -> None:
    looked = ran(1, "ls", "queue.py", SHOP)
    path = codex(tmp_path / "rollout.jsonl", *looked)
    assert f"On branch main when the session began, in {SHOP}." in told(path)
    asked = ran(2, "git status -sb", "## faster\n M queue.py", SHOP)
    codex(path, *looked, *asked)
    assert f"On branch faster, in {SHOP}." in told(path)


def test_work_is_where_the_calls_ran_that_changed_files(tmp_path: Path) -> None:
    tree = "/work/shop.trees/faster"
    patch = f"*** Begin Patch\n*** Update File: {tree}/queue.py\n@@\n-a = 1\n+a = 2\n*** End Patch"
    items = [
        *ran(1, "git status", "On branch faster\nnothing to commit", tree),
        {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "p1"},
        {"type": "custom_tool_call_output", "call_id": "p1", "output": "Done!"},
        *ran(2, "ls", "queue.py", SHOP),
    ]
    found = told(codex(tmp_path / "rollout.jsonl", *items))
    assert f"On branch faster, in {tree}." in found
    assert "no commit of it seen (1): queue.py" in found


def test_a_detached_head_is_no_branch(tmp_path: Path) -> None:
    session = claude(tmp_path)
    for record in session.records:
        record["gitBranch"] = "HEAD"
    assert f"On a detached HEAD, in {SHOP}." in told(session.write(tmp_path / "session.jsonl"))


# Changes, checks and calls


READS: list[Step] = [
    lambda told: told.reply("I look at `queue.py`."), runs("sed -n 1,9p queue.py", "a = 1"),
]  # fmt: skip
SAID: dict[str, tuple[list[Step], list[str], list[str]]] = {
    "changes taken back lose their names": (
        [edits("queue.py", new="def open_port_twice():\n    pass"),
         runs("git checkout -- queue.py"),
         edits("queue.py", new="def keep_port_open():\n    pass")],
        ["queue.py (keep_port_open)"], ["open_port_twice()"],
    ),
    "a sub-agent after the last change": (
        [edits("queue.py"),
         calls("Task", "The port stays open now.", prompt="Fix the port", description="Fix it"),
         runs("pytest -q", "3 passed")],
        ["after the last change seen (queue.py; a sub-agent may have changed files since): "
         "`pytest -q`: passed."],
        [],
    ),
    "a command of the person is no sub-agent": (
        [edits("queue.py"), user("<bash-input>ls</bash-input>"),
         user("<bash-stdout>queue.py</bash-stdout><bash-stderr></bash-stderr>")],
        ["(last change seen: queue.py)."], [],
    ),
    "a push that was refused": (
        [edits("queue.py"),
         runs("git commit -am x", "[main 1a2b3c4] Keep the port open\n 1 file changed"),
         fails("git push", "hook: no pushes on Sundays")],
        ["Committed (a push was tried and failed): 1a2b3c4 Keep the port open"], [],
    ),
    "a commit under the hash that a rebase gave it": (
        [edits("queue.py"),
         runs("git commit -am x", "[main 1a2b3c4] Keep the port open\n 1 file changed"),
         fails("git push", " ! [rejected] main -> main (fetch first)"),
         runs("git pull --rebase", "Successfully rebased and updated refs/heads/main."),
         runs("git push", "To a.git\n   0d0e0f0..5e6f7a8  main -> main"),
         runs("git log --oneline -1", "5e6f7a8 Keep the port open")],
        ["Committed (pushed): 5e6f7a8 Keep the port open"], ["): 1a2b3c4"],
    ),
    "not the hash of another commit of the same name": (
        [edits("queue.py"), runs("git commit -am x", "[main 1a2b3c4] wip\n 1 file changed"),
         edits("queue.py"), runs("git commit -am x", "[main 2b3c4d5] wip\n 1 file changed"),
         runs("git rebase main", "Successfully rebased and updated refs/heads/main."),
         runs("git log --oneline -1", "5e6f7a8 wip")],
        ["Now:"], ["): 5e6f7a8 wip"],
    ),
    "not as it was on the branch before a rebase": (
        [edits("queue.py"), runs("git commit -am x", "[main 1a2b3c4] Keep\n 1 file changed"),
         runs("git rebase main", "Successfully rebased and updated refs/heads/main."),
         runs("git log --oneline -1 backup", "1a2b3c4 Keep")],
        ["Now:"], ["Committed (no push seen): 1a2b3c4"],
    ),
    "a merge that made a commit, beside the changes that are not in it": (
        [edits("queue.py"), runs("git merge origin/faster --no-edit",
                                 "Merge made by the 'ort' strategy.\n queue.py | 2 +-")],
        ["Changed in this session, no commit of it seen (1): queue.py",
         "Committed (no push seen): (hash not seen) git merge origin/faster",
         "Last changes:\nqueue.py (edited)"], [],
    ),
    "a check that ran before a merge": (
        [edits("queue.py"), runs("ruff check .", "All checks passed!"),
         runs("git merge faster", "Updating 1a2b3c4..5e6f7a8\nFast-forward"),
         runs("pytest -q", "3 passed"), edits("queue.py", "a = 2", "a = 3")],
        ["Not run again since that change, before it: `ruff check .`: passed; "
         "`pytest -q`: passed."], [],
    ),
    "a failure that a later check of its kind may have settled": (
        [edits("queue.py"), fails("pytest -q till", "1 failed"), edits("queue.py", "2", "3"),
         runs("make test", "3 passed")],
        ["`make test`: passed"], ["Not run again"],
    ),
    "equal calls where the last one is": (
        [edits("queue.py"), fails("pytest -q", "1 failed"),
         runs("pytest -q 2>&1 | tail -1", "3 passed"), edits("queue.py", "a = 2", "a = 3")],
        ["tail -1`: exit code not seen", "edited queue.py"], ["1 failed"],
    ),
    "what was read": (READS, ["sed -n"], []),
    "but not beside what was done": (
        [*READS, runs("sed -i 's/1/2/' queue.py"),
         runs("sed -E --in-place=.old 's/2/3/' queue.py")],
        ["sed -i", "sed -E --in-place"], ["sed -n"],
    ),
    "an agent that waits for a command is at work": (
        [lambda told: told.reply("The suite runs. I wait for its end."),
         calls("BashOutput", "3 passed so far", bash_id="b1")],
        ["The agent was still at work on it."], [],
    ),
}  # fmt: skip
"""What was done about the request, what is said of it in this order, and what is not."""


@pytest.mark.parametrize("what", SAID)
def test_the_summary_says(tmp_path: Path, what: str) -> None:
    steps, there, absent = SAID[what]
    found = told(claude(tmp_path).go(steps).write(tmp_path / "session.jsonl"))
    places = [found.index(text) for text in there]
    assert places == sorted(places)
    assert not [text for text in absent if text in found]


def test_the_state_of_a_range_counts_what_came_before_it_and_its_course_does_not(
    tmp_path: Path,
) -> None:
    session = Told(folder=tmp_path)
    session.user("Paint the drawer green.")
    session.edit(f"{SHOP}/drawer.py", new="def paint_green():\n    pass")
    session.run("pytest -q", "3 passed")
    begin = len(session.records)
    session.user(LOG)
    session.user("Keep the port open between two receipts, and say when it is done.")
    session.edit(f"{SHOP}/queue.py")
    path = session.write(tmp_path / "session.jsonl")
    [found] = summarize_file(path, levels=[Level.BRIEF], line_start=begin, max_tokens=800)
    text = found.segment.content
    assert "no commit of it seen (2): queue.py, drawer.py" in text
    assert "Not run again since that change, before it: `pytest -q`: passed." in text
    assert "green" not in text
    assert found.segment.original_token_count == sum(each.tokens for each in found.source.turns)


def test_a_command_in_the_background_is_told_once_with_its_end(tmp_path: Path) -> None:
    session = claude(tmp_path)
    started = "Command running in background with ID: b1"
    session.call("Bash", started, command="make stamps", run_in_background=True)
    session.run("make labels", "done")
    found = told(session.write(tmp_path / "session.jsonl"))
    assert "`make stamps`; `make labels`" in found
    session.call("BashOutput", "Process exited with code 2\nno ink", bash_id="b1")
    found = told(session.write(tmp_path / "session.jsonl"))
    assert found.count("make stamps") == 1
    assert "`make stamps`: exit 2" in found


# The person's words


def test_a_command_of_the_person_is_no_call_of_the_agent(tmp_path: Path) -> None:
    at = "2026-02-14T10:00:00Z"
    asked = {"role": "user", "content": [{"type": "text", "text": "Which files are there?"}]}
    answer = {"role": "assistant", "content": [{"type": "text", "text": f"Only queue.py. {LOG}"}]}
    typed = {"role": "bashExecution", "command": "find .", "output": "./queue.py", "exitCode": 0}
    entries = [
        {"type": "session", "id": "s1", "timestamp": at, "cwd": SHOP},
        *(
            {"type": "message", "timestamp": at, "message": {**message, "timestamp": 1}}
            for message in (asked, answer, typed)
        ),
    ]
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    found = told(path)
    assert "Only queue.py" in found
    assert "find ." not in found
    assert "still at work" not in found


def test_a_question_put_by_a_tool_is_what_was_asked(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.reply("There are two ways. Shall I list them?")
    question = "How long may the port stay open?"
    session.call("ask_user", "User responded: An hour", question=question, choices=["An hour"])
    found = told(session.write(tmp_path / "session.jsonl"))
    assert found.startswith('Request:\n"Keep the port open between two receipts')
    assert f'The agent had asked: "{question}"\nThe person answered: An hour' in found
    assert "Shall I list them?" not in found.split(question)[0][-60:]


SPECSTORY = """<!-- Generated by SpecStory, Markdown v2.1.0 -->

<!-- Claude Code Session a-1 (2026-02-14 10:00:00Z) -->

_**User (2026-02-14 10:00:00Z)**_

<command-message>tidy</command-message>
<command-name>/tidy</command-name>
<command-args>the queue</command-args>

_**User (2026-02-14 10:00:00Z)**_

## Context

- You tidy what is given to you, and you ask before you delete anything.
- Till 3 is to be tidied last.

_**Agent (model 2026-02-14 10:00:09Z)**_

<tool-use data-tool-type="write" data-tool-name="Edit"><details>
<summary>Tool use: **Edit**</summary>

```text
The file /work/shop/queue.py has been updated successfully.
```
</details></tool-use>

<tool-use data-tool-type="write" data-tool-name="Write"><details>
<summary>Tool use: **Write**</summary>

```text
File created successfully at: /work/shop/till.py
```
</details></tool-use>

_**Agent (model 2026-02-14 10:00:12Z)**_

The queue is tidy.
"""
SPECSTORY += f"\n{LOG}\n"


def test_an_export_has_the_command_without_its_body_and_the_files_that_results_name(
    tmp_path: Path,
) -> None:
    path = tmp_path / "session.md"
    path.write_text(SPECSTORY)
    found = told(path)
    assert "/tidy the queue" in found
    assert "ask before you delete" not in found
    assert "no commit of it seen (2): /work/shop/: till.py, queue.py" in found
    assert "does not name" not in found


def test_a_context_hands_over_the_same_state_as_its_file(engine: Engine, tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.go([
        edits("queue.py"), edits("till.py"), runs("git checkout -- queue.py"), runs("ruff check ."),
        calls("Bash", "Command running in background with ID: b1", command="npm start",
              run_in_background=True),
        user("<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n"
             "</task-notification>"),
    ])  # fmt: skip
    path = session.write(tmp_path / "shop.jsonl")
    found = engine.contexts.import_file(path, project="shop").context
    turns = engine.compression.original_turns(found.id)
    _, _, text = brief_of(turns, found.name).text.partition("\n")
    assert text == write_brief(path).text.partition("\n")[2]
    assert "no commit of it seen (1): till.py" in text
    assert "`ruff check .`: passed" in text
    assert "background" not in text
