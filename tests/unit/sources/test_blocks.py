"""The blocks of a file: text, thoughts, tool calls and results."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from reviewer.errors import SourceError
from reviewer.sources.open import open_blocks
from reviewer.sources.records import Block, Role, Use

from .builders import Session


def read(session: Session, folder: Path, **range_: Any) -> list[Block]:
    path = folder / "s.jsonl"
    path.write_bytes(session.bytes())
    return list(open_blocks(path, **range_))


def chat(folder: Path, document: Any, **range_: Any) -> list[Block]:
    path = folder / "chat.json"
    path.write_text(json.dumps(document, indent=1))
    return list(open_blocks(path, **range_))


def kinds(blocks: list[Block]) -> list[tuple[str, str, str]]:
    return [(block.role.value, block.kind, block.text) for block in blocks]


def test_a_session_yields_text_thoughts_calls_and_results_in_order(tmp_path: Path) -> None:
    session = Session()
    session.user("List the files.")
    session.block({"type": "thinking", "thinking": "Use ls."}, "m1")
    session.reply("I look.", "m1")
    session.tool("m1")
    session.result("a.txt")
    blocks = read(session, tmp_path)
    assert kinds(blocks) == [
        ("user", "text", "List the files."),
        ("assistant", "thinking", "Use ls."),
        ("assistant", "text", "I look."),
        ("assistant", "tool_use", "ls"),
        ("tool", "tool_result", "a.txt"),
    ]
    call, result = blocks[-2:]
    assert call.name == result.name == "Bash"
    assert call.call == result.call == "t1"
    assert result.use is Use.TOOL
    assert [block.line_start for block in blocks] == [0, 1, 2, 3, 4]


def test_a_call_without_a_command_is_compact_json(tmp_path: Path) -> None:
    session = Session()
    call = {"type": "tool_use", "id": "t2", "name": "Read", "input": {"file_path": "/a/b.py"}}
    session.block(call)
    assert [block.text for block in read(session, tmp_path)] == ['{"file_path":"/a/b.py"}']


def test_a_result_in_parts_names_its_pictures(tmp_path: Path) -> None:
    session = Session()
    parts = [{"type": "text", "text": "shot"}, {"type": "image", "source": {"data": "AAAA"}}]
    session.user([{"type": "tool_result", "tool_use_id": "t9", "content": parts}])
    assert [block.text for block in read(session, tmp_path)] == ["shot\n\n[image]"]


def test_wrappers_and_summaries_keep_their_use(tmp_path: Path) -> None:
    session = Session()
    session.user("<command-name>/compact</command-name>")
    session.user("This session is being continued from a previous conversation.")
    session.user("Go on.")
    assert [block.use for block in read(session, tmp_path)] == [
        Use.WRAPPER,
        Use.SUMMARY,
        Use.MESSAGE,
    ]


def test_rewound_turns_are_marked(tmp_path: Path) -> None:
    session = Session()
    root = session.user("Hello.")
    session.user("Use tabs.")
    session.reply("Tabs it is.")
    session.user("Use spaces.", after=root)
    session.reply("Spaces it is.")
    uses = {block.text: block.use for block in read(session, tmp_path)}
    assert uses["Use tabs."] is Use.REWOUND
    assert uses["Tabs it is."] is Use.REWOUND
    assert uses["Spaces it is."] is Use.MESSAGE


def test_repeated_records_and_cut_lines_are_counted(tmp_path: Path) -> None:
    session = Session()
    session.user("Once.")
    data = session.bytes() * 2 + b'{"type": "user", "mess'
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    scan = open_blocks(path)
    assert len(list(scan)) == 1
    assert scan.tally == Counter({"repeated": 1, "bad JSON": 1})
    assert scan.errors == ["line 3: not a JSON record"]


def test_a_range_of_lines_is_half_open(tmp_path: Path) -> None:
    session = Session()
    for word in ("one", "two", "three"):
        session.user(word)
    blocks = read(session, tmp_path, line_start=1, line_end=2)
    assert [block.text for block in blocks] == ["two"]


def test_odd_blocks_do_not_stop_a_session(tmp_path: Path) -> None:
    session = Session()
    odd = [{"type": 7}, 3, "bare", {"type": "tool_use", "input": None}, {"type": "text", "text": 1}]
    session.user(odd)
    session.user("Still here.")
    said = [block.text for block in read(session, tmp_path) if block.kind == "text"]
    assert said == ["bare", "Still here."]


def test_a_chat_yields_speakers_calls_and_results(tmp_path: Path) -> None:
    blocks = chat(
        tmp_path,
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "name": "Ada", "content": "Weather?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "function": {"name": "weather", "arguments": '{"city":"Bonn"}'}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "Rain."},
        ],
    )
    assert kinds(blocks) == [
        ("system", "text", "Be brief."),
        ("user", "text", "Weather?"),
        ("assistant", "tool_use", '{"city":"Bonn"}'),
        ("tool", "tool_result", "Rain."),
    ]
    assert [block.name for block in blocks] == ["", "Ada", "weather", "weather"]
    assert [block.use for block in blocks] == [Use.BOOT, Use.MESSAGE, Use.MESSAGE, Use.TOOL]


def test_lines_of_a_chat_document_are_those_of_its_messages(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]
    first, second = chat(tmp_path, messages)
    lines = (tmp_path / "chat.json").read_text().split("\n")
    assert '"one"' in "".join(lines[first.line_start : first.line_end])
    assert '"two"' in "".join(lines[second.line_start : second.line_end])
    assert chat(tmp_path, messages, line_end=first.line_end) == [first]


def test_sharegpt_and_several_conversations_are_read(tmp_path: Path) -> None:
    turns = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]
    blocks = chat(tmp_path, [{"id": "1", "conversations": turns}, {"conversations": turns}])
    assert [block.role for block in blocks] == [Role.USER, Role.ASSISTANT] * 2


def test_lines_that_are_messages_survive_a_damaged_one(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    line = json.dumps({"role": "user", "content": "kept"})
    path.write_text(f'{line}\n{{"role": "user", "cont\n{line}\n')
    scan = open_blocks(path)
    assert [block.line_start for block in scan] == [0, 2]
    assert scan.tally["bad JSON"] == 1


def test_a_note_is_one_block_a_section(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text("# Plan\n\nShip it.\n\n# Risks\n\nNone.\n")
    blocks = list(open_blocks(path))
    assert [block.role for block in blocks] == [Role.NOTE, Role.NOTE]
    assert "Ship it." in blocks[0].text


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        open_blocks(tmp_path / "nothing.jsonl")


def test_a_failed_result_and_the_words_of_a_refusal_are_told(tmp_path: Path) -> None:
    session = Session()
    session.tool()
    failed = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    session.user([failed])
    session.tool()
    session.user([failed], userFeedback="use A5")
    session.tool()
    session.result("done")
    results = [block for block in read(session, tmp_path) if block.kind == "tool_result"]
    assert [(block.error, block.feedback) for block in results] == [
        (True, ""),
        (True, "use A5"),
        (False, ""),
    ]
    assert (results[0].cwd, results[0].branch) == ("/work/shop", "main")


def test_the_task_of_a_sub_agent_is_an_agents_text(tmp_path: Path) -> None:
    session = Session()
    session.user("Count the trays.", isSidechain=True)
    session.reply("3 trays.", isSidechain=True)
    assert [(block.text, block.name) for block in read(session, tmp_path)] == [
        ("Count the trays.", "agent"),
        ("3 trays.", ""),
    ]


def test_a_prompt_given_in_the_middle_of_a_turn_is_the_users(tmp_path: Path) -> None:
    session = Session()
    session.user("Print it.")
    for prompt in ("on A5", [{"type": "text", "text": "in bold"}], ""):
        queued = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
        session.add("attachment", attachment=queued)
    session.add("attachment", attachment={"type": "hook_success", "content": "queued_command"})
    session.add("attachment", attachment="odd")
    path = tmp_path / "s.jsonl"
    path.write_bytes(session.bytes())
    assert [(block.text, block.role) for block in open_blocks(path)] == [
        ("Print it.", Role.USER),
        ("on A5", Role.USER),
        ("in bold", Role.USER),
    ]
    records = session.read(tmp_path)
    assert [(record.text, record.use) for record in records] == [
        ("Print it.", Use.MESSAGE),
        ("on A5", Use.MESSAGE),
        ("in bold", Use.MESSAGE),
    ]


def test_specstory_has_calls_and_results_between_the_texts(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    path.write_text(
        "<!-- Generated by SpecStory -->\n\n"
        "_**User (2026-02-14 10:00:00Z)**_\n\nPrint it.\n\n---\n\n"
        "_**Agent (model 2026-02-14 10:00:05Z)**_\n\n"
        '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\n'
        "<summary>Tool use: **Bash**</summary>\nList the trays\n\n`ls &gt; trays`\n\n"
        "```text\na &lt; b\n```\n</details></tool-use>\n\n"
        '<tool-use data-tool-type="read" data-tool-name="read_file_v2"><details>\n'
        "<summary>Tool use: **read_file_v2**</summary>\n\n</details></tool-use>\n\n"
        '<tool-use data-tool-type="task" data-tool-name="TodoWrite"><details>\n'
        "<summary>Tool use: **TodoWrite**</summary>\n**Agent task list:**\n- [⚡] fold\n"
        "- [x] print\n"
        "\n</details></tool-use>\n\nIt is printed.\n"
    )
    blocks = list(open_blocks(path))
    assert [(block.kind, block.name, block.text) for block in blocks] == [
        ("text", "", "Print it."),
        ("tool_use", "Bash", '{"command":"ls > trays"}'),
        ("tool_result", "Bash", "a < b"),
        (
            "tool_use",
            "TodoWrite",
            '{"todos":[{"content":"fold","status":"in_progress"},'
            '{"content":"print","status":"completed"}]}',
        ),
        ("tool_result", "TodoWrite", ""),
        ("text", "", "It is printed."),
    ]
    assert (blocks[1].line_start, blocks[1].line_end) == (10, 20)
    assert blocks[1].call == blocks[2].call != blocks[3].call
    assert blocks[1].at == blocks[-1].at
    inside = open_blocks(path, line_start=10, line_end=12)
    assert list(inside) == []


def test_what_was_written_while_the_person_was_away_is_a_summary(tmp_path: Path) -> None:
    session = Session()
    session.add("system", subtype="away_summary", content="The trays were counted.")
    session.add("system", subtype="turn_duration", content="3 s")
    (record,) = session.read(tmp_path)
    assert (record.text, record.use) == ("The trays were counted.", Use.SUMMARY)
