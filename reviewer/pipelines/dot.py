"""Reads DOT files as pipelines.

The language is Graphviz's (graphviz.org/doc/info/lang.html) with what pipelines add: bare values
such as `model=gpt-5.2`, bare names such as `fix-bugs` and `a.b`, dotted keys, and a comma, a
semicolon or only a blank between attributes.

The parser is our own: pydot needs 60 ms for a usual pipeline and 15 s for 5,000 nodes, and refuses
bare values. The tests compare the two.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise, product
from pathlib import Path
from typing import NoReturn

from msgspec import Struct, field, structs

from reviewer.errors import ReviewerError
from reviewer.files import open_plain
from reviewer.pipelines.attribute_meanings import (
    FIDELITY_OF_GRAPH,
    MODEL,
    PROMPT,
    RETRIES_OF_GRAPH,
    THREAD_OF_GRAPH,
    end_named,
    first_of,
    handler_of,
    whole_number,
)
from reviewer.pipelines.lint import lint
from reviewer.pipelines.values import (
    CODERGEN,
    EXIT,
    START,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    Remark,
)
from reviewer.text.display import display_line

LARGEST = 32 * 1024 * 1024
"""Bytes of a pipeline file, at most."""


def parse_dot(text: str, path: Path | None = None) -> Pipeline:
    """The pipeline that a DOT text describes, with remarks in `warnings`.

    `path` names the text in messages, and the pipeline if its graph has no name. Raises DotError
    (one line, with line and column) if the text is not DOT.
    """
    graph = read_dot(text, path)
    attributes = graph.attributes
    retries = whole_number(first_of(attributes, RETRIES_OF_GRAPH)) or 0
    nodes = _with_ends({name: _node(node, retries) for name, node in graph.nodes.items()})
    pipeline = Pipeline(
        name=graph.name or (path.stem if path else "pipeline"),
        goal=attributes.get("goal", ""),
        nodes=nodes,
        edges=tuple(_edge(edge, index) for index, edge in enumerate(graph.edges)),
        default_fidelity=first_of(attributes, FIDELITY_OF_GRAPH),
        default_thread_id=first_of(attributes, THREAD_OF_GRAPH),
        attributes=attributes,
    )
    remarks = [*graph.remarks, *_undeclared(graph), *lint(pipeline, graph.lines)]
    remarks.sort(key=lambda remark: -1 if remark.line is None else remark.line)
    return structs.replace(pipeline, warnings=tuple(remarks))


def read_pipeline(path: Path) -> Pipeline:
    """The pipeline of a file. Raises ReviewerError if it cannot be read, else as `parse_dot`."""
    return parse_dot(pipeline_text(path), path)


def pipeline_text(path: Path) -> str:
    """The text of a file, which may be a pipe of the shell. Raises ReviewerError."""
    try:
        if path.is_dir():
            raise ReviewerError(f"{path} is a folder; name a DOT file.")
        with open_plain(path) as file:
            data = file.read(LARGEST + 1)
    except OSError as problem:
        raise ReviewerError(f"Cannot read {path}: {problem.strerror or problem}.") from problem
    if len(data) > LARGEST:
        raise ReviewerError(
            f"{path} is larger than {LARGEST // 2**20} MB, too large for a pipeline."
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _node(node: WrittenNode, retries: int) -> PipelineNode:
    values = node.attributes
    own = whole_number(values.get("max_retries"))
    return PipelineNode(
        name=node.name,
        label=values.get("label") or node.name,
        shape=values.get("shape", "box"),
        handler=handler_of(values),
        prompt=first_of(values, PROMPT) or "",
        fidelity=values.get("fidelity") or None,
        thread_id=values.get("thread_id") or None,
        classes=node.classes,
        max_retries=max(retries if own is None else own, 0),
        llm_model=first_of(values, MODEL),
        attributes=values,
        line=node.line,
    )


def _with_ends(nodes: dict[str, PipelineNode]) -> dict[str, PipelineNode]:
    """Without a start or an exit by shape or type, the node with that name becomes it."""
    for handler in (START, EXIT):
        if any(node.handler == handler for node in nodes.values()):
            continue
        for name, node in nodes.items():
            plain = node.handler == CODERGEN
            if plain and end_named(name, prompt=node.prompt) == handler:
                nodes[name] = structs.replace(node, handler=handler)
                break
    return nodes


def _edge(edge: WrittenEdge, index: int) -> PipelineEdge:
    values = edge.attributes
    return PipelineEdge(
        source=edge.source,
        target=edge.target,
        index=index,
        label=values.get("label", ""),
        condition=values.get("condition", ""),
        weight=whole_number(values.get("weight")) or 0,
        fidelity=values.get("fidelity") or None,
        thread_id=values.get("thread_id") or None,
        attributes=values,
        line=edge.line,
    )


def _undeclared(graph: WrittenGraph) -> list[Remark]:
    """Nodes that only edges name, in a graph that declares most of its nodes."""
    named = [node for node in graph.nodes.values() if not node.declared]
    if len(named) * 2 > len(graph.nodes):
        return []
    return [
        Remark(
            "edge-to-nowhere",
            f"{node.name} is named by an edge but never declared.",
            node.line,
        )
        for node in named
        if end_named(node.name, prompt="") is None
    ]


# Characters


# Blanks and comments between tokens.
_BLANKS = re.compile(r"(?:[\s\ufeff\u200b]+|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_BLANKS_BEFORE_VALUE = re.compile(r"(?:[\s\ufeff\u200b]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_JOIN = re.compile(r"\s*\+\s*(?=\")")
_CURLY = "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_ARROWS = "\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f"
# DOT's bare names, and others that people write: `fix-bugs`, `a.b`, `$goal`, any script.
_LETTER = rf"(?:[\w.$@]|[^\x00-\x7f\s{_CURLY}{_ARROWS}])"
_NAME = re.compile(rf"-?{_LETTER}+(?:-{_LETTER}+)*")
# Values allow more than names: `gpt-5.2`, `summary:medium`, `outcome=success`, `#ff0000`.
_VALUE = re.compile(rf"(?:(?!/\*|(?<!:)//)[^\s,;\[\]{{}}\"{_CURLY}])+")
_PORT = re.compile(r"\s*:\s*(?=[\w\"])")
_ANGLE = re.compile("[<>]")
_SHOWN = 24


class DotError(ReviewerError):
    """A text is not DOT. The message is one line, `FILE:LINE:COLUMN: ...`, counted from 1."""


class Scanner:
    """Reads tokens of a DOT text one after the other. `at` is the offset of the next character."""

    def __init__(self, text: str, path: Path | None = None) -> None:
        self.text = text
        self.path = path
        self.at = 0
        self._line_starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def line(self, at: int) -> int:
        """The 0-based line of an offset."""
        return bisect_right(self._line_starts, at) - 1

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise DotError for the offset `at` (default: here)."""
        at = self.at if at is None else at
        line = self.line(at)
        column = at - self._line_starts[line] + 1
        where = f"{display_line(str(self.path))}:" if self.path else ""
        raise DotError(f"{where}{line + 1}:{column}: {display_line(message)}")

    def found(self) -> str:
        """What comes next, for a message."""
        rest = self.text[self.at : self.at + _SHOWN + 1].split("\n")[0].strip()
        if not rest:
            return "the end of the text" if self.at >= len(self.text) else "the end of the line"
        return rest if len(rest) <= _SHOWN else rest[:_SHOWN] + "..."

    def skip(self, *, before_value: bool = False) -> None:
        """Skip blanks and comments; before a value, `#` begins a colour, not a comment."""
        blanks = (_BLANKS_BEFORE_VALUE if before_value else _BLANKS).match(self.text, self.at)
        self.at = blanks.end() if blanks else self.at
        if self.text.startswith("/*", self.at):
            self.fail("The comment that begins here is never closed with */.")

    def take(self, token: str) -> bool:
        """Skip `token`; False if something else comes next."""
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def peek(self) -> str:
        """The next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    def bare_name(self) -> str | None:
        """A name without quotes, or None if none comes next."""
        match = _NAME.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group()

    def quoted(self) -> str | None:
        """A string (`"a"`, `"a" + "b"`) or HTML (`<b>`) as written between its quotes, or None.

        Escapes are not decoded. HTML keeps its outer brackets.
        """
        if self.peek() == "<":
            return self._html()
        if self.peek() != '"':
            return None
        parts = [self._string()]
        while (join := _JOIN.match(self.text, self.at)) is not None:
            self.at = join.end()
            parts.append(self._string())
        return "".join(parts)

    def value(self) -> tuple[str, bool] | None:
        """A value after `=` and whether it was quoted, or None if none comes next."""
        text = self.quoted()
        if text is not None:
            return text, True
        if self.peek() == "'" and "'" in self.text[self.at + 1 :].split("\n")[0]:
            self.fail("Write text in double quotes.")
        match = _VALUE.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group(), False

    def skip_ports(self) -> None:
        """Skip `:port:compass` after the name of a node."""
        while (colon := _PORT.match(self.text, self.at)) is not None:
            self.at = colon.end()
            if self.quoted() is None:
                self.bare_name()

    def _string(self) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            self.fail("The text that begins here has no closing quote.")
        self.at = match.end()
        return match.group()[1:-1]

    def _html(self) -> str:
        start, depth = self.at, 0
        for angle in _ANGLE.finditer(self.text, start):
            depth += 1 if angle.group() == "<" else -1
            if depth == 0:
                self.at = angle.end()
                break
        else:
            self.fail("The HTML that begins here has no closing >.")
        return self.text[start : self.at]


# Grammar


class WrittenNode(Struct):
    """A node with all its attributes, defaults included; `line` (0-based): its declaration."""

    name: str
    line: int
    attributes: dict[str, str]
    declared: bool = False
    """By a statement of its own, not only by an edge."""
    classes: tuple[str, ...] = ()


class WrittenEdge(Struct):
    """An edge between two nodes with all its attributes, defaults included."""

    source: str
    target: str
    line: int
    attributes: dict[str, str]


class GraphScope(Struct):
    """A graph or subgraph while it is read: defaults, attributes, members in order."""

    nodes: dict[str, str] = field(default_factory=dict)
    edges: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    members: dict[str, None] = field(default_factory=dict)
    parent: GraphScope | None = None

    def inner(self) -> GraphScope:
        """The scope of a subgraph, which inherits the defaults of nodes and edges."""
        return GraphScope(nodes=dict(self.nodes), edges=dict(self.edges), parent=self)


class WrittenGraph(Struct):
    """A graph as written, its attributes not interpreted yet but with their lines (0-based)."""

    name: str = ""
    nodes: dict[str, WrittenNode] = field(default_factory=dict)
    edges: list[WrittenEdge] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    def node(self, name: str, scope: GraphScope, line: int) -> WrittenNode:
        """The node of that name; a new one gets the defaults of `scope`."""
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = WrittenNode(name, line, dict(scope.nodes))
        scope.members[name] = None
        return node

    def remark(self, rule: str, message: str, line: int) -> None:
        """Add a remark."""
        self.remarks.append(Remark(rule, message, line))


DEEPEST = 100
"""Nested subgraphs, at most."""

MOST_EDGES = 500_000
"""Edges of a graph, at most: an arrow between two subgraphs makes one for each pair of nodes."""

_KEYWORDS = ("graph", "node", "edge")
_TEMPLATE_AS_NAME = re.compile(r"\{\{[^{}\n]*\}\}\s*\{")
_NOT_IN_A_CLASS = re.compile(r"[^a-z0-9-]")
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "\n": "", "\r\n": ""}


def read_dot(text: str, path: Path | None = None) -> WrittenGraph:
    """The first graph of a DOT text; a remark says if more follows. Raises DotError."""
    return _Reader(Scanner(text, path)).graph()


def unescaped(text: str) -> str:
    r"""A string's text with `\n`, `\t`, `\"` and `\\` decoded; a `\` at the end
    of a line joins it to the next.
    """
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), text)


def class_of(label: str) -> str:
    """The class that a subgraph's label gives its nodes: `Fix loop` -> `fix-loop`."""
    return _NOT_IN_A_CLASS.sub("", re.sub(r"\s+", "-", label.strip().lower())).strip("-")


