"""The `.context/` folder: every fact has its file, and what people wrote there stays."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reviewer.errors import SourceError
from reviewer.promotion.export.context_folder import file_of, plan_context_folder
from reviewer.promotion.export.file_writer import write_plan
from reviewer.promotion.export.items import ExportItem, Layer
from reviewer.promotion.export.marked_block import plan_block
from reviewer.promotion.export.plans import PlannedFile
from reviewer.promotion.views import RelationView
from reviewer.sources.note_kinds import entry_facts, entry_title
from reviewer.text.for_agents import AgentText
from tests.unit.promotion.export.conftest import Make


def write(planned: Iterable[PlannedFile], tmp_path: Path) -> None:
    for file in planned:
        write_plan(file, backup_folder=tmp_path / "backups")


@pytest.mark.parametrize(
    ("layer", "type_", "name"),
    [
        ("state", "", "CONSTITUTION.md"),
        ("entity", "decision", "DECISIONS.md"),
        ("memory", "project", "DECISIONS.md"),
        ("entity", "constraint", "CONVENTIONS.md"),
        ("memory", "preference", "CONVENTIONS.md"),
        ("memory", "knowledge", "LEARNINGS.md"),
        ("entity", "component", "LEARNINGS.md"),
        ("entity", "unheard_of", "LEARNINGS.md"),
    ],
)
def test_every_fact_has_a_file(
    make: Make, tmp_path: Path, layer: str, type_: str, name: str
) -> None:
    item = make(layer, type=type_, name="Named", content="Said")
    assert file_of(item) == name
    (planned,) = plan_context_folder([item], tmp_path / ".context")
    assert planned.path == tmp_path / ".context" / name
    assert b"Named" in planned.after
    assert b"Said" in planned.after


def test_a_decision_has_the_parts_that_are_known(make: Make, tmp_path: Path) -> None:
    item = make(
        "entity", id=4, type="decision", name="Pump B", content="We use pump B.", note="Two bids.",
        attributes=(
            ("Rationale", "It is quieter."), ("consequences", "New seals."), ("owner", "Al"),
        ),
        relations=(RelationView("part_of", "Cooling", 2),),
    )  # fmt: skip
    (planned,) = plan_context_folder([item], tmp_path)
    assert planned.before is None
    text = planned.after.decode()
    assert text.startswith("# Decisions\n\n<!-- reviewer:begin")
    assert (
        "\n## [2026-02-19-143000] Pump B\n\n**Status**: Accepted\n\n**Context**: Two bids.\n\n"
        "**Decision**: We use pump B.\n\n**Rationale**: It is quieter.\n\n"
        "**Consequence**: New seals.\n\n**Owner**: Al\n\n**Relations**: part of: Cooling\n\n"
        "**Source**: entity 4: notes/pump.md:10-12\n"
    ) in text


def test_an_entry_reads_as_one_for_whoever_reads_such_folders(make: Make, tmp_path: Path) -> None:
    item = make("entity", type="decision", name="Pump B", content="We use it.", status="superseded")
    (planned,) = plan_context_folder([item], tmp_path)
    head = next(line for line in planned.after.decode().splitlines() if line.startswith("## "))
    assert entry_title(head.removeprefix("## ")) == ("Pump B", "2026-02-19T14:30:00")
    assert entry_facts(planned.after.decode())["status"] == "Superseded"


@pytest.mark.parametrize("content", ["word " * 60, "x" * 300])
def test_a_long_wording_is_shortened_in_the_title_only(
    make: Make, tmp_path: Path, content: str
) -> None:
    (planned,) = plan_context_folder([make(type="knowledge", content=content)], tmp_path)
    text = planned.after.decode()
    title = next(line for line in text.splitlines() if line.startswith("## "))
    assert len(title) < 110
    assert title.endswith("…")
    assert f"**Lesson**: {content.strip()}\n" in text


def test_the_newest_entry_comes_first_and_a_bad_moment_is_left_out(
    make: Make, tmp_path: Path
) -> None:
    items = [
        make(id=1, type="knowledge", content="Old", created_at="2025-01-01T00:00:00Z"),
        make(id=2, type="knowledge", content="New", created_at="2026-01-01T00:00:00Z"),
        make(id=3, type="knowledge", content="Undated", created_at=""),
    ]
    (planned,) = plan_context_folder(items, tmp_path)
    heads = [line for line in planned.after.decode().splitlines() if line.startswith("## ")]
    assert heads == ["## [2026-01-01-000000] New", "## [2025-01-01-000000] Old", "## Undated"]


def test_what_people_wrote_stays_to_the_byte(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / ".context"
    folder.mkdir()
    mine = b"\xef\xbb\xbf# My decisions\r\n\r\n## [2025-01-01] Mine\r\n\xff no final newline"
    (folder / "DECISIONS.md").write_bytes(mine)
    (folder / "TASKS.md").write_bytes(b"- [ ] mine")
    items = [make("entity", type="decision", name="Pump B"), make("state", name="flow", value="5")]
    write(plan_context_folder(items, folder), tmp_path)
    assert (folder / "DECISIONS.md").read_bytes().startswith(mine)
    assert (folder / "TASKS.md").read_bytes() == b"- [ ] mine"
    assert sorted(path.name for path in folder.iterdir()) == [
        "CONSTITUTION.md", "DECISIONS.md", "TASKS.md",
    ]  # fmt: skip
    assert not any(file.changed for file in plan_context_folder(items, folder))


def test_a_file_that_loses_its_last_fact_loses_the_block_only(make: Make, tmp_path: Path) -> None:
    mine = b"# Learnings\n\nMine"
    (tmp_path / "LEARNINGS.md").write_bytes(mine)
    write(plan_context_folder([make(type="knowledge", content="Said")], tmp_path), tmp_path)
    (planned,) = plan_context_folder([], tmp_path)
    assert planned.after == mine
    write([planned], tmp_path)
    assert plan_context_folder([], tmp_path) == ()


def test_a_broken_block_is_told_and_the_other_files_are_planned(make: Make, tmp_path: Path) -> None:
    (tmp_path / "DECISIONS.md").write_bytes(b"<!-- reviewer:begin -->\n")
    items = [make("entity", type="decision", name="B"), make("state", name="flow", value="5")]
    constitution, decisions = plan_context_folder(items, tmp_path)
    assert constitution.changed
    assert "Line 1 " in decisions.problem
    (alone,) = plan_context_folder([], tmp_path)
    assert alone.problem == decisions.problem


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("#-=`~<>![]():|*_ \\\nab1.")), min_size=2, max_size=2))
def test_whatever_a_fact_says_is_one_entry(texts: list[str]) -> None:
    items = [
        ExportItem(
            layer=Layer.MEMORY, id=1, type=type_, name=texts[0], content=texts[1], created_at="",
            note=texts[0], attributes=((texts[0], texts[1]), ("rationale", texts[1])),
        )
        for type_ in ("project", "knowledge")
    ]  # fmt: skip
    for planned in plan_context_folder(items, Path("/nowhere")):
        tokens = MarkdownIt("commonmark").enable("table").parse(planned.after.decode())
        assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2"]
        kinds = {token.type for token in tokens if token.nesting >= 0}
        assert kinds == {"heading_open", "paragraph_open", "inline", "html_block"}
        assert sum(token.type == "html_block" for token in tokens) == 2
        again = plan_block(planned.after, AgentText(planned.after.decode()))
        assert plan_block(again.after, AgentText(planned.after.decode())).after == again.after


def test_a_folder_in_the_place_of_a_file_is_refused(make: Make, tmp_path: Path) -> None:
    (tmp_path / "DECISIONS.md").mkdir()
    with pytest.raises(SourceError, match="not a regular file"):
        plan_context_folder([make("entity", type="decision", name="B")], tmp_path)
