"""Reading a context folder as people keep it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewer.packets.assembly import assemble
from reviewer.packets.context_folder import read_folder
from reviewer.packets.lookup import find_item
from reviewer.packets.prepared import Prepared
from reviewer.packets.token_counts import Measurer
from reviewer.packets.values import Item, Material, Section


def read(folder: Path, **files: str | bytes) -> Material:
    """The material of a folder with these files in place of others: `DECISIONS="..."`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        raw = text if isinstance(text, bytes) else text.encode()
        (folder / f"{name}.md").write_bytes(raw)
    return read_folder(folder)


def titles(material: Material, section: Section) -> list[str]:
    return [item.title for item in material.of(section)]


def only(material: Material, section: Section) -> Item:
    (item,) = material.of(section)
    return item


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return tmp_path / "new" / ".context"


def test_every_rule_is_read_with_the_words_around_it(folder: Path) -> None:
    rules = read_folder(folder).constitution
    assert [rule.text for rule in rules] == [
        "These rules hold whatever the task is.",
        "### Money",
        "- Never round an amount before it is written to the ledger",
        "- A receipt is printed **before** the drawer opens,\n  also when the printer is slow",
        "- a rule without a box",
    ]


LED = (
    "- Count the coins twice.\n\nClosing takes long. **Never:**\n- open the drawer by hand\n"
    "- print without paper\n\nAsk somebody.\n\n- Lock the door at night.\n"
)


@pytest.mark.parametrize("name", ["CONVENTIONS", "LEARNINGS"])
def test_an_item_has_the_words_before_its_list_if_they_end_in_a_colon(
    empty: Path, name: str
) -> None:
    found = [(item.title, item.text) for item in read(empty, **{name: LED}).items]
    assert ("Never: open the drawer by hand", "**Never:** open the drawer by hand") in found
    assert ("Never: print without paper", "**Never:** print without paper") in found
    assert ("Lock the door at night", "Lock the door at night.") in found
    assert "Closing takes long. **Never:**" not in [text for _, text in found]


def test_a_rule_alone_has_the_words_before_its_list_and_the_packet_has_them_once(
    empty: Path,
) -> None:
    found = read(empty, CONSTITUTION=LED)
    assert find_item(found, "CONSTITUTION.md:4").text == "**Never:** open the drawer by hand"
    made = assemble(Prepared(found, Measurer(), now=datetime(2026, 8, 1, tzinfo=UTC)), 8_000)
    assert [item.title for item in made.items] == [
        "Count the coins twice", "Never: open the drawer by hand", "Never: print without paper",
        "Ask somebody", "Lock the door at night",
    ]  # fmt: skip
    assert made.markdown.count("Never:") == 1


def test_open_tasks_are_read_whatever_their_box_looks_like(folder: Path) -> None:
    found = read_folder(folder).of(Section.TASKS)
    assert [item.title for item in found] == [
        "Make the printer retry after a paper jam",
        "Write down how the drawer is wired",
        "Count the coins in the evening",
    ]
    assert [item.at for item in found] == [
        datetime(2026, 7, 20, tzinfo=UTC), datetime(2026, 7, 25, tzinfo=UTC), None
    ]  # fmt: skip
    assert found[0].group == "Phase 1"
    assert found[0].place == "TASKS.md:5"


def test_conventions_keep_what_is_nested_in_them_and_their_heading(folder: Path) -> None:
    found = read_folder(folder).of(Section.CONVENTIONS)
    assert [(item.group, item.text) for item in found] == [
        ("Names", "**Files by what they hold**: never `util`\n- `drawer.c`, not `helpers.c`"),
        ("Names", "Short names for short lives"),
        ("Tests", "One kiosk, one test"),
    ]


def test_entries_are_read_with_and_without_dates(folder: Path) -> None:
    found = read_folder(folder).of(Section.DECISIONS)
    assert [(item.title, item.at and item.at.isoformat()) for item in found] == [
        ("Receipts before drawers", "2026-07-24T10:15:00+00:00"),
        ("Coins are counted by weight", "2026-05-02T00:00:00+00:00"),
        ("Coins are counted by hand", "2026-01-11T00:00:00+00:00"),
        ("A decision that nobody dated", None),
    ]
    assert found[0].text.startswith("**Status**: Accepted")
    assert found[0].text.endswith("saw a receipt.")
    assert [item.superseded for item in found] == [False, False, True, False]


