"""`export`: the difference first, a backup, and no change outside the marked block."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Reviewer

OURS = "# Agents\n\nBe kind.\n"


@pytest.fixture
def decided(ingested: Reviewer) -> Reviewer:
    """A store with a fact of each layer."""
    memory, entity = (
        ingested.ids("--filter", "kind:memory")[0],
        ingested.ids("--filter", "kind:entity")[0],
    )
    ingested.succeeds("promote", memory, entity, "--alone")
    ingested.succeeds("state", "set", "currency", "EUR")
    return ingested


def test_markdown_goes_to_stdout_the_most_trusted_first(decided: Reviewer) -> None:
    text = decided("export").stdout
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads == ["## Trusted state", "## Entities", "## Memories"]
    assert "kiosk-decisions.md:" not in text


def test_the_block_of_a_file_that_belongs_to_somebody_else(decided: Reviewer) -> None:
    path = decided.folder / "AGENTS.md"
    path.write_text(OURS, encoding="utf-8")
    done = decided("export", "--into", path)
    assert (done.returncode, path.read_text()) == (0, OURS)
    assert "+- **currency**: EUR" in done.stdout
    assert "Nothing was written" in done.stderr
    assert "--write" in done.stderr
    done = decided("export", "--into", path, "--write")
    assert path.read_text().startswith(OURS)
    assert "EUR" in path.read_text()
    (backup,) = [line for line in done.stderr.splitlines() if "Backup" in line]
    with open(backup.partition(": ")[2], encoding="utf-8") as file:
        assert file.read() == OURS
    done = decided("export", "--into", path, "--write")
    assert done.stdout == ""
    assert done.stderr.startswith("No changes.\n")


def test_a_broken_block_is_refused_and_left_alone(decided: Reviewer) -> None:
    path = decided.folder / "CLAUDE.md"
    broken = OURS + "<!-- reviewer:begin join=1 -->\nno end\n"
    path.write_text(broken, encoding="utf-8")
    for extra in ((), ("--write",)):
        assert "CLAUDE.md" in decided.fails("export", "--into", path, *extra)
    assert path.read_text() == broken


def test_a_context_folder(decided: Reviewer) -> None:
    folder = decided.folder / ".context"
    folder.mkdir()
    (folder / "TASKS.md").write_text("- [ ] ours\n")
    (folder / "CONSTITUTION.md").write_text(OURS)
    done = decided("export", "--context-dir", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["CONSTITUTION.md", "TASKS.md"]
    assert "CONSTITUTION.md" in done.stdout
    done = decided.succeeds("export", "--context-dir", folder, "--write")
    assert (folder / "CONSTITUTION.md").read_text().startswith(OURS)
    assert (folder / "TASKS.md").read_text() == "- [ ] ours\n"
    assert len(list(folder.iterdir())) > 2


@pytest.mark.parametrize(
    "words",
    [
        ("--write",),
        ("--into", "a.md", "--context-dir", "b"),
    ],
)
def test_options_that_exclude_each_other(decided: Reviewer, words: tuple[str, ...]) -> None:
    decided.fails("export", *words, code=2)
    assert not (decided.folder / "a.md").exists()


def test_an_export_before_any_decision_is_reported(ingested: Reviewer) -> None:
    done = ingested("export")
    assert (done.returncode, done.stdout) == (0, "")
    assert "reviewer promote" in done.stderr


def test_an_entity_is_not_named_twice(reviewer: Reviewer) -> None:
    said = "Receipts are printed in black only"
    for words in ((said,), ("Drawers open by key", "--name", "Till")):
        reviewer.succeeds("--project", "p", "remember", *words, "--type", "decision")
    reviewer("--project", "p", "promote", 1, 2)
    text = reviewer("--project", "p", "export").stdout
    assert f"- {said} (written by hand)" in text
    assert "- **Till**: Drawers open by key (written by hand)" in text


def test_a_file_gets_no_block_when_nothing_is_kept(ingested: Reviewer) -> None:
    file = ingested.folder / "AGENTS.md"
    ingested.succeeds("export", "--into", file, "--write")
    assert not file.exists()
    ingested.succeeds("state", "set", "paper", "80 mm")
    ingested.succeeds("export", "--into", file, "--write")
    assert "80 mm" in file.read_text("utf-8")
    ingested.succeeds("state", "unset", "paper")
    ingested.succeeds("export", "--into", file, "--write")
    assert file.read_text("utf-8") == ""
