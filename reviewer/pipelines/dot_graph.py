"""A DOT graph as it was written, before anything in it means a pipeline."""

from __future__ import annotations

from msgspec import Struct, field

from reviewer.pipelines.values import Remark


class WrittenNode(Struct):
    """A node with the attributes that hold for it; `line` (0-based) is where it was declared."""

    name: str
    line: int
    attributes: dict[str, str]
    declared: bool = False
    """Whether a statement of its own names it, and not only an edge."""
    described: bool = False
    """Whether a statement of its own gave it attributes."""
    classes: tuple[str, ...] = ()


class WrittenEdge(Struct):
    """An edge between two nodes with the attributes that hold for it."""

    source: str
    target: str
    line: int
    attributes: dict[str, str]


class Scope(Struct):
    """A graph or subgraph while it is read: its defaults, its attributes, its nodes in order."""

    nodes: dict[str, str] = field(default_factory=dict)
    edges: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    members: dict[str, None] = field(default_factory=dict)
    parent: Scope | None = None

    def inner(self) -> Scope:
        """A subgraph of this one: it inherits the defaults of nodes and edges."""
        return Scope(nodes=dict(self.nodes), edges=dict(self.edges), parent=self)


class WrittenGraph(Struct):
    """The first graph of a file. `lines` has the 0-based line of each of its attributes."""

    name: str = ""
    nodes: dict[str, WrittenNode] = field(default_factory=dict)
    edges: list[WrittenEdge] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    def node(self, name: str, scope: Scope, line: int) -> WrittenNode:
        """The node of that name, made with the defaults of `scope` where it is new."""
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = WrittenNode(name, line, dict(scope.nodes))
        scope.members[name] = None
        return node

    def remark(self, rule: str, message: str, line: int) -> None:
        """Note something odd."""
        self.remarks.append(Remark(rule, message, line))