OLD = "## [2026-01-01] Old drawer\n\n"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("## [2026-01-01] ~~Superseded: old drawer~~", "superseded"),
        ("## [2026-01-01] ~~Old drawer~~\n\ntext", "superseded"),
        (f"{OLD}**Status**: Superseded", "superseded"),
        (f"{OLD}Status: superseded by [new](x.md)", "superseded"),
        (f"{OLD}**Status**: Rejected (too loud)", "rejected"),
        ("## [2026-01-01] New drawer\n\n**Decision**: It superseded the old drawer.", ""),
        ("## [2026-01-01] Deprecated drawers are kept for a year\n\ntext", ""),
        ("- ~~Drawers are red~~", "struck out"),
        ("- ~~Tabs~~ spaces between coins", ""),
        ("- Deprecated drawers are kept for a year", ""),
    ],
)
def test_a_decision_or_a_convention_that_is_outdated(empty: Path, text: str, word: str) -> None:
    section = Section.CONVENTIONS if text.startswith("- ") else Section.DECISIONS
    found = only(read(empty, **{section.value.upper(): text}), section)
    assert (found.outdated if found.superseded else "") == word


@pytest.mark.parametrize(
    ("heading", "day"),
    [
        ("## [2026-02-19-143000] Title", 19),
        ("## [2026-02-19] Title", 19),
        ("## 2026-02-19: Title", 19),
        ("### [2026-02-19] Title", 19),
        ("## Title", None),
    ],
)
def test_headings_of_entries(empty: Path, heading: str, day: int | None) -> None:
    item = only(read(empty, LEARNINGS=f"# Learnings\n\n{heading}\n\nBody.\n"), Section.LEARNINGS)
    assert item.title == "Title"
    assert (item.at and item.at.day) == day


def test_a_date_that_does_not_exist_is_named_and_the_entry_stays(empty: Path) -> None:
    found = read(empty, DECISIONS="## [2026-13-45] Strange\n\nBody.\n")
    assert only(found, Section.DECISIONS).at is None
    assert [str(each) for each in found.problems] == [
        "DECISIONS.md:1: a date that does not exist"
    ]  # fmt: skip


READ: dict[str, tuple[Section, str, list[tuple[str, str]]]] = {
    "groups of entries are no entries": (
        Section.LEARNINGS,
        "# Learnings\n\n## Printers\n\n### [2026-01-02] Jams\n\nx\n\n## Drawers\n\nText.\n",
        [("Jams", "x"), ("Drawers", "Text.")],
    ),
    "headings inside of an entry stay in it": (
        Section.LEARNINGS,
        "## [2026-01-02] Jams\n\n### Why\n\nPaper.\n\n## [2026-01-01] Other\n\nx\n",
        [("Jams", "#### Why\n\nPaper."), ("Other", "x")],
    ),
    "comments and fences have no entries": (
        Section.DECISIONS,
        "# Decisions\n<!-- FORMAT\n## [2026-01-01] Template\n\ntext\n-->\n"
        "```markdown\n## [2026-01-02] Example\n```\n"
        "## [2026-01-03] Real <!-- said in May -->\n\nUse `<!--` with care.\n",
        [("Real", "Use `<!--` with care.")],
    ),
    "templates are no entries": (
        Section.DECISIONS,
        "## [YYYY-MM-DD] Decision title\n\n**Context**: [what happened?]\n\n## Real\n\nText.\n"
        "\n## [2026-01-02] Files are named YYYY-MM-DD.md\n\n**Context**: [none]\n\nSo they sort.\n",
        [("Real", "Text."),
         ("Files are named YYYY-MM-DD.md", "**Context**: [none]\n\nSo they sort.")],
    ),
    "learnings may be a list": (
        Section.LEARNINGS,
        "# L\n\nWhat we know.\n\n- **[2026-01-05]** Jams are slow.\n  - forty seconds\n- Cold",
        [("Jams are slow", "**[2026-01-05]** Jams are slow.\n- forty seconds"), ("Cold", "Cold")],
    ),
    "nested tasks are tasks of their own": (
        Section.TASKS,
        "- [ ] Parent\n  with a second line\n  - a note\n  - [ ] Child\n    - its note\n"
        "  - [x] Done\n- [x] Closed\n  - [ ] Still open\n",
        [("Parent with a second line", "Parent\nwith a second line\n- a note"),
         ("Child", "Child\n- its note"), ("Still open", "Still open")],
    ),
    "what is nested keeps its margin, and code its lines": (
        Section.TASKS,
        "- [ ] Parent that\n      goes on\n\n  1. a step\n     of two lines\n\n"
        "  ```sh\n  - [ ] no task\n\n    run\n  ```\n",
        [("Parent that goes on",
          "Parent that\ngoes on\n\n1. a step\n   of two lines\n\n"
          "```sh\n- [ ] no task\n\n  run\n```")],
    ),
    "tasks that are struck out are closed": (
        Section.TASKS, "- [ ] ~~Old idea~~ dropped\n- [ ] New idea\n", [("New idea", "New idea")],
    ),
    "tasks may have no boxes": (
        Section.TASKS, "# Tasks\n\n* Write\n* Read\n", [("Write", "Write"), ("Read", "Read")],
    ),
}  # fmt: skip
"""A file, and the title and text of each entry in it."""


@pytest.mark.parametrize("what", READ)
def test_the_entries_of_a_file(empty: Path, what: str) -> None:
    section, text, expected = READ[what]
    found = read(empty, **{section.value.upper(): text}).of(section)
    assert [(item.title, item.text) for item in found] == expected


