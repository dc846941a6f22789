"""What agents have remembered is proposed, and can be written out of its file again."""

from __future__ import annotations

from pathlib import Path

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


def statements(path: Path) -> list[str]:
    return [each.statement for each in memory_proposals(path)]


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


def test_what_claude_code_remembers_of_the_person_holds_in_every_project(tmp_path: Path) -> None:
    text = (
        "---\nname: tz\ndescription: d\ntype: user\n---\nThe user works from Oslo, mornings only.\n"
    )
    (found,) = memory_proposals(written(tmp_path, "memory/tz.md", text))
    assert (found.type, found.scope) == (MemoryType.IDENTITY, "person")


def test_the_description_stands_in_for_a_body_that_is_too_long(tmp_path: Path) -> None:
    body = "The importer " + "reads the shards in the order of their names " * 8
    text = (
        "---\nname: shards\ndescription: The importer reads shards in the order of their names\n"
        f"type: project\n---\n{body}\n"
    )
    (found,) = memory_proposals(written(tmp_path, "memory/shards.md", text))
    assert found.statement == "The importer reads shards in the order of their names"
    assert found.quotes[0].line == 2


def test_the_description_stands_in_for_a_body_that_only_leads_to_a_list(tmp_path: Path) -> None:
    text = (
        "---\nname: delete-guard\ndescription: Never delete a shard without a listed backup\n"
        "type: feedback\n---\n\n# Guard\n\nBefore a shard is deleted, do all of the steps below.\n"
    )
    (found,) = memory_proposals(written(tmp_path, "memory/guard.md", text))
    assert found.statement == "Never delete a shard without a listed backup"


def test_an_index_line_is_proposed_only_if_its_file_is_missing(tmp_path: Path) -> None:
    written(tmp_path, "memory/no-amend.md", TOPIC)
    index = written(
        tmp_path,
        "memory/MEMORY.md",
        "- [No amend](no-amend.md) — never amend what was pushed\n"
        "- [Ports](ports.md) — the staging proxy listens on 8443 only\n",
    )
    assert statements(index) == ["The staging proxy listens on 8443 only"]


def test_an_old_index_holds_the_memories_themselves(tmp_path: Path) -> None:
    index = written(
        tmp_path,
        "memory/MEMORY.md",
        "# Shop\n\n## Tests\n- `make e2e` needs the fake mailer on port 1025\n- See:\n",
    )
    assert statements(index) == ["`make e2e` needs the fake mailer on port 1025"]


def test_codex_memories_leave_out_the_index_of_sessions(tmp_path: Path) -> None:
    text = (
        "# Task Group: shop\nscope: checkout\n\n## Task 1: fix totals, success\n\n"
        "### rollout_summary_files\n\n- rollout_summaries/a.md (cwd=/srv/shop)\n\n"
        "## User preferences\n\n- when totals change, the user wants a table of cases [Task 1]\n\n"
        "## Failures and how to do differently\n\n"
        "- Symptom: totals off by one cent. Cause: floats. Fix: use integers. [Task 1][Task 2]\n"
    )
    found = list(memory_proposals(written(tmp_path, ".codex/memories/MEMORY.md", text)))
    assert [each.statement for each in found] == [
        "When totals change, the user wants a table of cases",
        "Symptom: totals off by one cent. Cause: floats. Fix: use integers.",
    ]
    assert [each.scope for each in found] == ["person", "project"]


def test_gemini_keeps_its_memories_in_one_section(tmp_path: Path) -> None:
    text = (
        "# Shop\n\n- Use two spaces in templates\n\n## Gemini Added Memories\n"
        "- The user deploys on Tuesdays only.\n\n## Other\n- not a memory\n"
    )
    assert statements(written(tmp_path, "GEMINI.md", text)) == [
        "The user deploys on Tuesdays only."
    ]


def test_a_patch_in_the_inbox_of_gemini_proposes_the_lines_it_adds(tmp_path: Path) -> None:
    patch = (
        "--- /dev/null\n+++ /home/ann/.gemini/GEMINI.md\n@@ -0,0 +1,2 @@\n"
        "+# Facts\n+- The user wants answers without tables.\n unchanged line of text\n"
    )
    path = written(tmp_path, "memory/.inbox/global/extraction.patch", patch)
    (found,) = memory_proposals(path)
    assert found.statement == "The user wants answers without tables."
    assert found.quotes[0].line == 4


def test_other_notes_are_not_memories_of_an_agent(tmp_path: Path) -> None:
    assert (
        statements(written(tmp_path, "docs/notes.md", "- Ports are listed in ports.toml\n")) == []
    )
    assert (
        statements(written(tmp_path, "memory/plan.md", "- Ports are listed in ports.toml\n")) == []
    )


def test_a_memory_is_proved_by_the_lines_of_its_file(tmp_path: Path) -> None:
    text = "# Shop\n\n## Gemini Added Memories\n- The user deploys on Tuesdays only.\n"
    path = written(tmp_path, "GEMINI.md", text)
    lines = {line.line: line.text for line in memory_view(path).lines}
    (found,) = memory_proposals(path)
    assert all(quote.text in lines[quote.line] for quote in found.quotes)
