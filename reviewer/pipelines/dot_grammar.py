"""The grammar of DOT as people write it: a text becomes a WrittenGraph.

The language is Graphviz's (graphviz.org/doc/info/lang.html), with what pipelines use besides: bare
values such as `model=gpt-5.2`, bare names such as `fix-bugs` and `a.b`, dotted keys, a comma, a
semicolon or only a blank between attributes.
"""

from __future__ import annotations

import re
from itertools import pairwise, product
from pathlib import Path

from reviewer.pipelines.dot_graph import Scope, WrittenEdge, WrittenGraph
from reviewer.pipelines.dot_scanner import DotError, Scanner, needs_quotes

DEEPEST = 100
"""Subgraphs within subgraphs, at most."""

MOST_EDGES = 500_000
"""Edges of a graph, at most: two subgraphs joined by one arrow are many."""

_KEYWORDS = ("graph", "node", "edge")
_TEMPLATE = re.compile(r"\{\{|\{%|<%")
_TEMPLATE_AS_NAME = re.compile(r"\{\{[^{}\n]*\}\}\s*\{")
_HOLE = re.compile(r"\{\{[^{}\n]*\}\}")
_NOT_IN_A_CLASS = re.compile(r"[^a-z0-9-]")
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "\n": "", "\r\n": ""}


def read_dot(text: str, path: Path | None = None) -> WrittenGraph:
    """The first graph of a DOT text; what follows it is only remarked. Raises DotError."""
    return _Reader(Scanner(text, path)).graph()


def unescaped(text: str) -> str:
    r"""A string's text with `\n`, `\t`, `\"` and `\\` decoded; a line that ends in `\` goes on."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), text)


def class_of(label: str) -> str:
    """The class that a subgraph's label gives its nodes: `Fix loop` becomes `fix-loop`."""
    return _NOT_IN_A_CLASS.sub("", re.sub(r"\s+", "-", label.strip().lower())).strip("-")


