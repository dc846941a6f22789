"""Notes: sections, entries, front matter, templates, and exact positions."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from reviewer.sources.records import RecordUse, Role, Shape
from tests.unit.sources.builders import Scanned, note


def test_a_section_is_the_exact_lines_under_its_heading(tmp_path: Path) -> None:
    text = "Intro line.\n\n# Title\n\nBody.\n\n## Sub\n\n- item\n\n## Next\nmore text here"
    records = list(note(tmp_path, text))
    assert [(r.headings, r.line_start, r.line_end, r.text) for r in records] == [
        ((), 0, 1, "Intro line."),
        (("Title",), 2, 5, "# Title\n\nBody."),
        (("Title", "Sub"), 6, 9, "## Sub\n\n- item"),
        (("Title", "Next"), 10, 12, "## Next\nmore text here"),
    ]
    for record in records:
        raw = text.encode()[record.byte_start : record.byte_end]
        assert raw.decode() == record.text
        assert record.key == f"sha256:{hashlib.sha256(raw).hexdigest()}"
        assert (record.role, record.shape, record.use) == (
            Role.NOTE,
            Shape.SECTION,
            RecordUse.MESSAGE,
        )


def test_underlined_headings_begin_sections(tmp_path: Path) -> None:
    text = "Big\n===\n\ntext of it\n\nSmall\n-----\nmore of it\n\nnot a heading\nnor this\n---\nend"
    records = list(note(tmp_path, text))
    assert [(r.headings, r.line_start) for r in records] == [(("Big",), 0), (("Big", "Small"), 5)]


@pytest.mark.parametrize(
    "hidden",
    [
        "```\n# no heading\n```",
        "~~~~ md\n# no heading\n~~~\n# nor this\n~~~~",
        "- ```\n  # no heading\n  ```",
        "<!-- a comment\n# no heading\n-->",
        "A comment begins with `<!--` here.",
    ],
)
def test_fences_and_comments_contain_no_headings(tmp_path: Path, hidden: str) -> None:
    records = list(note(tmp_path, f"# One\n\nReal text stands here.\n\n{hidden}\n\n# Two\n\nMore."))
    assert [record.headings for record in records] == [("One",), ("Two",)]


def test_backticks_with_text_between_them_open_no_fence(tmp_path: Path) -> None:
    records = list(note(tmp_path, "# One\n\nLike\n```Error: foo```. Then\n\n# Two\n\nMore text."))
    assert [record.headings for record in records] == [("One",), ("Two",)]


class TestFrontMatter:
    def test_simple_fields_become_metadata_instead_of_text(self, tmp_path: Path) -> None:
        text = (
            "---\ntitle: 'A plan'\ndate: 2026-02-14\ntags:\n  - one\n  - two\n"
            "list: [a, b]\nnested:\n  deep: x\n---\nWe keep the plan short."
        )
        [record] = note(tmp_path, text)
        assert record.text == "We keep the plan short."
        assert record.line_start == 10
        assert record.at == "2026-02-14"
        assert record.meta == {
            "title": "A plan",
            "date": "2026-02-14",
            "tags": "one, two",
            "list": "a, b",
        }

    def test_toml_is_read_too(self, tmp_path: Path) -> None:
        [record] = note(tmp_path, '+++\n# comment\ntitle = "ADRs"\n+++\nAll records are below.')
        assert record.meta == {"title": "ADRs"}

    def test_one_that_never_ends_is_text(self, tmp_path: Path) -> None:
        [record] = note(tmp_path, "---\ntitle: x\n\nThe rest of the note goes on here.\n")
        assert record.line_start == 0
        assert record.meta == {}

    def test_alone_it_is_counted(self, tmp_path: Path) -> None:
        scan = note(tmp_path, "---\ntitle: x\n---\n")
        assert list(scan) == []
        assert scan.tally["front matter only"] == 1


class TestEntries:
    LOG = (
        "# Decisions\n\n<!-- INDEX:START -->\n| Date | Title |\n<!-- INDEX:END -->\n\n"
        "<!-- FORMAT\n## [2026-01-01] Not an entry\n-->\n\n"
        "## [2026-02-19-143000] Use one store\n\n**Status**: Accepted\n\n"
        "### Why\n\nTwo drifted apart.\n\n"
        "## [2026-02-20] Drop the cache\n\n**Status**: Superseded by the proxy\n\nIt was stale.\n\n"
        "## Name things plainly\n\n> **Superseded** (2026-03-01): see the style guide.\n\nYes.\n\n"
        "## ~~Old rule~~\n\nNo longer."
    )

    def test_each_entry_of_a_log_is_one_record_with_its_sub_headings(self, tmp_path: Path) -> None:
        records = list(note(tmp_path, self.LOG, "DECISIONS.md"))
        entries = [record for record in records if record.shape is Shape.ENTRY]
        assert [(e.meta["title"], e.meta.get("status"), e.at) for e in entries] == [
            ("Use one store", "Accepted", "2026-02-19T14:30:00"),
            ("Drop the cache", "Superseded by the proxy", "2026-02-20"),
            ("Name things plainly", "superseded", None),
            ("Old rule", "superseded", None),
        ]
        assert "### Why" in entries[0].text

    def test_the_index_and_the_format_guide_are_not_proposed(self, tmp_path: Path) -> None:
        head = next(iter(note(tmp_path, self.LOG)))
        assert (head.line_start, head.use) == (0, RecordUse.TEMPLATE)

    def test_dated_headings_are_entries_in_any_file(self, tmp_path: Path) -> None:
        text = "# Diary\n\nKept daily.\n\n## 2026-05-01: Contract\n\nWe answer one question.\n"
        first, entry = note(tmp_path, text)
        assert first.shape is Shape.SECTION
        assert (entry.shape, entry.meta["title"], entry.at) == (
            Shape.ENTRY,
            "Contract",
            "2026-05-01",
        )

    def test_an_impossible_date_is_ignored(self, tmp_path: Path) -> None:
        [entry] = note(tmp_path, "## [2026-13-45] Impossible\n\nBut it stays an entry of the log.")
        assert (entry.shape, entry.at) == (Shape.ENTRY, None)


NYGARD = (
    "# 4. Use queues\n\nDate: 2025-06-30\n\n## Status\n\nSuperseded by [ADR 9](0009-x.md)\n\n"
    "## Context\n\nLoad grows.\n\n## Decision\n\nWe will use queues.\n\n"
    "## Consequences\n\nMore parts.\n"
)
MADR = (
    "---\nstatus: accepted\n---\n# Use dashes\n\n"
    "## Context and Problem Statement\n\nWhich sign?\n\n"
    "## Considered Options\n\n* dash\n* dot\n\n## Decision Outcome\n\nChosen: dash.\n"
)


@pytest.mark.parametrize(
    ("text", "status"),
    [(NYGARD, "Superseded by ADR 9"), (MADR, "accepted")],
    ids=["nygard", "madr"],
)
def test_a_decision_record_is_one_entry(tmp_path: Path, text: str, status: str) -> None:
    [entry] = note(tmp_path, text)
    assert entry.shape is Shape.ENTRY
    assert entry.meta["status"] == status
    assert "Decision" in entry.text


def test_a_long_decision_record_is_read_by_its_headings(tmp_path: Path) -> None:
    records = list(note(tmp_path, NYGARD + "More about it.\n" * 300))
    assert len(records) == 5
    assert records[3].headings == ("4. Use queues", "Decision")


@pytest.mark.parametrize(
    "text",
    [
        "## [Decision Title]\n\n**Status**: [Accepted | Proposed]\n\n**Why**: [What prompted it?]",
        "# {short title of the solved problem}\n\n{Describe the context in free form}\n",
        "## Overview\n\n<!-- What does this system do? -->",
        "<!-- Only\na comment -->",
        "## Author\n\n{{author name}}",
    ],
)
def test_text_to_be_filled_in_is_a_template(tmp_path: Path, text: str) -> None:
    assert [record.use for record in note(tmp_path, text)] == [RecordUse.TEMPLATE]


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] ship it\n- [x] test it\n",
        "See [the guide](https://example.org) and [[Another note]].",
        "```mermaid\nflowchart LR\n A[User prompt] --> B[Agent edits]\n```\nThe flow is plain.",
        "<!-- reviewed --> We deploy from `main` only.",
    ],
)
def test_text_with_a_statement_is_not_a_template(tmp_path: Path, text: str) -> None:
    assert [record.use for record in note(tmp_path, text)] == [RecordUse.MESSAGE]


@pytest.mark.parametrize(
    ("name", "text", "use"),
    [
        *((name, "Use tabs here.", RecordUse.BOOT)
          for name in ("CLAUDE.md", "AGENTS.md", "sub-GEMINI.md", "CLAUDE.local.md")),
        ("doc.md", "This file provides guidance to Claude Code when working here.", RecordUse.BOOT),
        ("on-agents.md", "We tried three of them last week.", RecordUse.MESSAGE),
    ],
)  # fmt: skip
def test_instructions_for_agents_are_boot_text(
    tmp_path: Path, name: str, text: str, use: RecordUse
) -> None:
    assert [record.use for record in note(tmp_path, f"# Agents\n\n{text}", name)] == [use]


class TestBytes:
    def test_windows_line_ends_keep_lines_and_bytes(self, tmp_path: Path) -> None:
        data = b"\xef\xbb\xbf# One\r\n\r\nText here.\r\n# Two\r\nMore.\r\n"
        one, two = note(tmp_path, data)
        assert (one.text, one.line_start, one.line_end) == ("# One\n\nText here.", 0, 3)
        assert two.text == "# Two\nMore."
        assert data[two.byte_start : two.byte_end].rstrip() == b"# Two\r\nMore."
        assert hashlib.sha256(data[one.byte_start : one.byte_end]).hexdigest() == one.sha256

    def test_invalid_utf8_is_replaced_and_counted(self, tmp_path: Path) -> None:
        scan = note(tmp_path, b"We meet in the caf\xe9 on Mondays.\n")
        [record] = scan
        assert record.text == "We meet in the caf\ufffd on Mondays."
        assert scan.tally["invalid UTF-8"] == 1

    def test_a_repeated_section_is_read_once(self, tmp_path: Path) -> None:
        scan = note(tmp_path, "# A\n\nSame words.\n# A\n\nSame words.\n")
        assert len(list(scan)) == 1
        assert scan.tally["repeated"] == 1

    def test_a_line_that_is_too_long_splits_its_section(self, tmp_path: Path) -> None:
        before, after = b"# A\n\nThese are the words before it.\n", b"\nThese come after it.\n"
        data = before + b"x" * 1_500_000 + after
        scan = note(tmp_path, data)
        records = list(scan)
        assert [record.line_start for record in records] == [0, 4]
        for record in records:
            raw = data[record.byte_start : record.byte_end]
            assert hashlib.sha256(raw).hexdigest() == record.sha256
        assert scan.tally["line over 1 MB"] == 1

    def test_a_long_section_is_cut_between_paragraphs(self, tmp_path: Path) -> None:
        paragraph = "Words that go on and on.\n" * 40 + "\n"
        numbered = "".join(f"Paragraph {n}.\n{paragraph}" for n in range(100))
        parts = list(note(tmp_path, "# A\n\n" + numbered))
        assert len(parts) > 4
        assert all(len(part.text) < 25_000 for part in parts)
        assert {part.headings for part in parts} == {("A",)}
        assert all(part.text.startswith("Paragraph") for part in parts[1:])
        covered = sum(part.text.count("Paragraph ") for part in parts)
        assert covered == 100


@pytest.mark.parametrize("indent", ["", "  "])
def test_a_block_that_reviewer_exported_is_blank_and_the_other_lines_keep_their_places(
    tmp_path: Path, indent: str
) -> None:
    path = tmp_path / "DECISIONS.md"
    path.write_text(
        f"# Decisions\n\nWe keep one writer.\n\n{indent}<!-- reviewer:begin join=1 -->\n"
        "## Memories\n\n- We decided to use PostgreSQL.\n"
        f"{indent}<!-- reviewer:end -->\n\nLast words.\n"
    )
    scan = Scanned(path)
    (record,) = scan
    assert "PostgreSQL" not in record.text
    assert record.text.splitlines()[record.line_start + 2] == "We keep one writer."
    assert record.text.splitlines()[10] == "Last words."
    assert scan.tally["block of reviewer's own"] == 5
