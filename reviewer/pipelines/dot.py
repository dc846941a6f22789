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
from typing import NamedTuple, NoReturn

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
DEEPEST = 100
"""Nested subgraphs, at most."""
MAX_EDGES = 500_000
"""Edges of a graph, at most: an arrow between two subgraphs makes one for each pair of nodes."""


class DotError(ReviewerError):
    """A text is not DOT. The message is one line, `FILE:LINE:COLUMN: ...`, counted from 1."""


def parse_dot(text: str, path: Path | None = None) -> Pipeline:
    """The pipeline that a DOT text describes, with remarks in `warnings`.

    `path` names the text in messages, and the pipeline if its graph has no name. Raises DotError
    (one line, with line and column) if the text is not DOT.
    """
    graph = _Parser(text, path)
    graph.read()
    attributes = graph.top.attributes
    retries = whole_number(first_of(attributes, RETRIES_OF_GRAPH)) or 0
    pipeline = Pipeline(
        name=graph.name or (path.stem if path else "pipeline"),
        goal=attributes.get("goal", ""),
        nodes=_with_ends({name: _node(name, each, retries) for name, each in graph.nodes.items()}),
        edges=tuple(graph.edges),
        default_fidelity=first_of(attributes, FIDELITY_OF_GRAPH),
        default_thread_id=first_of(attributes, THREAD_OF_GRAPH),
        attributes=attributes,
    )
    remarks = [*graph.remarks, *_undeclared(graph.nodes), *lint(pipeline)]
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


class _Written(Struct):
    """A node with all its attributes, defaults included; `line` (0-based): its declaration."""

    line: int
    attributes: dict[str, str]
    declared: bool = False
    """By a statement of its own, not only by an edge."""
    classes: tuple[str, ...] = ()


def _node(name: str, node: _Written, retries: int) -> PipelineNode:
    values = node.attributes
    own = whole_number(values.get("max_retries"))
    return PipelineNode(
        name=name,
        label=values.get("label") or name,
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


def _undeclared(nodes: dict[str, _Written]) -> list[Remark]:
    """Nodes that only edges name, in a graph that declares most of its nodes."""
    named = {name: node for name, node in nodes.items() if not node.declared}
    if len(named) * 2 > len(nodes):
        return []
    return [
        Remark("edge-to-nowhere", f"{name} is named by an edge but never declared.", node.line)
        for name, node in named.items()
        if end_named(name, prompt="") is None
    ]


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
_TEMPLATE_AS_NAME = re.compile(r"\{\{[^{}\n]*\}\}\s*\{")
_NOT_IN_A_CLASS = re.compile(r"[^a-z0-9-]")
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "\n": "", "\r\n": ""}


class _Scope(Struct):
    """A graph or subgraph while it is read: its attributes, the defaults of its nodes and edges,
    and its members in order.
    """

    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    edges: dict[str, str] = field(default_factory=dict)
    members: dict[str, None] = field(default_factory=dict)


class _End(NamedTuple):
    """One end of an edge: a node, or all nodes of a subgraph."""

    names: list[str]
    line: int
    subgraph: bool = False