class _Reader:
    """Recursive descent; a subgraph is a level of recursion, everything else is not."""

    def __init__(self, scanner: Scanner) -> None:
        self.scan = scanner
        self.graph_ = WrittenGraph()

    def graph(self) -> WrittenGraph:
        scan = self.scan
        scan.skip()
        start = scan.at
        word = (scan.bare_name() or "").lower()
        if word == "strict":
            scan.skip()
            word = (scan.bare_name() or "").lower()
        if word not in ("digraph", "graph"):
            scan.at = start
            self._refuse_template()
            scan.fail(f"A pipeline begins with digraph, and here stands: {scan.found()}", start)
        if word == "graph":
            self._undirected(start)
        scan.skip()
        if _TEMPLATE_AS_NAME.match(scan.text, scan.at):
            self._refuse_template()
        name = self._name()
        self.graph_.name = name or ""
        scan.skip()
        if not scan.take("{"):
            self._refuse_template()
            scan.fail(f"A {{ is missing before: {scan.found()}")
        scope = Scope()
        self._statements(scope, 0)
        self.graph_.attributes = scope.attributes
        self._rest()
        return self.graph_

    def _rest(self) -> None:
        """What follows the first graph is left alone, and said."""
        scan = self.scan
        scan.skip()
        if scan.at < len(scan.text):
            self.graph_.remark(
                "more-text", f"Only the first graph counts; behind it stands: {scan.found()}",
                scan.line(scan.at),
            )  # fmt: skip

    def _statements(self, scope: Scope, depth: int) -> None:
        """Statements up to the closing brace."""
        scan = self.scan
        opened = scan.at - 1
        while True:
            scan.skip()
            if scan.take("}"):
                return
            if scan.take(";"):
                continue
            if scan.at >= len(scan.text):
                scan.fail("The { that stands here is never closed.", opened)
            self._statement(scope, depth)

    def _statement(self, scope: Scope, depth: int) -> None:
        scan = self.scan
        start = scan.at
        bare = scan.bare_name()
        if bare is not None and bare.lower() in _KEYWORDS and self._defaults(bare.lower(), scope):
            return
        if bare is not None and bare.lower() != "subgraph":
            scan.skip()
            if scan.peek() == "=":
                self._graph_attribute(bare, scope, start)
                return
        scan.at = start
        ends = [self._end(scope, depth)]
        scan.skip()
        if ends[0].quoted_key and scan.peek() == "=":
            self._graph_attribute(ends[0].names[0], scope, start)
            return
        while self._edge_operator():
            scan.skip()
            if scan.peek() in (";", "}", ""):
                scan.fail(f"The edge has no target; here stands: {scan.found()}")
            ends.append(self._end(scope, depth))
            scan.skip()
        attributes = self._attribute_lists()
        if len(ends) == 1:
            if not ends[0].subgraph:
                self._declare(ends[0].names[0], scope, attributes, start)
            return
        for end in ends:
            if not end.subgraph:
                self.graph_.node(end.names[0], scope, scan.line(end.at))
        for left, right in pairwise(ends):
            if len(self.graph_.edges) + len(left.names) * len(right.names) > MOST_EDGES:
                scan.fail(f"With this statement there are more than {MOST_EDGES:,} edges.", start)
            for source, target in product(left.names, right.names):
                values = scope.edges | attributes
                self.graph_.edges.append(WrittenEdge(source, target, scan.line(left.at), values))

    def _declare(self, name: str, scope: Scope, attributes: dict[str, str], at: int) -> None:
        line = self.scan.line(at)
        node = self.graph_.node(name, scope, line)
        if attributes and node.described:
            again = sorted(
                key for key, value in attributes.items()
                if node.attributes.get(key, value) != value
            )  # fmt: skip
            if again:
                self.graph_.remark(
                    "duplicate-node",
                    f"{name} is declared again with other values for {', '.join(again)}; first in "
                    f"line {node.line + 1}. What comes later holds.",
                    line,
                )
        if not node.declared:
            node.line = line
        node.declared = True
        node.described = node.described or bool(attributes)
        node.attributes.update(attributes)

    def _end(self, scope: Scope, depth: int) -> _End:
        """A node or a subgraph, where a statement or an edge names it."""
        scan = self.scan
        start = scan.at
        if scan.peek() == "{":
            if scan.text.startswith("{%", start):
                self._refuse_template()
            if _HOLE.match(scan.text, start):
                self.graph_.remark(
                    "template",
                    f"Nothing fills this in, it is read as a subgraph: {scan.found()}",
                    scan.line(start),
                )
            return _End(self._subgraph(scope, depth, ""), start, subgraph=True)
        quoted = scan.peek() in ('"', "<")
        name = self._name()
        if name is None:
            self._refuse_template()
            scan.fail(f"This is no statement of DOT: {scan.found()}")
        if not quoted and name.lower() == "subgraph":
            scan.skip()
            title = self._name() or ""
            scan.skip()
            if scan.peek() != "{":
                scan.fail(f"A subgraph needs a {{ before: {scan.found()}")
            return _End(self._subgraph(scope, depth, title), start, subgraph=True)
        odd = not quoted and (needs_quotes(name) or name.lower() in _KEYWORDS)
        if odd and name not in self.graph_.nodes:
            self.graph_.remark(
                "quotes", f"Other readers of DOT want quotes around {name}.", scan.line(start)
            )
        scan.skip_ports()
        return _End([name], start, quoted_key=quoted)

    def _subgraph(self, scope: Scope, depth: int, title: str) -> list[str]:
        """A subgraph in braces; the names of its nodes."""
        if depth >= DEEPEST:
            self.scan.fail(f"More than {DEEPEST} subgraphs stand within each other.")
        self.scan.take("{")
        inner = scope.inner()
        self._statements(inner, depth + 1)
        derived = class_of(inner.attributes.get("label", ""))
        for name in inner.members:
            scope.members[name] = None
            node = self.graph_.nodes[name]
            if derived and derived not in node.classes:
                node.classes = (*node.classes, derived)
        for key in inner.attributes:
            if "fidelity" in key or "thread" in key:
                self.graph_.remark(
                    "no-effect",
                    f"{key} of a subgraph has no effect; write node [{key}=...] inside it.",
                    self.scan.line(self.scan.at - 1),
                )
        return list(inner.members)

    def _defaults(self, keyword: str, scope: Scope) -> bool:
        """`graph [...]`, `node [...]` and `edge [...]`: what holds from here on in this scope."""
        start = self.scan.at
        self.scan.skip()
        if self.scan.peek() != "[":
            self.scan.at = start
            return False
        line = self.scan.line(start)
        attributes = self._attribute_lists()
        target = {"graph": scope.attributes, "node": scope.nodes, "edge": scope.edges}[keyword]
        target.update(attributes)
        if keyword == "graph" and scope.parent is None:
            self.graph_.lines |= dict.fromkeys(attributes, line)
        return True

    def _graph_attribute(self, key: str, scope: Scope, at: int) -> None:
        self.scan.take("=")
        scope.attributes[key] = self._value()
        if scope.parent is None:
            self.graph_.lines[key] = self.scan.line(at)

    def _attribute_lists(self) -> dict[str, str]:
        """`[a=1, b=2] [c=3]`, which may be missing."""
        scan = self.scan
        attributes: dict[str, str] = {}
        while True:
            scan.skip()
            opened = scan.at
            if not scan.take("["):
                return attributes
            while True:
                scan.skip()
                if scan.take("]"):
                    break
                if scan.take(",") or scan.take(";"):
                    continue
                if scan.at >= len(scan.text):
                    scan.fail("The [ that stands here is never closed.", opened)
                key = self._name()
                if key is None:
                    self._refuse_template()
                    scan.fail(f"The name of an attribute is missing before: {scan.found()}")
                scan.skip()
                attributes[key] = self._value() if scan.take("=") else "true"

    def _value(self) -> str:
        scan = self.scan
        scan.skip(before_value=True)
        found = scan.value()
        if found is None:
            self._refuse_template()
            scan.fail(f"A value is missing before: {scan.found()}")
        return unescaped(found[0]) if found[1] else found[0]

    def _name(self) -> str | None:
        """A name, quoted or bare; None when none stands here."""
        scan = self.scan
        if scan.peek() in ('"', "<"):
            text = scan.quoted()
            return None if text is None else text.replace('\\"', '"')
        return scan.bare_name()

    def _edge_operator(self) -> bool:
        scan = self.scan
        start = scan.at
        if scan.take("->"):
            return True
        if scan.take("--"):
            self._undirected(start)
            return True
        if scan.peek() in ("\u2192", "\u21d2", "\u27f6"):
            scan.fail("An edge is written ->.")
        return False

    def _undirected(self, at: int) -> None:
        if not any(remark.rule == "undirected" for remark in self.graph_.remarks):
            self.graph_.remark(
                "undirected", "Edges without direction are followed as they are written.",
                self.scan.line(at),
            )  # fmt: skip

    def _refuse_template(self) -> None:
        """Raise DotError where a template was not filled in."""
        if _TEMPLATE.match(self.scan.text, self.scan.at):
            self.scan.fail(f"This template is not filled in: {self.scan.found()}")


class _End:
    """One end of an edge: the names that it stands for."""

    __slots__ = ("at", "names", "quoted_key", "subgraph")

    def __init__(
        self, names: list[str], at: int, *, subgraph: bool = False, quoted_key: bool = False
    ) -> None:
        self.names = names
        self.at = at
        self.subgraph = subgraph
        self.quoted_key = quoted_key


__all__ = ["DEEPEST", "DotError", "class_of", "read_dot", "unescaped"]