def test_a_comment_or_fence_that_never_ends_begins_nothing(empty: Path) -> None:
    text = "## [2026-01-01] A\n\n<!-- lost\n\n## [2026-01-02] B\n\n```\ncode\n\n## [2026-01-03] C\n"
    found = read(empty, DECISIONS=text)
    assert titles(found, Section.DECISIONS) == ["A", "B", "C"]
    assert [each.what for each in found.problems] == [
        "a comment that never ends, read as text", "a fence that never ends, read as text"
    ]  # fmt: skip


def test_entries_that_moved_to_a_folder_are_read(empty: Path) -> None:
    moved = empty / "decisions"
    moved.mkdir(parents=True)
    (moved / "2026-03-04-drawer.md").write_text("# Drawers are grey\n\nAll of them.\n")
    (moved / "0002-adr.md").write_text(
        "# Paper\n\nDate: 2026-03-05\n\n## Status\n\nSuperseded\n\n## Context\n\nNone.\n\n"
        "## Decision\n\nThin paper.\n\n## Consequences\n\nJams.\n"
    )
    (moved / "README.md").write_text("# Decisions\n\nHow this folder works.\n")
    found = read(empty, DECISIONS="- [Drawers](decisions/2026-03-04-drawer.md)\n")
    assert [(i.title, i.at and i.at.day, i.superseded, i.place) for i in found.items] == [
        ("Paper", 5, True, "decisions/0002-adr.md:1"),
        ("Drawers are grey", 4, False, "decisions/2026-03-04-drawer.md:1"),
    ]


@pytest.mark.parametrize(
    "raw",
    [
        "﻿# Decisions\r\n\r\n## [2026-01-01] Title\r\n\r\nBody.\r\n".encode(),
        b"# Decisions\r\r## [2026-01-01] Title\r\rBody.\r",
        "# Decisions\n\n## [2026-01-01] Title\n\nBody.".encode("utf-16"),
        b"Decisions\n=========\n\n[2026-01-01] Title\n------------------\n\nBody.\n",
        b"---\ntitle: x\n---\n# Decisions\n\n## [2026-01-01] Title\n\nBody.\n",
    ],
    ids=["crlf and mark", "cr", "utf-16", "underlined", "front matter"],
)
def test_files_in_every_dress(empty: Path, raw: bytes) -> None:
    item = only(read(empty, DECISIONS=raw), Section.DECISIONS)
    assert (item.title, item.text) == ("Title", "Body.")


def test_what_is_no_text_is_named_and_counted(empty: Path) -> None:
    found = read(
        empty,
        DECISIONS=b"## [2026-01-01] Caf\xe9 and \xff\n\nBody.\n",
        LEARNINGS=bytes(range(256)) * 40,
        CONVENTIONS="only words\n# and a title\n",
    )
    assert [str(each) for each in found.problems] == [
        "DECISIONS.md: 2 places are not UTF-8 and were replaced",
        "LEARNINGS.md: is not text, so it was not read",
    ]
    assert len(found.of(Section.DECISIONS)) == 1


def test_what_cannot_be_read_is_named(empty: Path) -> None:
    empty.mkdir(parents=True)
    (empty / "LEARNINGS.md").mkdir()
    os.mkfifo(empty / "TASKS.md")
    (empty / "CONVENTIONS.md").symlink_to(empty / "nowhere.md")
    found = read(empty, DECISIONS="just prose\nwithout entries\n")
    assert [str(each) for each in found.problems] == [
        "TASKS.md: cannot be read: it is a folder, a pipe or a device, not a file",
        "CONVENTIONS.md: cannot be read: no such file or directory",
        "DECISIONS.md: no entry was found in 3 lines",
        "LEARNINGS.md: cannot be read: it is a folder, a pipe or a device, not a file",
    ]


def test_missing_and_empty_files_are_empty_sections(empty: Path) -> None:
    found = read(empty, TASKS="", DECISIONS="\n\n", CONSTITUTION="# Constitution\n")
    assert (found.items, found.constitution, found.problems) == ((), (), ())
    assert found.read_order == (".context/CONSTITUTION.md", ".context/DECISIONS.md")


def test_names_in_any_case(empty: Path) -> None:
    empty.mkdir(parents=True)
    (empty / "Tasks.md").write_text("- [ ] Write\n")
    assert titles(read_folder(empty), Section.TASKS) == ["Write"]


def test_ids_are_those_of_the_words(folder: Path) -> None:
    before = {item.title: item.id for item in read_folder(folder).items}
    path = folder / "LEARNINGS.md"
    path.write_text("## [2026-07-23] New on top\n\nText.\n\n" + path.read_text())
    after = {item.title: item.id for item in read_folder(folder).items}
    assert before.items() <= after.items()
    assert len(set(after.values())) == len(after)