class _Reader:
    """Recursive descent; only subgraphs recurse, to DEEPEST."""

    def __init__(self, scanner: Scanner) -> None:
        self.scan = scanner
        self.written = WrittenGraph()

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
            scan.fail(f"A pipeline begins with digraph, not with: {scan.found()}", start)
        if word == "graph":
            self._undirected(start)
        scan.skip()
        if _TEMPLATE_AS_NAME.match(scan.text, scan.at):
            scan.fail(f"This template is not filled in: {scan.found()}")
        name = self._name()
        self.written.name = name or ""
        scan.skip()
        if not scan.take("{"):
            scan.fail(f"A {{ is missing before: {scan.found()}")
        scope = GraphScope()
        self._statements(scope, 0)
        self.written.attributes = scope.attributes
        self._rest()
        return self.written

    def _rest(self) -> None:
        """Remark on text after the first graph."""
        scan = self.scan
        scan.skip()
        if scan.at < len(scan.text):
            self.written.remark(
                "more-text", f"Only the first graph is read; ignored after it: {scan.found()}",
                scan.line(scan.at),
            )  # fmt: skip

    def _statements(self, scope: GraphScope, depth: int) -> None:
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
                scan.fail("This { is never closed.", opened)
            self._statement(scope, depth)

    def _statement(self, scope: GraphScope, depth: int) -> None:
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
        if ends[0].quoted and scan.peek() == "=":
            self._graph_attribute(ends[0].names[0], scope, start)
            return
        while self._edge_operator():
            scan.skip()
            if scan.peek() in (";", "}", ""):
                scan.fail(f"The edge has no target before: {scan.found()}")
            ends.append(self._end(scope, depth))
            scan.skip()
        attributes = self._attribute_lists()
        if len(ends) == 1:
            if not ends[0].subgraph:
                self._declare(ends[0].names[0], scope, attributes, start)
            return
        for end in ends:
            if not end.subgraph:
                self.written.node(end.names[0], scope, scan.line(end.at))
        for left, right in pairwise(ends):
            if len(self.written.edges) + len(left.names) * len(right.names) > MOST_EDGES:
                scan.fail(f"With this statement there are more than {MOST_EDGES:,} edges.", start)
            for source, target in product(left.names, right.names):
                values = scope.edges | attributes
                self.written.edges.append(WrittenEdge(source, target, scan.line(left.at), values))

    def _declare(self, name: str, scope: GraphScope, attributes: dict[str, str], at: int) -> None:
        line = self.scan.line(at)
        node = self.written.node(name, scope, line)
        if not node.declared:
            node.line = line
        node.declared = True
        node.attributes.update(attributes)

    def _end(self, scope: GraphScope, depth: int) -> _End:
        """A node or a subgraph, as a statement of its own or the end of an edge."""
        scan = self.scan
        start = scan.at
        if scan.peek() == "{":
            return _End(self._subgraph(scope, depth), start, subgraph=True)
        quoted = scan.peek() in ('"', "<")
        name = self._name()
        if name is None:
            scan.fail(f"This is not a DOT statement: {scan.found()}")
        if not quoted and name.lower() == "subgraph":
            scan.skip()
            self._name()
            scan.skip()
            if scan.peek() != "{":
                scan.fail(f"A subgraph needs a {{ before: {scan.found()}")
            return _End(self._subgraph(scope, depth), start, subgraph=True)
        scan.skip_ports()
        return _End([name], start, quoted=quoted)

    def _subgraph(self, scope: GraphScope, depth: int) -> list[str]:
        """A subgraph in braces; the names of its nodes."""
        if depth >= DEEPEST:
            self.scan.fail(f"More than {DEEPEST} subgraphs are nested.")
        self.scan.take("{")
        inner = scope.inner()
        self._statements(inner, depth + 1)
        derived = class_of(inner.attributes.get("label", ""))
        for name in inner.members:
            scope.members[name] = None
            node = self.written.nodes[name]
            if derived and derived not in node.classes:
                node.classes = (*node.classes, derived)
        for key in inner.attributes:
            if "fidelity" in key or "thread" in key:
                self.written.remark(
                    "no-effect",
                    f"{key} of a subgraph has no effect; write node [{key}=...] inside it.",
                    self.scan.line(self.scan.at - 1),
                )
        return list(inner.members)

    def _defaults(self, keyword: str, scope: GraphScope) -> bool:
        """`graph [...]`, `node [...]` and `edge [...]`: defaults for the rest of this scope."""
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
            self.written.lines |= dict.fromkeys(attributes, line)
        return True

    def _graph_attribute(self, key: str, scope: GraphScope, at: int) -> None:
        self.scan.take("=")
        scope.attributes[key] = self._value()
        if scope.parent is None:
            self.written.lines[key] = self.scan.line(at)

    def _attribute_lists(self) -> dict[str, str]:
        """`[a=1, b=2] [c=3]`; empty if none come next."""
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
                    scan.fail("This [ is never closed.", opened)
                key = self._name()
                if key is None:
                    scan.fail(f"The name of an attribute is missing before: {scan.found()}")
                scan.skip()
                attributes[key] = self._value() if scan.take("=") else "true"

    def _value(self) -> str:
        scan = self.scan
        scan.skip(before_value=True)
        found = scan.value()
        if found is None:
            scan.fail(f"A value is missing before: {scan.found()}")
        return unescaped(found[0]) if found[1] else found[0]

    def _name(self) -> str | None:
        """A name, quoted or bare; None if none comes next."""
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
            scan.fail("Write an edge as ->.")
        return False

    def _undirected(self, at: int) -> None:
        if not any(remark.rule == "undirected" for remark in self.written.remarks):
            self.written.remark(
                "undirected", "Undirected edges are followed from left to right.",
                self.scan.line(at),
            )  # fmt: skip


class _End(Struct):
    """One end of an edge: a node, or all nodes of a subgraph. `at` is its offset."""

    names: list[str]
    at: int
    subgraph: bool = False
    quoted: bool = False
