"""What a summary of a session's file says about the state of the work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reviewer.compression.file_summary import summarize_file
from reviewer.compression.values import Level
from tests.unit.sessions.told import Told

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


# Changes


def test_changes_taken_back_lose_their_names(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.edit(f"{SHOP}/queue.py", new="def open_port_twice():\n    pass")
    session.run("git checkout -- queue.py")
    session.edit(f"{SHOP}/queue.py", new="def keep_port_open():\n    pass")
    found = told(session.write(tmp_path / "session.jsonl"))
    assert "queue.py (keep_port_open)" in found
    assert "open_port_twice()" not in found


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
    assert "Not run again since that change, before it: `pytest -q` passed." in text
    assert "green" not in text
    assert found.segment.original_token_count == sum(each.tokens for each in found.source.turns)


# Checks and pushes


def test_a_sub_agent_after_the_last_change(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.edit(f"{SHOP}/queue.py")
    session.call("Task", "The port stays open now.", prompt="Fix the port", description="Fix it")
    session.run("pytest -q", "3 passed")
    found = told(session.write(tmp_path / "session.jsonl"))
    later = "a sub-agent may have changed files since"
    assert f"after the last change seen (queue.py; {later}): `pytest -q` passed." in found


def test_a_command_of_the_person_after_the_last_change_is_no_sub_agent(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.edit(f"{SHOP}/queue.py")
    session.user("<bash-input>ls</bash-input>")
    session.user("<bash-stdout>queue.py</bash-stdout><bash-stderr></bash-stderr>")
    assert "last change seen (queue.py)." in told(session.write(tmp_path / "session.jsonl"))


def test_a_push_that_was_refused(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.edit(f"{SHOP}/queue.py")
    session.run("git commit -am x", "[main 1a2b3c4] Keep the port open\n 1 file changed")
    session.run("git push", "hook: no pushes on Sundays", failed=True)
    found = told(session.write(tmp_path / "session.jsonl"))
    assert "Committed (a push was tried and failed): 1a2b3c4 Keep the port open" in found


# Calls


def test_equal_calls_are_told_where_the_last_one_is(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.edit("queue.py")
    session.run("pytest -q", "1 failed", failed=True)
    session.run("pytest -q 2>&1 | tail -1", "3 passed")
    session.edit("queue.py", "a = 2", "a = 3")
    found = told(session.write(tmp_path / "session.jsonl"))
    assert "tail -1`: exit code not seen" in found
    assert found.index("tail -1`") < found.index("edited queue.py")
    assert "1 failed" not in found


def test_beside_what_was_done_it_is_not_told_what_was_read(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.reply("I look at `queue.py`.")
    session.run("sed -n 1,9p queue.py", "a = 1")
    assert "sed -n" in told(session.write(tmp_path / "session.jsonl"))
    session.run("sed -i 's/1/2/' queue.py")
    session.run("sed -E --in-place=.old 's/2/3/' queue.py")
    found = told(session.write(tmp_path / "session.jsonl"))
    assert "sed -n" not in found
    assert "sed -i" in found
    assert "sed -E --in-place" in found


def test_an_agent_that_waits_for_a_command_is_at_work(tmp_path: Path) -> None:
    session = claude(tmp_path)
    session.reply("The suite runs. I wait for its end.")
    session.call("BashOutput", "3 passed so far", bash_id="b1")
    found = told(session.write(tmp_path / "session.jsonl"))
    assert "The agent was still at work on it." in found


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


def test_the_body_of_a_command_is_not_what_the_person_said(tmp_path: Path) -> None:
    path = tmp_path / "session.md"
    path.write_text(SPECSTORY)
    found = told(path)
    assert "/tidy the queue" in found
    assert "ask before you delete" not in found


def test_an_edit_whose_result_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "session.md"
    path.write_text(SPECSTORY)
    found = told(path)
    assert "no commit of it seen (2): /work/shop/: till.py, queue.py" in found
    assert "does not name" not in found
