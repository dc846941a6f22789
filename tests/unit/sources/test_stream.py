"""What the events of a session say: what each call does, how it ended, and what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewer.sources.events import (
    Act,
    Call,
    Change,
    Compaction,
    Event,
    Message,
    Notice,
    NoticeKind,
    Outcome,
    Plan,
    Result,
    Speaker,
    Thought,
)
from reviewer.sources.records import Record
from reviewer.sources.shell import Command
from reviewer.sources.stream import read

from .builders import Json, Session
from .families import lines


class Desk(Session):
    """A session in which tools are called."""

    def call(self, tool: str, given: object, number: str = "t1") -> str:
        return self.block({"type": "tool_use", "id": number, "name": tool, "input": given})

    def answer(self, text: Any, number: str = "t1", *, error: bool = False, **more: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": number, "content": text, "is_error": error}
        return self.user([block], **more)


@pytest.fixture
def desk() -> Desk:
    return Desk()


def events_of(session: Session, folder: Path, **lines: Any) -> list[Event]:
    path = folder / "session.jsonl"
    path.write_bytes(session.bytes())
    return list(read(path, **lines))


def call_of(tool: str, given: object, folder: Path) -> Call:
    desk = Desk()
    desk.call(tool, given)
    (call,) = (each for each in events_of(desk, folder) if isinstance(each, Call))
    return call


def chat_file(folder: Path, messages: list[Json]) -> Path:
    path = folder / "chat.json"
    path.write_text(json.dumps(messages, indent=1))
    return path


# The order of a session


def gist(event: Event) -> object:
    if isinstance(event, (Message, Notice)):
        return (event.speaker.value, getattr(event, "kind", event.text))
    if isinstance(event, Call):
        return (event.tool, event.act.value, event.command)
    if isinstance(event, Result):
        return (event.tool, event.outcome.value, event.text)
    if isinstance(event, Compaction):
        return event.summary[:12]
    return event.text if isinstance(event, Thought) else event


def test_every_kind_of_record_is_an_event_at_its_line(desk: Desk, tmp_path: Path) -> None:
    desk.user("List the trays.")
    desk.block({"type": "thinking", "thinking": "Use ls."}, "m1")
    desk.reply("I look.", "m1")
    desk.call("Bash", {"command": "ls"})
    desk.answer("a.txt")
    desk.user("<command-name>/compact</command-name>")
    desk.user("This session is being continued from a previous conversation.")
    desk.user([{"type": "image"}, {"type": "text", "text": "as here"}])
    desk.user("[Request interrupted by user]")
    found = events_of(desk, tmp_path)
    assert [(each.origin.line_start, gist(each)) for each in found] == [
        (0, ("person", "List the trays.")),
        (1, "Use ls."),
        (2, ("agent", "I look.")),
        (3, ("Bash", "run", "ls")),
        (4, ("Bash", "ok", "a.txt")),
        (5, ("person", NoticeKind.WRAPPER)),
        (6, "This session"),
        (7, ("person", NoticeKind.DATA)),
        (7, ("person", "as here")),
        (8, ("person", NoticeKind.INTERRUPTED)),
    ]
    assert {each.origin.cwd for each in found} == {"/work/shop"}
    assert {each.origin.branch for each in found} == {"main"}
    assert found[0].origin.key == "s1-0"


def test_words_that_agents_write_to_each_other(desk: Desk, tmp_path: Path) -> None:
    desk.user("Count the trays.", isSidechain=True)
    desk.reply("3 trays.", isSidechain=True)
    desk.reply("There are 3.")
    found = [(each.speaker, each.name) for each in events_of(desk, tmp_path)
             if isinstance(each, Message)]  # fmt: skip
    assert found == [(Speaker.AGENT, "agent"), (Speaker.SUBAGENT, ""), (Speaker.AGENT, "")]


def test_a_section_of_a_note_is_a_message_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text("# Plan\n\nShip it.\n\n# Risks\n\nNone.\n")
    found = [each for each in read(path) if isinstance(each, Message)]
    assert [(each.speaker, each.origin.line_start) for each in found] == [
        (Speaker.PERSON, 0),
        (Speaker.PERSON, 4),
    ]
    assert "Ship it." in found[0].text


def test_records_come_in_the_same_pass(desk: Desk, tmp_path: Path) -> None:
    desk.user("Print it.")
    desk.reply("I print", "m1")
    desk.call("Bash", {"command": "lp a.txt"})
    desk.reply("on A5.", "m2")
    path = tmp_path / "session.jsonl"
    path.write_bytes(desk.bytes())
    both = list(read(path).with_records())
    assert [each for each in both if isinstance(each, Record)] == list(read(path).records())
    assert [each for each in both if not isinstance(each, Record)] == list(read(path))
    records = [(each.key, each.line_start, each.text) for each in read(path).records()]
    assert records == [("s1-0", 0, "Print it."), ("s1-1", 1, "I print"), ("s1-3", 3, "on A5.")]


def test_a_conversation_in_one_document_keeps_its_lines(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "weather", "arguments": '{"city":"Bonn"}'}}
    path = chat_file(
        tmp_path,
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "name": "Ada", "content": "Weather?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "Rain."},
        ],
    )
    boot, asked, called, result = read(path)
    assert isinstance(boot, Notice)
    assert boot.kind is NoticeKind.BOOT
    assert isinstance(asked, Message)
    assert (asked.name, asked.speaker) == ("Ada", Speaker.PERSON)
    assert isinstance(called, Call)
    assert (called.tool, called.act, called.text) == ("weather", Act.OTHER, '{"city":"Bonn"}')
    assert isinstance(result, Result)
    assert (result.tool, result.call, result.text) == ("weather", "c1", "Rain.")
    lines = path.read_text().split("\n")
    assert "Rain." in "".join(lines[result.origin.line_start : result.origin.line_end])


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
    events = list(read(path))
    calls = [each for each in events if isinstance(each, Call)]
    results = [each for each in events if isinstance(each, Result)]
    assert [each.text for each in events if isinstance(each, Message)] == [
        "Print it.",
        "It is printed.",
    ]
    assert [(each.tool, each.command, each.act) for each in calls] == [
        ("Bash", "ls > trays", Act.RUN),
        ("TodoWrite", "", Act.PLAN),
    ]
    assert [(each.call, each.text) for each in results] == [
        (calls[0].id, "a < b"),
        (calls[1].id, ""),
    ]
    (plan,) = (each for each in events if isinstance(each, Plan))
    assert [(item.text, item.status) for item in plan.items] == [
        ("fold", "active"),
        ("print", "done"),
    ]
    assert (calls[0].origin.line_start, calls[0].origin.line_end) == (10, 20)
    assert calls[0].origin.at == events[-1].origin.at
    assert list(read(path, line_start=10, line_end=12)) == []


def test_specstory_reads_a_call_after_one_that_was_never_closed(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    path.write_text(
        "<!-- Generated by SpecStory -->\n\n_**Agent (model 2026-02-14 10:00:05Z)**_\n\n"
        '<tool-use data-tool-type="write" data-tool-name="Edit"><details>\n'
        "<summary>Tool use: **Edit**</summary>\n\n"
        '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\n'
        "<summary>Tool use: **Bash**</summary>\nPrint it\n\n`make print`\n\n"
        "```text\nExit code 2\n```\n</details></tool-use>\n"
    )
    call, result = (each for each in read(path) if isinstance(each, Call | Result))
    assert isinstance(call, Call)
    assert isinstance(result, Result)
    assert (call.command, call.origin.line_start, result.outcome) == (
        "make print",
        7,
        "failed",
    )


def test_specstory_reads_a_call_in_a_very_long_line(tmp_path: Path) -> None:
    path = tmp_path / "history.md"
    path.write_text(
        "<!-- Generated by SpecStory -->\n\n_**Agent (model 2026-02-14 10:00:05Z)**_\n\n"
        '<tool-use data-tool-type="shell" data-tool-name="Bash">`make print`'
        f"{' x' * 15_000}</tool-use>\n"
    )
    assert [each.tool for each in read(path) if isinstance(each, Call)] == ["Bash"]


def test_a_prompt_given_in_the_middle_of_a_turn_is_the_persons(desk: Desk, tmp_path: Path) -> None:
    desk.user("Print it.")
    for prompt in ("on A5", [{"type": "text", "text": "in bold"}], ""):
        queued = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
        desk.add("attachment", attachment=queued)
    desk.add("attachment", attachment={"type": "hook_success", "content": "queued_command"})
    desk.add("attachment", attachment="odd")
    found = [each for each in events_of(desk, tmp_path) if isinstance(each, Message)]
    assert [(each.text, each.speaker) for each in found] == [
        ("Print it.", Speaker.PERSON),
        ("on A5", Speaker.PERSON),
        ("in bold", Speaker.PERSON),
    ]


def test_what_was_written_while_the_person_was_away_is_a_summary(
    desk: Desk, tmp_path: Path
) -> None:
    desk.add("system", subtype="away_summary", content="The trays were counted.")
    desk.add("system", subtype="turn_duration", content="3 s")
    (summary,) = events_of(desk, tmp_path)
    assert isinstance(summary, Compaction)
    assert summary.summary == "The trays were counted."


# What a call does

PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n one\n-two\n+2\n*** Add File: b.py\n+new\n"
    "*** Delete File: c.py\n*** Update File: d.py\n*** Move to: e.py\n@@\n-x\n+y\n*** End Patch"
)
PATCHED = (
    Change("a.py", pairs=(("one\ntwo", "one\n2"),)),
    Change("b.py", created=True, pairs=(("", "new"),)),
    Change("c.py", deleted=True),
    Change("d.py", deleted=True),
    Change("e.py", created=True, pairs=(("x", "y"),)),
)
CALLS: list[tuple[str, object, Act, dict[str, Any]]] = [
    ("Bash", {"command": "make"}, Act.RUN, {"command": "make"}),
    ("shell", {"command": ["bash", "-lc", "make test"]}, Act.RUN, {"command": "make test"}),
    ("exec_command", {"cmd": "make", "workdir": "/b"}, Act.RUN, {"command": "make"}),
    ("Bash", {"command": "serve", "run_in_background": True}, Act.RUN, {"background": True}),
    ("Read", {"file_path": "a.py"}, Act.READ, {"path": "a.py"}),
    ("Grep", {"pattern": "tray", "path": "src"}, Act.SEARCH, {"path": "src", "query": "tray"}),
    (
        "Edit",
        {"file_path": "a.py", "old_string": "x", "new_string": "y"},
        Act.EDIT,
        {"path": "a.py", "changes": (Change("a.py", pairs=(("x", "y"),)),)},
    ),
    (
        "MultiEdit",
        {"file_path": "a.py", "edits": [{"old_string": "x", "new_string": ""}]},
        Act.EDIT,
        {"changes": (Change("a.py", pairs=(("x", ""),)),)},
    ),
    (
        "Write",
        {"file_path": "a.py", "content": "x\n"},
        Act.WRITE,
        {"changes": (Change("a.py", created=True, pairs=(("", "x\n"),)),)},
    ),
    (
        "str_replace_editor",
        {"command": "create", "path": "a.py", "file_text": "x"},
        Act.WRITE,
        {"changes": (Change("a.py", created=True, pairs=(("", "x"),)),)},
    ),
    ("str_replace_editor", {"command": "view", "path": "a.py"}, Act.READ, {"path": "a.py"}),
    ("delete_file", {"path": "a.py"}, Act.EDIT, {"changes": (Change("a.py", deleted=True),)}),
    ("apply_patch", {"input": PATCH}, Act.EDIT, {"path": "a.py", "changes": PATCHED}),
    ("shell", {"command": ["apply_patch", PATCH]}, Act.EDIT, {"changes": PATCHED}),
    ("Bash", {"command": f"cat <<'E' | less\n{PATCH}\nE"}, Act.RUN, {"changes": ()}),
    ("Task", {"prompt": "Count them."}, Act.DELEGATE, {"query": "Count them."}),
    (
        "AskUserQuestion",
        {"questions": [{"question": "A5?"}, {"question": "A4?"}]},
        Act.ASK,
        {"query": "A5?\nA4?"},
    ),
    ("ExitPlanMode", {"plan": "# Print"}, Act.ASK, {"query": "# Print"}),
    ("mcp__shop__trays", {"query": "empty"}, Act.OTHER, {"query": "empty"}),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "given", "act", "more"), CALLS)
def test_what_a_call_does(
    tool: str, given: object, act: Act, more: dict[str, Any], tmp_path: Path
) -> None:
    call = call_of(tool, given, tmp_path)
    assert call.act is act
    assert {name: getattr(call, name) for name in more} == more


def test_a_call_runs_in_the_folder_that_it_names(tmp_path: Path) -> None:
    assert call_of("Bash", {"command": "make", "cwd": "/b"}, tmp_path).origin.cwd == "/b"


def part(*words: str, by: str = "", **more: Any) -> Command:
    return Command(words, by, **more)


SHELL: dict[str, list[Command]] = {
    "make test": [part("make", "test")],
    "cd web && npm test": [part("npm", "test", folder="web")],
    "cd a; (cd b && make); ls": [part("make", folder="a/b"), part("ls", by=";", folder="a")],
    "A=1 sudo make && ./x || exit 1": [part("make"), part("./x", by="&&")],
    "make | tee 'my log' 2>&1": [part("make"), part("tee", "my log", by="|")],
    "make > out.txt 2> /dev/null": [part("make", writes=("out.txt",))],
    "make & ls": [part("make", certain=False), part("ls", by="&")],
    "bash -c 'make; ls'": [part("make"), part("ls", by=";")],
    "git commit -m \"$(cat <<'E'\nIt's A5\nE\n)\"": [part("git", "commit", "-m", "It's A5")],
    "cat > a.py <<E\nx\nE\nls": [part("cat", writes=("a.py",), stdin="x\n"), part("ls", by=";")],
    "if make; then ls; fi": [
        part("make", certain=False),
        part("ls", by=";", certain=False),
    ],
    'echo "a; b" # c': [part("echo", "a; b")],
}


@pytest.mark.parametrize("line", SHELL)
def test_a_shell_line_in_its_parts(line: str, tmp_path: Path) -> None:
    assert list(call_of("Bash", {"command": line}, tmp_path).commands) == SHELL[line]


# How a call ended

REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
SAID = f"{REFUSED} To tell you, the user said:\nuse A5\n\nNote: The user's next message may"
RESULTS: dict[str, tuple[Json, tuple[Outcome, int | None, str]]] = {
    "done": ({"text": "a.txt"}, (Outcome.OK, 0, "")),
    "an exit code": ({"text": "Exit code 2\nno", "error": True}, (Outcome.FAILED, 2, "")),
    "an error": ({"text": "no such tool", "error": True}, (Outcome.FAILED, None, "")),
    "words about errors": ({"text": "error: exit code 1"}, (Outcome.OK, 0, "")),
    "refused": ({"text": REFUSED, "error": True}, (Outcome.REFUSED, None, "")),
    "refused with words": ({"text": SAID, "error": True}, (Outcome.REFUSED, None, "use A5")),
    "refused with words apart": (
        {"text": "no", "error": True, "userFeedback": "use A5"},
        (Outcome.REFUSED, None, "use A5"),
    ),
    "interrupted": (
        {"text": "[Request interrupted by user for tool use]", "error": True},
        (Outcome.INTERRUPTED, None, ""),
    ),
    "goes on": (
        {"text": "Command running in background with ID: b1"},
        (Outcome.UNKNOWN, None, ""),
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_how_a_command_ended(name: str, desk: Desk, tmp_path: Path) -> None:
    given, expected = RESULTS[name]
    desk.call("Bash", {"command": "make"})
    desk.answer(**given)
    (result,) = (each for each in events_of(desk, tmp_path) if isinstance(each, Result))
    assert (result.outcome, result.exit_code, result.words) == expected


def test_the_persons_answers_to_a_question(desk: Desk, tmp_path: Path) -> None:
    desk.call("AskUserQuestion", {"questions": [{"question": "Which paper?"}]})
    desk.answer(
        'User has answered your questions: "Which paper?"="A5". You can now continue with it.'
    )
    (result,) = (each for each in events_of(desk, tmp_path) if isinstance(each, Result))
    assert (result.outcome, result.words) == (Outcome.OK, '"Which paper?"="A5"')


def test_what_is_not_certain_without_an_exit_code_is_unknown(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "bash", "arguments": '{"command":"make"}'}}
    path = chat_file(
        tmp_path,
        [
            {"role": "user", "content": "Make it."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "error: no shelf"},
        ],
    )
    (result,) = (each for each in read(path) if isinstance(each, Result))
    assert result.outcome is Outcome.UNKNOWN


def test_what_gemini_puts_around_a_result_is_left_out(tmp_path: Path) -> None:
    framed = "<untrusted_context>\nOutput: no shelf\nExit Code: 1\n</untrusted_context>"
    output = {"output": f"{framed}\n\n<hook_context>{'many words ' * 40}</hook_context>"}
    call = {
        "id": "c1",
        "name": "run_shell_command",
        "args": {"command": "make"},
        "status": "success",
        "result": [{"functionResponse": {"response": output}}],
    }
    path = lines(
        "session-1.jsonl",
        {"sessionId": "s1", "projectHash": "x", "startTime": "2026-07-26T10:00:00Z"},
        {"id": "m1", "type": "user", "content": [{"text": "Make it."}]},
        {"id": "m2", "type": "gemini", "content": "", "toolCalls": [call]},
    )(tmp_path)
    (result,) = (each for each in read(path) if isinstance(each, Result))
    assert (result.outcome, result.exit_code) == (Outcome.FAILED, 1)
    assert "no shelf" in result.text
    assert "many words" not in result.text


# Plans


def test_a_plan_is_whole_after_each_change(desk: Desk, tmp_path: Path) -> None:
    todos = [{"content": "cut", "status": "completed"}, {"content": "fold", "status": "pending"}]
    desk.call("TodoWrite", {"todos": todos})
    desk.call("TaskCreate", {"subject": "print"}, "t2")
    desk.answer("Task #7 created successfully: print", "t2")
    desk.call("TaskUpdate", {"taskId": "7", "status": "in_progress"}, "t3")
    plans = [each for each in events_of(desk, tmp_path) if isinstance(each, Plan)]
    assert [[(item.number, item.text, item.status) for item in plan.items] for plan in plans] == [
        [("1", "cut", "done"), ("2", "fold", "open")],
        [("7", "print", "open")],
        [("7", "print", "active")],
    ]
