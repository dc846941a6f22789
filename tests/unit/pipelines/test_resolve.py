"""How fidelity and thread are resolved."""

from __future__ import annotations

import pytest

from reviewer.pipelines.dot import parse_dot
from reviewer.pipelines.resolve import (
    entries,
    explain_fidelity,
    explain_thread,
    fidelity_on_resume,
    resolve_fidelity,
    resolve_thread_id,
)
from reviewer.pipelines.values import MODES, Pipeline, PipelineEdge, PipelineNode


def node(**values: object) -> PipelineNode:
    return PipelineNode("cut", "cut", "box", "codergen", **values)  # type: ignore[arg-type]


def edge(**values: object) -> PipelineEdge:
    return PipelineEdge("sew", "cut", 0, **values)  # type: ignore[arg-type]


def graph(**values: object) -> Pipeline:
    return Pipeline("coat", "", {}, (), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("on_edge", "on_node", "on_graph", "value", "rule"),
    [
        ("full", "truncate", "summary:low", "full", "edge"),
        (None, "truncate", "summary:low", "truncate", "node"),
        (None, None, "summary:low", "summary:low", "graph"),
        (None, None, None, "compact", "default"),
        ("huge", "truncate", "summary:low", "truncate", "node"),
        ("huge", "tiny", "wide", "compact", "default"),
        (" Full ", None, None, "full", "edge"),
        ("", "", "", "compact", "default"),
    ],
)
def test_edge_before_node_before_graph_before_default(
    on_edge: str | None, on_node: str | None, on_graph: str | None, value: str, rule: str
) -> None:
    parts = edge(fidelity=on_edge), node(fidelity=on_node), graph(default_fidelity=on_graph)
    assert resolve_fidelity(*parts) == value
    found = explain_fidelity(*parts)
    assert (found.value, found.rule) == (value, rule)
    assert found.steps == (
        ("edge", on_edge), ("node", on_node), ("graph", on_graph), ("default", "compact"),
    )  # fmt: skip


def test_without_an_edge_the_node_decides() -> None:
    assert resolve_fidelity(None, node(fidelity="full"), graph()) == "full"
    assert resolve_thread_id(None, node(), graph(), "sew") == "sew"


@pytest.mark.parametrize(
    ("on_node", "on_edge", "on_graph", "classes", "value", "rule"),
    [
        ("n", "e", "g", ("c",), "n", "node"),
        (None, "e", "g", ("c",), "e", "edge"),
        (None, None, "g", ("c",), "g", "graph"),
        (None, None, None, ("inner", "outer"), "inner", "subgraph"),
        (None, None, None, (), "sew", "previous node"),
    ],
)
def test_node_before_edge_before_graph_before_subgraph_before_previous(
    on_node: str | None,
    on_edge: str | None,
    on_graph: str | None,
    classes: tuple[str, ...],
    value: str,
    rule: str,
) -> None:
    parts = (
        edge(thread_id=on_edge),
        node(thread_id=on_node, classes=classes),
        graph(default_thread_id=on_graph),
        "sew",
    )
    assert resolve_thread_id(*parts) == value
    assert explain_thread(*parts).rule == rule


def test_the_first_node_of_a_run_gets_a_thread_of_its_own_name() -> None:
    assert resolve_thread_id(None, node(), graph(), "") == "cut"


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
    resolved = [
        (each.fidelity.value, each.fidelity.rule, each.shared_thread) for each in entries(found)
    ]
    assert resolved == [
        ("full", "edge", "cloth"), ("summary:medium", "node", ""),
    ]  # fmt: skip


def test_the_class_of_a_subgraph_is_a_thread() -> None:
    found = parse_dot(
        'digraph { a -> b; subgraph { label="Fitting Room" node [fidelity=full] c -> d } b -> c }'
    )
    assert {entry.node.name: entry.shared_thread for entry in entries(found)} == {
        "b": "", "c": "fitting-room", "d": "fitting-room",
    }  # fmt: skip
