"""How fidelity and thread are resolved, by the rules of the document."""

from __future__ import annotations

import pytest

from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.resolve import (
    NodeEntry,
    entries,
    entry_through,
    fidelity_on_resume,
    resolve_fidelity,
    resolve_thread_id,
)
from reviewer.pipelines.values import MODES


def sewn(on_edge: str, on_node: str, on_graph: str) -> NodeEntry:
    """How `cut` is entered from `sew`, with attributes in three places."""
    found = parse_dot(f"digraph coat {{ {on_graph}; cut [{on_node}]; sew -> cut [{on_edge}] }}")
    (entry,) = entries(found)
    return entry


@pytest.mark.parametrize(
    ("on_edge", "on_node", "on_graph", "value", "rule"),
    [
        ("full", "truncate", "summary:low", "full", "edge"),
        ("", "truncate", "summary:low", "truncate", "node"),
        ("", "", "summary:low", "summary:low", "graph"),
        ("", "", "", "compact", "default"),
        ("huge", "truncate", "summary:low", "truncate", "node"),
    ],
)
def test_edge_before_node_before_graph_before_default(
    on_edge: str, on_node: str, on_graph: str, value: str, rule: str
) -> None:
    entry = sewn(f'fidelity="{on_edge}"', f'fidelity="{on_node}"', f'default_fidelity="{on_graph}"')
    assert (entry.fidelity.value, entry.fidelity.rule) == (value, rule)
    assert entry.fidelity.steps == (
        ("edge", on_edge or None), ("node", on_node or None), ("graph", on_graph or None),
        ("default", "compact"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("on_node", "on_edge", "on_graph", "value", "rule"),
    [
        ("n", "e", "g", "n", "node"),
        ("", "e", "g", "e", "edge"),
        ("", "", "g", "g", "graph"),
        ("", "", "", "sew", "previous node"),
    ],
)
def test_node_before_edge_before_graph_before_previous(
    on_node: str, on_edge: str, on_graph: str, value: str, rule: str
) -> None:
    entry = sewn(f'thread_id="{on_edge}"', f'thread_id="{on_node}"', f'thread_id="{on_graph}"')
    assert (entry.thread.value, entry.thread.rule) == (value, rule)


def test_the_class_of_a_subgraph_comes_before_the_previous_node() -> None:
    found = parse_dot(
        'digraph { a -> b; subgraph { label="Fitting Room" node [fidelity=full] c -> d } b -> c }'
    )
    assert {entry.node.name: entry.shared_thread for entry in entries(found)} == {
        "b": "", "c": "fitting-room", "d": "fitting-room",
    }  # fmt: skip


def test_the_first_node_of_a_run_gets_a_thread_of_its_own_name() -> None:
    found = parse_dot("digraph { cut [fidelity=full] }")
    assert entry_through(found, None, found.nodes["cut"]).shared_thread == "cut"


@pytest.mark.parametrize("mode", MODES)
def test_only_full_and_only_the_first_node_after_a_resume_degrades(mode: str) -> None:
    assert fidelity_on_resume(mode, is_first_after_resume=False) == mode
    first = fidelity_on_resume(mode, is_first_after_resume=True)
    assert first == ("summary:high" if mode == "full" else mode)


def test_two_edges_between_the_same_nodes_decide_for_themselves() -> None:
    found = parse_dot(
        """digraph { default_fidelity=truncate
        cut [fidelity="summary:medium" thread_id=cloth]
        sew -> cut [condition="outcome=fail" fidelity=full thread_id=other]
        sew -> cut [condition="outcome=success"] }"""
    )
    cut, (first, second) = found.nodes["cut"], found.edges
    assert resolve_fidelity(first, cut, found) == "full"
    assert resolve_fidelity(second, cut, found) == "summary:medium"
    assert resolve_thread_id(first, cut, found, "sew") == "cloth"
