"""Turns, segments and engines for tests: a conversation, and what is made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from reviewer.commits.values import Pattern, Priority, RetentionCriteria
from reviewer.compression.anchor_types import AnchorType
from reviewer.compression.measures import SegmentCompressed
from reviewer.compression.model_engine import ModelEngine
from reviewer.compression.offline_engine import OfflineEngine
from reviewer.compression.session import read_session
from reviewer.compression.summarizer import Summarizer
from reviewer.compression.turn_events import turn_events
from reviewer.compression.values import (
    TITLES,
    AnchorPoint,
    HandoverSection,
    Segment,
    SegmentTurn,
    TurnKind,
)
from reviewer.compression.writing import write_session
from reviewer.text.tokens import counter
from tests.unit.llm.scripted import Scripted

count = counter().count

KIOSK = (
    ("user", "The kiosk prints receipts too slowly. The budget is $50k, hard stop 2026-03-31."),
    (
        "assistant",
        "I looked at the print queue. `print_queue.py` opens the port for every receipt, which "
        "takes 900 ms. The spooler in `spool/driver.py` could keep it open between customers.",
    ),
    ("user", "No, do not touch the driver: the vendor list must stay as it is until legal signs."),
    (
        "assistant",
        "Understood. We decided to keep the connection in `print_queue.py` and leave the driver "
        "alone. I will fix the bug in `reconnect()` before Friday. I measured the old code with "
        "ten customers in a row and saw that most of the time goes into the handshake of the port.",
    ),
    (
        "assistant",
        "The first run failed: PrinterError: paper sensor did not answer within 20 seconds. After "
        "a restart of the sensor the run went through, and the receipts came out in 310 ms each.",
    ),
    ("user", "I prefer small commits. Should the drawer stay closed until the terminal answers?"),
)


def turn(
    text: str,
    role: str = "user",
    said: TurnKind = "text",
    priority: Priority = Priority.NORMAL,
    *patterns: str,
    instructions: str | None = None,
    name: str = "",
    at: str | None = None,
) -> SegmentTurn:
    """One turn; patterns are substrings that an IMPORTANT one asks to retain."""
    criteria = RetentionCriteria(instructions, tuple(Pattern(each) for each in patterns))
    return SegmentTurn(role, text, count(text), said, name, at, None, priority, criteria)


def segment(*turns: SegmentTurn, key: str = "s1", topic: str = "receipts") -> Segment:
    """Those turns as a segment; the conversation about the kiosk where none are given."""
    said = turns or tuple(turn(text, role) for role, text in KIOSK)
    sent = sum(each.tokens for each in said if each.priority is not Priority.SKIP)
    return Segment(key, said, sent, topic)


def long_segment(paragraphs: int = 30) -> Segment:
    """The conversation about the kiosk with much talk between; more than a thousand tokens."""
    filler = [
        turn(
            f"Customer {number} waited at kiosk {number % 7} while `queue_{number % 5}.py` printed "
            f"a receipt of {number * 3 + 2} lines, and the log of that hour shows nothing odd "
            "besides a short pause of the paper motor before the cut.",
            "assistant",
        )
        for number in range(paragraphs)
    ]
    kiosk = [turn(text, role) for role, text in KIOSK]
    return segment(*kiosk[:3], *filler, *kiosk[3:])


def faithful(prompt: str) -> str:
    """A good model's answer: the beginning of the text, and the parts that it had to keep."""
    fenced = re.search(r"^<(conversation-\w+)>\n(.*?)\n</\1>$", prompt, re.DOTALL | re.MULTILINE)
    said = fenced[2] if fenced else prompt
    kept = [line[2:] for line in prompt.splitlines() if line.startswith("- the exact text")]
    quoted = " ".join(line.split('"', 1)[1].rsplit('"', 1)[0] for line in kept)
    return f"{' '.join(said.split()[:25])} {quoted}".strip()


def summarizer(
    model: Scripted | None = None,
    *,
    heard: list[SegmentCompressed] | None = None,
    tier: str = "teams",
    context_tokens: int = 8192,
) -> Summarizer:
    """A summarizer with the offline engine, or with a model."""
    offline = OfflineEngine(count)
    return Summarizer(
        ModelEngine(model, count, context_tokens=context_tokens) if model else offline,
        count=count,
        tier=tier,  # type: ignore[arg-type]
        publish=heard.append if heard is not None else None,
        offline=Summarizer(offline, count=count) if model else None,
    )


def anchor(content: str, source: str = "detected") -> AnchorPoint:
    return AnchorPoint(AnchorType.DECISION, content, 0.9, 0, 0, len(content), source)  # type: ignore[arg-type]


def call(tool: str, given: object, key: str = "") -> SegmentTurn:
    text = given if isinstance(given, str) else json.dumps(given)
    return SegmentTurn("assistant", text, count(text), "tool_use", tool, call=key)


def result(tool: str, text: str, key: str = "", **ended: Any) -> SegmentTurn:
    return SegmentTurn("tool", text, count(text), "tool_result", tool, call=key, **ended)


def agent(text: str) -> SegmentTurn:
    return turn(text, "assistant")


def edit(path: str, new: str = "x = 1", old: str = "") -> list[SegmentTurn]:
    given = {"file_path": path, "old_string": old, "new_string": new}
    return [call("Edit", given), result("Edit", "updated", outcome="ok")]


def run(command: str, output: str = "ok", code: int = 0) -> list[SegmentTurn]:
    ended = "failed" if code else "ok"
    return [call("Bash", command), result("Bash", output, outcome=ended, exit_code=code)]


def written(turns: Sequence[SegmentTurn], tokens: int = 600, wanted: Sequence[str] = ()) -> str:
    """The hand-over of some turns."""
    session = read_session(turn_events(turns))
    return write_session(session, tokens, count, wanted)


def section(text: str, name: HandoverSection) -> str:
    """The lines under a title."""
    lines = text.split("\n")
    if f"{name}:" not in lines:
        return ""
    begin = lines.index(f"{name}:") + 1
    end = next((at for at in range(begin, len(lines)) if lines[at] in TITLES), len(lines))
    return "\n".join(lines[begin:end])
