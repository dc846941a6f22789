"""Whatever a session or a note has in it, reading it takes time in proportion to its size.

Each file has long runs of one sign or pair in every place where content stands. Four times the run
may take six times as long, and where that is more than BUDGET seconds for a megabyte, it fails.
Each way of reading a session gets every second run: they share most of their code.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewer.compression.file_summary import summarize_file
from reviewer.compression.handover import write_brief
from reviewer.engine import Engine
from reviewer.errors import OtherKindError
from reviewer.extraction.candidates import MemoryType
from reviewer.proposing.answers import read_answer
from reviewer.proposing.proof import prove
from reviewer.proposing.session_view import read_view
from reviewer.proposing.values import LineRole, Proposal, Proposer, Quote, SessionView, ViewLine
from reviewer.recall.moments import read_moment
from reviewer.recall.service import event_of
from reviewer.sessions.signatures import failing_lines
from reviewer.sources.events import Speaker
from reviewer.sources.note_kinds import is_template
from reviewer.sources.shell import split
from reviewer.sources.stream import read
from reviewer.text.display import display_text
from reviewer.text.for_agents import as_markdown, between_tags
from reviewer.text.identifiers import identifiers
from reviewer.text.normalise import clean
from reviewer.text.secrets import mask
from reviewer.text.units import units
from reviewer.text.word_diff import hunks
from tests.unit.sources.builders import Scanned

RUNS = [
    " ", "\t", "\n", '"', "'", "[", "(", "{", "/", "=", "-", ".", "1", "a", "é", ":", "*", "`", "#",
    "|", "&", "\\", "<", "%3D", "ab ", "a.", "=x", "a/", "1. ", "- a\n", "a=1 ", "&& ", "x-", "_a",
    "a,", "https://", "\n\n", "--a ", "[a](", "a: ", "$(", "x;done|", "a;fi&",
]  # fmt: skip
OF_TEXTS = [
    *RUNS, ". ", "**", "> ", "~~~\n", "<!--", "`\n", "_ ", "a.b. ", "x:\n", '."', "= ", "aA", "A",
    "ab1", "$", "</", "<a ", "&amp;", "&#0", "[ ", "user:\n",
]  # fmt: skip
SHORT, LONG = 3_000, 12_000
BUDGET = 4.0
"""Seconds of the processor for a megabyte, many times what any text of people takes."""
LEAST = 0.5
"""Seconds below which nothing is compared: on a busy machine they vary."""


def session(folder: Path, run: str, size: int) -> Path:
    """A session with the run as a message, a command, a path, an edit, a result and a failure."""
    text = (run * (size // len(run) + 1))[:size]
    calls = [
        ("Bash", {"command": text}),
        ("Bash", {"command": f"git commit -m '{text}' && npm test"}),
        (
            "Edit",
            {"file_path": f"/w/{text[:200]}.py", "old_string": text, "new_string": f"x{text}"},
        ),
        ("TodoWrite", {"todos": [{"content": text, "status": "pending"}]}),
        ("TodoWrite", {"todos": text}),
    ]
    rows: list[dict[str, object]] = [{"role": "user", "content": f"Do it: {text} now"}]
    for number, (name, given) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        rows.append({"role": "assistant", "content": [{"type": "text", "text": text}, use]})
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"Error: {text}"}
        rows.append({"role": "user", "content": [{**result, "is_error": number % 2 == 1}]})
    path = folder / f"{RUNS.index(run)}-{size}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number, message in enumerate(rows):
            record = {
                "type": message["role"], "uuid": f"u{number}", "sessionId": path.stem,
                "parentUuid": f"u{number - 1}" if number else None, "message": message,
                "timestamp": f"2026-03-02T10:00:{number:02}.000Z", "cwd": "/w",
            }  # fmt: skip
            file.write(f"{json.dumps(record)}\n")
    return path


def note(folder: Path, run: str, size: int) -> Path:
    """A note with the run as a heading, an item, a paragraph, a table and code."""
    text = (run * (size // len(run) + 1))[:size]
    path = folder / f"{RUNS.index(run)}-{size}.md"
    path.write_text(
        f"# Decisions {text}\n\n- [Decision] {text}\n\n{text}\n\n**Note**: {text}\n\n"
        f"| a | {text} |\n\n```\n{text}\n```\n",
        encoding="utf-8",
    )
    return path


def ingested(path: Path) -> None:
    engine = Engine.open(path.with_suffix(".db"), clock=lambda: datetime(2026, 3, 3, tzinfo=UTC))
    engine.intake.ingest([path], project="p")
    engine.close()


def imported(path: Path) -> None:
    engine = Engine.open(path.with_suffix(".contexts"))
    engine.contexts.import_file(path, project="p")
    engine.close()


def proved(text: str) -> None:
    """A statement that quotes itself."""
    line = ViewLine(3, LineRole.ASSISTANT, Speaker.AGENT, text)
    statement = Proposal(
        statement=text, type=MemoryType.KNOWLEDGE, quotes=(Quote(3, text),),
        speaker=Speaker.AGENT, proposer=Proposer.MODEL, rule="model.test",
    )  # fmt: skip
    prove(statement, SessionView(Path("s.jsonl"), "", (line,)), known=lambda _: ())


READING: dict[str, Callable[[Path], object]] = {
    "records": lambda path: list(Scanned(path)),
    "events": lambda path: list(read(path)),
    "view": read_view,
    "ingest": ingested,
    "brief": write_brief,
    "summarize": lambda path: summarize_file(path, max_tokens=2_000),
    "import": imported,
}
OF_NOTES = ("ingest", "summarize")
OF_TEXT: dict[str, Callable[[str], object]] = {
    "mask": mask,
    "display": display_text,
    "markdown": as_markdown,
    "tags": between_tags,
    "identifiers": lambda text: list(identifiers(text)),
    "clean": clean,
    "template": is_template,
    "units": lambda text: list(units(text)),
    "shell": split,
    "failures": lambda text: list(failing_lines(text)),
    "answer": read_answer,
    "proof": proved,
    "diff": lambda text: hunks(text, f"{text} and more"),
}


def seconds(read: Callable[[], object]) -> float:
    began = time.process_time()
    read()
    return time.process_time() - began


def require_linear(name: str, read: Callable[[int], object], mb: float) -> None:
    """`read` takes the length of the run; the longer one has `mb` megabytes."""
    took = seconds(lambda: read(LONG))
    if took < LEAST + BUDGET * mb:
        return
    before = seconds(lambda: read(SHORT))
    assert took < 6 * before + LEAST, f"{name}: {before:.2f} s, four times the size {took:.2f} s"


def of_files(read: Callable[[Path], object], paths: dict[int, Path]) -> Callable[[int], object]:
    return lambda size: read(paths[size])


def of_text(read: Callable[[str], object], text: str) -> Callable[[int], object]:
    return lambda size: read(text[: 5 * size])


@pytest.mark.parametrize("name", READING)
def test_a_session_of_runs_is_read_in_linear_time(name: str, tmp_path: Path) -> None:
    for run in RUNS[list(READING).index(name) % 2 :: 2]:
        paths = {size: session(tmp_path, run, size) for size in (SHORT, LONG)}
        mb = paths[LONG].stat().st_size / 1e6
        require_linear(f"{name} of {run!r}", of_files(READING[name], paths), mb)


@pytest.mark.parametrize("name", OF_NOTES)
def test_a_note_of_runs_is_read_in_linear_time(name: str, tmp_path: Path) -> None:
    for run in RUNS[OF_NOTES.index(name) :: 4]:
        paths = {size: note(tmp_path, run, size) for size in (SHORT, LONG)}
        mb = paths[LONG].stat().st_size / 1e6
        try:
            require_linear(f"{name} of {run!r}", of_files(READING[name], paths), mb)
        except OtherKindError:
            continue  # data and minified text are no notes


@pytest.mark.parametrize("name", OF_TEXT)
def test_a_text_of_runs_takes_linear_time(name: str) -> None:
    for run in OF_TEXTS:
        text = (run * LONG)[: 5 * LONG]
        require_linear(f"{name} of {run!r}", of_text(OF_TEXT[name], text), len(text) / 1e6)


@pytest.mark.parametrize("kind", ["command", "error", "prompt"])
def test_the_memories_of_a_text_of_runs_are_found_in_linear_time(kind: str, tmp_path: Path) -> None:
    engine = Engine.open(tmp_path / "r.db")
    (number,) = engine.entities.author("p", "knowledge", "Make it twice.", promote=True).ids
    engine.recall.set_moments(number, [read_moment("command make")])

    def recalled(text: str) -> object:
        return engine.recall.at("p", event_of(kind, f"make; {text}"))

    for run in OF_TEXTS:
        text = (run * LONG)[: 5 * LONG]
        require_linear(f"{kind} of {run!r}", of_text(recalled, text), len(text) / 1e6)
    engine.close()
