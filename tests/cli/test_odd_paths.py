"""Paths that are not what they should be are refused in the same words by every verb."""

from __future__ import annotations

import os

import pytest

from tests.cli.conftest import Reviewer


@pytest.mark.parametrize(
    ("kind", "verb"),
    [("pipe", ("queue", "list")), ("device", ("ingest", "a.md")), ("folder", ("history",))],
)
def test_a_store_that_is_not_a_regular_file_is_named_as_such(
    reviewer: Reviewer, kind: str, verb: tuple[str, ...]
) -> None:
    (reviewer.folder / "a.md").write_text("- Always print in black.\n", "utf-8")
    store = reviewer.folder / "odd"
    if kind == "pipe":
        os.mkfifo(store)
    elif kind == "folder":
        store.mkdir()
    else:
        store.symlink_to("/dev/null")
    line = reviewer.fails("--db", store, *verb)
    what = "is a folder" if kind == "folder" else "is a pipe or a device, not a regular file"
    assert f"{store} {what}" in line
    assert "--db" in line