class _Parser:
    """Recursive descent; only subgraphs recurse, to DEEPEST. `at` is the offset of the next
    character.
    """

    def __init__(self, text: str, path: Path | None) -> None:
        self.name = ""
        self.nodes: dict[str, _Written] = {}
        self.edges: list[PipelineEdge] = []
        self.top = _Scope()
        self.remarks: list[Remark] = []
        self._text = text
        self._path = path
        self._at = 0
        self._line_starts = [0, *(found.end() for found in re.finditer("\n", text))]

    # tokens

    def _line(self, at: int) -> int:
        return bisect_right(self._line_starts, at) - 1

    def _fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raise DotError for the offset `at` (default: here)."""
        at = self._at if at is None else at
        line = self._line(at)
        where = f"{display_line(str(self._path))}:" if self._path else ""
        column = at - self._line_starts[line] + 1
        raise DotError(f"{where}{line + 1}:{column}: {display_line(message)}")

    def _found(self) -> str:
        """What comes next, for a message."""
        rest = self._text[self._at : self._at + _SHOWN + 1].split("\n")[0].strip()
        if not rest:
            at_end = self._at >= len(self._text)
            return "the end of the text" if at_end else "the end of the line"
        return rest if len(rest) <= _SHOWN else rest[:_SHOWN] + "..."

    def _skip(self, blanks: re.Pattern[str] = _BLANKS) -> None:
        """Skip blanks and comments."""
        self._match(blanks)
        if self._text.startswith("/*", self._at):
            self._fail("The comment that begins here is never closed with */.")

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        return found[0]

    def _take(self, token: str) -> bool:
        """Skip `token`; False if something else comes next."""
        taken = self._text.startswith(token, self._at)
        self._at += len(token) * taken
        return taken

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _quoted(self) -> str | None:
        """A string (`"a"`, `"a" + "b"`) or HTML (`<b>`) as written between its quotes, or None."""
        if self._peek() == "<":
            return self._html()
        if self._peek() != '"':
            return None
        parts: list[str] = []
        while not parts or self._match(_JOIN) is not None:
            text = self._match(_STRING)
            if text is None:
                self._fail("The text that begins here has no closing quote.")
            parts.append(text[1:-1])
        return "".join(parts)

    def _html(self) -> str:
        start, depth = self._at, 0
        for angle in _ANGLE.finditer(self._text, start):
            depth += 1 if angle[0] == "<" else -1
            if depth == 0:
                self._at = angle.end()
                break
        else:
            self._fail("The HTML that begins here has no closing >.")
        return self._text[start : self._at]

    def _name(self) -> str | None:
        """A name, quoted or bare; None if none comes next."""
        text = self._quoted()
        return self._match(_NAME) if text is None else text.replace('\\"', '"')

    def _value(self) -> str:
        """The value after a `=`. Before it `#` begins a colour, not a comment."""
        self._skip(_BLANKS_BEFORE_VALUE)
        text = self._quoted()
        if text is not None:
            return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), text)
        if self._peek() == "'" and "'" in self._text[self._at + 1 :].split("\n")[0]:
            self._fail("Write text in double quotes.")
        text = self._match(_VALUE)
        if text is None:
            self._fail(f"A value is missing before: {self._found()}")
        return text

    # grammar

    def read(self) -> None:
        """Read the first graph; a remark says if more follows."""
        self._skip()
        start = self._at
        word = (self._match(_NAME) or "").lower()
        if word == "strict":
            self._skip()
            word = (self._match(_NAME) or "").lower()
        if word not in ("digraph", "graph"):
            self._at = start
            self._fail(f"A pipeline begins with digraph, not with: {self._found()}")
        if word == "graph":
            self._undirected(start)
        self._skip()
        if _TEMPLATE_AS_NAME.match(self._text, self._at):
            self._fail(f"This template is not filled in: {self._found()}")
        self.name = self._name() or ""
        self._skip()
        if not self._take("{"):
            self._fail(f"A {{ is missing before: {self._found()}")
        self._statements(self.top, 0)
        self._skip()
        if self._at < len(self._text):
            message = f"Only the first graph is read; ignored after it: {self._found()}"
            self.remarks.append(Remark("more-text", message, self._line(self._at)))

    def _statements(self, scope: _Scope, depth: int) -> None:
        """Statements up to the closing brace."""
        opened = self._at - 1
        while True:
            self._skip()
            if self._take("}"):
                return
            if self._at >= len(self._text):
                self._fail("This { is never closed.", opened)
            if not self._take(";"):
                self._statement(scope, depth)

    def _statement(self, scope: _Scope, depth: int) -> None:
        start = self._at
        word = (self._match(_NAME) or "").lower()
        self._skip()
        if word in ("graph", "node", "edge") and self._peek() == "[":
            defaults = {"graph": scope.attributes, "node": scope.nodes, "edge": scope.edges}[word]
            defaults.update(self._attribute_lists())
            return
        self._at = start
        ends = [self._end(scope, depth)]
        self._skip()
        if not ends[0].subgraph and self._take("="):
            scope.attributes[ends[0].names[0]] = self._value()
            return
        while self._arrow():
            self._skip()
            if self._peek() in (";", "}", ""):
                self._fail(f"The edge has no target before: {self._found()}")
            ends.append(self._end(scope, depth))
            self._skip()
        attributes = self._attribute_lists()
        for end in ends:
            if not end.subgraph:
                node = self._member(scope, end.names[0], end.line)
                if len(ends) == 1:
                    node.line = node.line if node.declared else end.line
                    node.declared = True
                    node.attributes.update(attributes)
        for left, right in pairwise(ends):
            if len(self.edges) + len(left.names) * len(right.names) > MAX_EDGES:
                self._fail(f"With this statement there are more than {MAX_EDGES:,} edges.", start)
            for source, target in product(left.names, right.names):
                self._add_edge(source, target, scope.edges | attributes, left.line)

    def _member(self, scope: _Scope, name: str, line: int) -> _Written:
        """The node of that name; a new one gets the defaults of the scope."""
        scope.members[name] = None
        return self.nodes.setdefault(name, _Written(line, dict(scope.nodes)))

    def _add_edge(self, source: str, target: str, values: dict[str, str], line: int) -> None:
        edge = PipelineEdge(
            source=source,
            target=target,
            index=len(self.edges),
            label=values.get("label", ""),
            condition=values.get("condition", ""),
            weight=whole_number(values.get("weight")) or 0,
            fidelity=values.get("fidelity") or None,
            thread_id=values.get("thread_id") or None,
            attributes=values,
            line=line,
        )
        self.edges.append(edge)

    def _end(self, scope: _Scope, depth: int) -> _End:
        """A node or a subgraph, as a statement of its own or the end of an edge."""
        line, quoted = self._line(self._at), self._peek() in ('"', "<")
        name = None if self._peek() == "{" else self._name()
        if name is not None and not quoted and name.lower() == "subgraph":
            self._skip()
            self._name()
            self._skip()
            if self._peek() != "{":
                self._fail(f"A subgraph needs a {{ before: {self._found()}")
            name = None
        if self._peek() == "{" and name is None:
            return _End(self._subgraph(scope, depth), line, subgraph=True)
        if name is None:
            self._fail(f"This is not a DOT statement: {self._found()}")
        while self._match(_PORT) is not None:  # `:port:compass` after the name of a node
            self._name()
        return _End([name], line)

    def _subgraph(self, scope: _Scope, depth: int) -> list[str]:
        """A subgraph in braces; the names of its nodes."""
        if depth >= DEEPEST:
            self._fail(f"More than {DEEPEST} subgraphs are nested.")
        self._take("{")
        inner = _Scope(nodes=dict(scope.nodes), edges=dict(scope.edges))
        self._statements(inner, depth + 1)
        scope.members |= inner.members
        label = inner.attributes.get("label", "").strip().lower()
        derived = _NOT_IN_A_CLASS.sub("", re.sub(r"\s+", "-", label)).strip("-")
        for name in inner.members:
            node = self.nodes[name]
            if derived and derived not in node.classes:
                node.classes = (*node.classes, derived)
        for key in inner.attributes:
            if "fidelity" in key or "thread" in key:
                message = f"{key} of a subgraph has no effect; write node [{key}=...] inside it."
                self.remarks.append(Remark("no-effect", message, self._line(self._at - 1)))
        return list(inner.members)

    def _attribute_lists(self) -> dict[str, str]:
        """`[a=1, b=2] [c=3]`; empty if none come next."""
        attributes: dict[str, str] = {}
        while True:
            self._skip()
            opened = self._at
            if not self._take("["):
                return attributes
            while True:
                self._skip()
                if self._take("]"):
                    break
                if self._take(",") or self._take(";"):
                    continue
                if self._at >= len(self._text):
                    self._fail("This [ is never closed.", opened)
                key = self._name()
                if key is None:
                    self._fail(f"The name of an attribute is missing before: {self._found()}")
                self._skip()
                attributes[key] = self._value() if self._take("=") else "true"

    def _arrow(self) -> bool:
        start = self._at
        if self._peek() in ("\u2192", "\u21d2", "\u27f6"):
            self._fail("Write an edge as ->.")
        if self._take("--"):
            self._undirected(start)
            return True
        return self._take("->")

    def _undirected(self, at: int) -> None:
        if not any(remark.rule == "undirected" for remark in self.remarks):
            message = "Undirected edges are followed from left to right."
            self.remarks.append(Remark("undirected", message, self._line(at)))
