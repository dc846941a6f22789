"""Edits of agents whose editor has one file open, or one tool for all of its actions."""

from __future__ import annotations

import json
from pathlib import Path

from reviewer.sources import stream
from reviewer.sources.events import Act, Call
from reviewer.sources.open import open_blocks

STATE = "\n(Open file: {})\n(Current directory: /mill)\nbash-$"


def history(tmp_path: Path, *messages: dict[str, object]) -> list[tuple[str, object]]:
    """The calls, with their arguments, of a session of SWE-agent."""
    path = tmp_path / "mill.traj"
    path.write_text(json.dumps({"environment": "swe", "trajectory": [], "history": messages}))
    return [
        (b.name, json.loads(b.text) if b.text.startswith("{") else b.text)
        for b in open_blocks(path)
        if b.kind == "tool_use"
    ]


def test_edits_of_swe_agent_name_the_open_file_and_the_lines_they_replace(tmp_path: Path) -> None:
    shown = "[File: /mill/wheel.py (2 lines total)]\n1:def turn():\n2:    slow()"
    calls = history(
        tmp_path,
        {"role": "user", "content": "Make the wheel turn faster."},
        {"role": "assistant", "content": "I open it.", "action": "open wheel.py 1\n"},
        {"role": "user", "content": shown + STATE.format("/mill/wheel.py")},
        {
            "role": "assistant",
            "content": "I change it.",
            "action": "edit 2:2\n    fast()\nend_of_edit\n",
        },
        {"role": "user", "content": "[File: ...]" + STATE.format("/mill/wheel.py")},
        {"role": "assistant", "content": "New one.", "action": "create try_wheel.py\n"},
        {"role": "user", "content": "[File: ...]\n1:" + STATE.format("/mill/try_wheel.py")},
        {"role": "assistant", "content": "I try it.", "action": "python try_wheel.py"},
        {"role": "user", "content": "fast" + STATE.format("/mill/try_wheel.py")},
        {"role": "assistant", "content": "Done.", "action": "submit 'fast'\n"},
    )
    assert calls == [
        ("open", {"path": "wheel.py"}),
        (
            "edit",
            {"path": "/mill/wheel.py", "old_string": "    slow()", "new_string": "    fast()"},
        ),
        ("create", {"path": "try_wheel.py"}),
        ("action", "python try_wheel.py"),
        ("submit", {"answer": "fast"}),
    ]


def test_the_state_of_the_editor_is_no_part_of_a_result(tmp_path: Path) -> None:
    path = tmp_path / "mill.traj"
    messages = [
        {"role": "user", "content": "Try it."},
        {"role": "assistant", "content": "I try it.", "action": "python wheel.py"},
        {"role": "user", "content": "8.2" + STATE.format("n/a")},
    ]
    path.write_text(json.dumps({"environment": "swe", "trajectory": [], "history": messages}))
    assert [b.text for b in open_blocks(path) if b.kind == "tool_result"] == ["8.2"]


def test_edits_by_function_calling_name_the_open_file(tmp_path: Path) -> None:
    given = {"search": "slow()", "replace": "fast()"}
    calls = history(
        tmp_path,
        {"role": "user", "content": "Make it faster."},
        {"role": "assistant", "content": "I open it.", "action": "open wheel.py"},
        {"role": "user", "content": "[File: ...]" + STATE.format("/mill/wheel.py")},
        {
            "role": "assistant",
            "content": "I change it.",
            "action": "edit 'slow()' 'fast()'",
            "tool_calls": [
                {"id": "t1", "function": {"name": "edit", "arguments": json.dumps(given)}}
            ],
        },
    )
    assert calls[-1] == (
        "edit",
        {"path": "/mill/wheel.py", "old_string": "slow()", "new_string": "fast()"},
    )


def test_an_editor_with_several_actions_is_not_a_command_line(tmp_path: Path) -> None:
    """OpenHands has one tool for viewing and editing; its argument `command` says which."""

    def event(number: int, action: str, **args: object) -> dict[str, object]:
        facts = {"function_name": "str_replace_editor", "tool_call_id": f"t{number}"}
        return {
            "id": number,
            "source": "agent",
            "action": action,
            "args": {"path": "/mill/wheel.py", **args},
            "tool_call_metadata": facts,
        }

    run = {
        "instance_id": "mill-1",
        "history": [
            {"id": 0, "source": "user", "action": "message", "args": {"content": "Faster."}},
            event(1, "read", thought="I look."),
            event(2, "edit", command="str_replace", old_str="slow()", new_str="fast()"),
        ],
    }
    path = tmp_path / "output.jsonl"
    path.write_text(json.dumps(run) + "\n")
    calls = [each for each in stream.read(path) if isinstance(each, Call)]
    assert [(each.act, each.command, each.path) for each in calls] == [
        (Act.READ, "", "/mill/wheel.py"),
        (Act.EDIT, "", "/mill/wheel.py"),
    ]
    assert calls[1].changes[0].pairs == (("slow()", "fast()"),)
