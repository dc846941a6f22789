"""What agents have remembered is proposed, and can be written out of its file again."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.extraction.candidates import MemoryType
from reviewer.proposing.agent_memories import (
    memory_proposals,
    memory_view,
)
from reviewer.proposing.values import Proposer
from reviewer.sources.events import Speaker

TOPIC = """---
name: no-amend
description: Add a commit, never amend one that was pushed
metadata:
  type: feedback
---

Never amend a commit that was pushed; add a new one on top.

**Why:** reviewers lose their comments when the branch is forced.

**How to apply:** also when the fix is one character.
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_a_topic_file_of_claude_code_is_one_memory_with_its_reason(tmp_path: Path) -> None:
    path = written(tmp_path, "projects/-home-ann-shop/memory/no-amend.md", TOPIC)
    (found,) = memory_proposals(path)
    assert found.statement == (
        "Never amend a commit that was pushed; add a new one on top. "
        "Why: reviewers lose their comments when the branch is forced."
    )
    assert found.type is MemoryType.PREFERENCE
    assert found.kind == "instruction"
    assert found.proposer is Proposer.MEMORY
    assert found.speaker is Speaker.AGENT
    lines = TOPIC.splitlines()
    assert all(quote.text in lines[quote.line] for quote in found.quotes)


LONG = "The importer " + "reads the shards in the order of their names " * 8


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        pytest.param(
            "memory/tz.md",
            "---\nname: tz\ndescription: d\ntype: user\n---\nThe user works from Oslo only.\n",
            [("The user works from Oslo only.", 5)],
            id="of the person, for every project",
        ),
        pytest.param(
            "memory/shards.md",
            f"---\nname: s\ndescription: The importer reads by name\ntype: project\n---\n{LONG}\n",
            [("The importer reads by name", 2)],
            id="a body that is too long",
        ),
        pytest.param(
            "memory/guard.md",
            "---\nname: guard\ndescription: Never delete a shard without a backup\ntype: feedback\n"
            "---\n\n# Guard\n\nBefore a shard is deleted, do all of the steps below.\n",
            [("Never delete a shard without a backup", 2)],
            id="a body that only leads to a list",
        ),
        pytest.param(
            "memory/MEMORY.md",
            "- [No amend](no-amend.md) — never amend what was pushed\n"
            "- [Ports](ports.md) — the staging proxy listens on 8443 only\n",
            [("The staging proxy listens on 8443 only", 1)],
            id="a line of an index whose file is missing",
        ),
        pytest.param(
            "memory/MEMORY.md",
            "# Shop\n\n## Tests\n- `make e2e` needs the fake mailer on port 1025\n- See:\n",
            [("`make e2e` needs the fake mailer on port 1025", 3)],
            id="an old index",
        ),
        pytest.param(
            ".codex/memories/MEMORY.md",
            "# Task Group\n\n### rollout_summary_files\n\n- rollouts/a.md (cwd=/srv)\n\n"
            "## User preferences\n\n- when totals change, the user wants a table [Task 1]\n\n"
            "## Failures and how to do differently\n\n"
            "- Symptom: totals off by a cent. Cause: floats. [Task 1][Task 2]\n",
            [
                ("When totals change, the user wants a table", 8),
                ("Symptom: totals off by a cent. Cause: floats.", 12),
            ],
            id="Codex, without its index of sessions",
        ),
        pytest.param(
            "GEMINI.md",
            "# Shop\n\n- Use two spaces\n\n## Gemini Added Memories\n"
            "- The user deploys on Tuesdays only.\n\n## Other\n- not a memory\n",
            [("The user deploys on Tuesdays only.", 5)],
            id="Gemini CLI, one section",
        ),
        pytest.param(
            ".codex/memories/extensions/ann/notes/a.md",
            "| Port | Use |\n|---|---|\n| 8443 | staging |\n\n```\nmake e2e now\n```\n\n"
            "The proxy listens\non 8443 only.\n\n> Said by somebody else, long ago.\n",
            [("The proxy listens on 8443 only.", 8)],
            id="without tables, code and quotations",
        ),
        pytest.param("docs/notes.md", "- Ports are listed in ports.toml\n", [], id="a note"),
        pytest.param("memory/plan.md", "- Ports are listed in ports.toml\n", [], id="a plan"),
    ],
)  # fmt: skip
def test_a_file_has_these_memories_at_these_lines(
    tmp_path: Path, name: str, text: str, found: list[tuple[str, int]]
) -> None:
    written(tmp_path, "memory/no-amend.md", TOPIC)
    proposals = memory_proposals(written(tmp_path, name, text))
    assert [(each.statement, each.quotes[0].line) for each in proposals] == found


def test_a_memory_is_proved_by_the_lines_of_its_file(tmp_path: Path) -> None:
    text = "# Shop\n\n## Gemini Added Memories\n- The user deploys on Tuesdays only.\n"
    path = written(tmp_path, "GEMINI.md", text)
    lines = {line.line: line.text for line in memory_view(path).lines}
    (found,) = memory_proposals(path)
    assert all(quote.text in lines[quote.line] for quote in found.quotes)
