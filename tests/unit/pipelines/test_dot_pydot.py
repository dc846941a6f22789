"""Where pydot can read a text too, both find as many nodes and edges."""

from __future__ import annotations

import contextlib
import io

import pytest

from reviewer.pipelines.dot import parse_dot
from tests.unit.pipelines.test_dot import BAKERY

pydot = pytest.importorskip("pydot")


def counted_by_pydot(text: str) -> tuple[int, int] | None:
    """(nodes, edges) of the first graph, None where pydot refuses it."""
    with contextlib.redirect_stdout(io.StringIO()):
        graphs = pydot.graph_from_dot_data(text)
    if not graphs:
        return None
    names, edges, todo = set(), 0, [graphs[0]]
    while todo:
        graph = todo.pop()
        names |= {node.get_name().strip('"') for node in graph.get_nodes()}
        for edge in graph.get_edges():
            edges += 1
            ends = (edge.get_source(), edge.get_destination())
            names |= {end.split(":")[0].strip('"') for end in ends}
        todo += graph.get_subgraphs()
    return len(names - {"graph", "node", "edge"}), edges


def counted_here(text: str) -> tuple[int, int]:
    found = parse_dot(text)
    return len(found.nodes), len(found.edges)


@pytest.mark.parametrize(
    "text",
    [
        BAKERY.replace("oven-2.5", "oven").replace("summary:low", "low"),
        "digraph { a -> b -> c [x=1 y=2][z=3]; a -> b }",
        'strict graph "x y" { "a b" -- c; c -- "a b":s }',
        "digraph { subgraph cluster_a { node [x=1]; a -> b; subgraph { c } } c -> d }",
        "digraph { a [label=<<i>x</i>>]; // note\n b /* c */ # d\n }",
        "digraph { NODE [x=1] Edge [y=2] a -> 5 -> .5 }",
        'digraph { "a" + "b" -> c; a.b -> c; ü }',
        "digraph { a } digraph { b c }",
        "digraph { a }}",
        "digraph {}",
    ],
)
def test_counts_equal_those_of_pydot(text: str) -> None:
    assert counted_here(text) == counted_by_pydot(text)
