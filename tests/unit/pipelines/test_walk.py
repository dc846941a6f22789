"""The order in which a reader walks a pipeline."""

from __future__ import annotations

from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.walk import walk


def test_what_no_run_reaches_comes_last_and_says_so() -> None:
    stops = walk(parse_dot("digraph { x -> y; start -> exit; y -> exit; o -> o }"))
    assert [(stop.node.name, stop.reachable) for stop in stops] == [
        ("start", True), ("exit", True), ("x", False), ("y", False), ("o", False),
    ]  # fmt: skip
