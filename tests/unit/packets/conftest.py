"""A context folder of our own writing, and packets of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewer.packets.assembly import assemble
from reviewer.packets.context_folder import read_folder
from reviewer.packets.prepared import Prepared
from reviewer.packets.token_counts import Measurer
from reviewer.packets.values import Packet

PacketOf = Callable[..., Packet]

NOW = datetime(2026, 7, 26, 12, tzinfo=UTC)

CONSTITUTION = """\
# Constitution

<!-- how to fill this in: - [ ] an example that is no rule -->

These rules hold whatever the task is.

## Money

- [ ] Never round an amount before it is written to the ledger
- [ ] A receipt is printed **before** the drawer opens,
  also when the printer is slow
* a rule without a box
"""

TASKS = """\
# Tasks

### Phase 1

- [ ] Make the printer retry after a paper jam #added:2026-07-20
- [x] Buy paper #added:2026-07-01
* [ ] Write down how the drawer is wired #added:2026-07-25
- [-] Paint the kiosk
- [] Count the coins in the evening
"""

CONVENTIONS = """\
# Conventions

## Names

- **Files by what they hold**: never `util`
  - `drawer.c`, not `helpers.c`
- Short names for short lives

## Tests

- One kiosk, one test
"""

DECISIONS = """\
# Decisions

<!-- INDEX:START -->
| Date | Decision |
|------|----------|
| 2026-07-24 | Receipts before drawers |
<!-- INDEX:END -->

## [2026-07-24-101500] Receipts before drawers

**Status**: Accepted

**Decision**: The printer has to answer before the drawer opens.

**Rationale**: Coins were gone before anybody saw a receipt.

---

## [2026-05-02] Coins are counted by weight

**Decision**: A scale counts the coins; nobody counts by hand.

## ~~[2026-01-11] Coins are counted by hand~~

**Status**: Superseded by the scale

**Decision**: Two people count in the evening.

## A decision that nobody dated

We keep the kiosk in the hall.
"""

LEARNINGS = """\
# Learnings

## [2026-07-22-090000] A paper jam looks like a slow printer

**Context**: Receipts came late.

**Lesson**: The sensor reports a jam only after forty seconds.

## [2025-12-01] The hall is cold in winter

**Lesson**: Displays start slowly below five degrees.
"""

FILES = {
    "CONSTITUTION.md": CONSTITUTION,
    "TASKS.md": TASKS,
    "CONVENTIONS.md": CONVENTIONS,
    "DECISIONS.md": DECISIONS,
    "LEARNINGS.md": LEARNINGS,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The context folder of a kiosk."""
    made = tmp_path / "kiosk" / ".context"
    made.mkdir(parents=True)
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    return made


@pytest.fixture(scope="session")
def encoder() -> Measurer:
    """The real encoding, loaded once."""
    return Measurer()


@pytest.fixture
def packet_of(encoder: Measurer) -> PacketOf:
    """The packet of a folder for a budget."""

    def made(folder: Path, budget: int, *, task: str = "") -> Packet:
        prepared = Prepared(read_folder(folder), encoder, now=NOW, task=task)
        return assemble(prepared, budget)

    return made
