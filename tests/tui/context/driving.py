"""A context about a kiosk, and helpers for the Context screen."""

from __future__ import annotations

import json
from pathlib import Path

from reviewer.commits.values import CommitQuery
from reviewer.engine import Engine
from reviewer.tui.context.screen import ContextScreen
from tests.tui.conftest import Screen

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
        "alone. I will fix the bug in `reconnect()` before Friday. Most of the time goes into the "
        "handshake of the port, as ten customers in a row have shown.",
    ),
    (
        "assistant",
        "The first run failed: PrinterError: paper sensor did not answer within 20 seconds. After "
        "a restart of the sensor the run went through, and the receipts came out in 310 ms each.",
    ),
    (
        "assistant",
        " ".join(
            f"Customer {number} of the kiosk waited while `tray_{number}` was empty, and the log "
            f"of hour {number} shows a short pause of the paper motor before the cut."
            for number in range(2, 14)
        ),
    ),
    ("user", "I prefer small commits. Should the drawer stay closed until the terminal answers?"),
)
TOPICS = ("kiosk", "tram", "ferry", "tower")


def turns(topics: int) -> list[dict[str, str]]:
    """The conversation for some machines, an hour apart, so that each becomes a segment."""
    found = []
    for hour, topic in enumerate(TOPICS[:topics]):
        for minute, (role, text) in enumerate(KIOSK):
            text = text.replace("kiosk", topic).replace("print_queue", f"{topic}_queue")
            at = f"2026-02-0{hour + 1}T1{hour}:0{minute}:00Z"
            found.append({"role": role, "content": text, "timestamp": at})
    return found


def stocked(engine: Engine, folder: Path, topics: int = 1, name: str = "kiosk") -> int:
    """A context with a segment a machine; its id."""
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in turns(topics)) + "\n", "utf-8")
    return engine.contexts.import_file(path, project="acme").context.id


def context(screen: Screen) -> ContextScreen:
    return screen.top(ContextScreen)


def priorities(engine: Engine, number: int) -> str:
    """The priorities of a context, a letter each."""
    rows = engine.contexts.rows(engine.contexts.ids(CommitQuery(number)))
    return "".join(row.priority[0] for row in rows)


def levels(screen: Screen) -> list[int]:
    """The level of each segment."""
    plan = context(screen).data.plan
    return [int(each.level) for each in plan.choices] if plan else []


def said(screen: Screen) -> str:
    return context(screen).status.text


async def apply(screen: Screen) -> None:
    """Apply the chosen levels, also summaries that do not pass."""
    await screen.press("a")
    if "Apply those too" in screen.text:
        await screen.press("down", "enter")
    await screen.until(lambda: said(screen).startswith(("Compressed ", "Restored ")))
    await screen.settle()
