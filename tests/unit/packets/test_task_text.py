"""The task as a sentence, a diff, a list of files or a transcript."""

from __future__ import annotations

import json

import pytest

from reviewer.errors import ReviewerError
from reviewer.packets.task_text import LARGEST_TASK, TaskKind, kind_of, query_of_task

DIFF = """\
Stop the drawer from opening twice

diff --git a/till/drawer.py b/till/drawer.py
--- a/till/drawer.py
+++ b/till/drawer.py
@@ -10,3 +10,4 @@ def open_drawer():
 unchanged = solenoid()
-    pulse(2)
+    pulse_once(DEBOUNCE)
"""
FILES = " M till/drawer.py\nA  docs/guide.md\n?? conftest.py\n"
TRANSCRIPT = "\n".join(
    json.dumps(each)
    for each in (
        {"type": "user", "message": {"role": "user", "content": "Why is the gong silent?"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Felt clapper."}]}},
        {"type": "assistant", "message": {"content": [
            {"type": "tool_use", "name": "Read", "input": {"file_path": "/gong/clapper.py"}}]}},
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (DIFF, TaskKind.DIFF),
        (FILES, TaskKind.FILES),
        (TRANSCRIPT, TaskKind.TRANSCRIPT),
        ("Fix the drawer.", TaskKind.TEXT),
        ("Fix till/drawer.py, it opens twice", TaskKind.TEXT),
        ("{not json", TaskKind.TEXT),
        ("", TaskKind.TEXT),
        ("hinge", TaskKind.TEXT),
    ],
)
def test_the_kind_is_seen(text: str, kind: TaskKind) -> None:
    assert kind_of(text) is kind


def test_a_diff_counts_by_its_message_its_files_and_the_changed_lines() -> None:
    words = query_of_task(DIFF).words
    assert {"drawer", "till/drawer.py", "pulse", "debounce", "pulse_once"} <= words.keys()
    assert "solenoid" not in words
    assert words["drawer"] > words["debounce"]


def test_a_list_of_files_counts_by_their_names() -> None:
    words = query_of_task(FILES).words
    assert {"till/drawer.py", "drawer", "guide", "conftest.py"} <= words.keys()


def test_a_transcript_counts_by_what_was_said_and_touched() -> None:
    words = query_of_task(TRANSCRIPT).words
    assert {"gong", "silent", "felt", "clapper"} <= words.keys()
    assert not {"user", "assistant", "tool_use"} & words.keys()
    assert words["clapper"] > words["silent"]


def test_a_transcript_with_a_broken_line_is_read() -> None:
    assert "gong" in query_of_task(TRANSCRIPT + '\n{"type": "us').words


def test_too_long_a_task_is_refused_with_its_size() -> None:
    with pytest.raises(ReviewerError, match="at most 4,000,000"):
        query_of_task("x" * (LARGEST_TASK + 1))
