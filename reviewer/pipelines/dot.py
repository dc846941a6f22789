"""Reads DOT files as pipelines.

The language is Graphviz's (graphviz.org/doc/info/lang.html) with the additions of pipelines: bare
values such as `model=gpt-5.2`, bare names such as `fix-bugs` and `a.b`, dotted keys, and
attributes separated by a comma, a semicolon or a blank.

The parser is our own: pydot takes 60 ms for a typical pipeline and 15 s for 5,000 nodes, and
rejects bare values. The tests compare the two.
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
    Handler,
    Pipeline,
    PipelineEdge,
    PipelineNode,
    Remark,
)
from reviewer.text.display import display_line

LARGEST = 32 * 1024 * 1024
"""Maximum bytes of a pipeline file."""
DEEPEST = 100
"""Maximum depth of nested subgraphs."""
MAX_EDGES = 500_000
"""Maximum edges of a graph: an arrow between two subgraphs makes one per pair of nodes."""


class DotError(ReviewerError):
    """A text is not valid DOT. The message is one line, `FILE:LINE:COLUMN: ...`, counted from 1."""


def parse_dot(text: str, path: Path | None = None) -> Pipeline:
    """The pipeline in a DOT text, with remarks in `warnings`.

    `path` names the text in messages, and the pipeline if its graph has no name. Raises DotError
    (one line, with line and column) if the text is not valid DOT.
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
    """The pipeline in a file. Raises ReviewerError if it cannot be read, and DotError."""
    return parse_dot(pipeline_text(path), path)


def pipeline_text(path: Path) -> str:
    """The text of a file, which may be a shell pipe. Raises ReviewerError."""
    try:
        if path.is_dir():
            raise ReviewerError(f"{path} is a folder; name a DOT file.")
        with open_plain(path) as file:
            data = file.read(LARGEST + 1)
    except OSError as problem:
        raise ReviewerError(f"Cannot read {path}: {problem.strerror or problem}.") from problem
    if len(data) > LARGEST:
        raise ReviewerError(
            f"{path} is larger than {LARGEST // 2**20} MB, the maximum for a pipeline."
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


class _Written(Struct):
    """A node with all its attributes, defaults included; `line` (0-based): its declaration."""

    line: int
    attributes: dict[str, str]
    declared: bool = False
    """Declared by its own statement, not only by an edge."""
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
    """Use the node named start or exit if none has that shape or type."""
    for handler in (Handler.START, Handler.EXIT):
        if any(node.handler == handler for node in nodes.values()):
            continue
        for name, node in nodes.items():
            plain = node.handler == Handler.CODERGEN
            if plain and end_named(name, prompt=node.prompt) == handler:
                nodes[name] = structs.replace(node, handler=handler)
                break
    return nodes


def _undeclared(nodes: dict[str, _Written]) -> list[Remark]:
    """Nodes only named by edges, in a graph that declares most of its nodes."""
    named = {name: node for name, node in nodes.items() if not node.declared}
    if len(named) * 2 > len(nodes):
        return []
    return [
        Remark("edge-to-nowhere", f"{name} is named by an edge but never declared.", node.line)
        for name, node in named.items()
        if end_named(name, prompt="") is None
    ]


# Blanks and comments between tokens. Before a value, `#` starts a colour, not a comment.
_BLANKS = re.compile(r"(?:[\s\ufeff\u200b]+|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_BLANKS_BEFORE_VALUE = re.compile(r"(?:[\s\ufeff\u200b]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_CURLY = "\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"
_ARROWS = "\u2190-\u21ff\u27f0-\u27ff\u2900-\u297f"
# DOT's bare names, and others in common use: `fix-bugs`, `a.b`, `$goal`, any script.
_LETTER = rf"(?:[\w.$@]|[^\x00-\x7f\s{_CURLY}{_ARROWS}])"
_NAME = re.compile(rf"-?{_LETTER}+(?:-{_LETTER}+)*")
# Values allow more than names: `gpt-5.2`, `summary:medium`, `outcome=success`, `#ff0000`.
_VALUE = re.compile(rf"(?:(?!/\*|(?<!:)//)[^\s,;\[\]{{}}\"'{_CURLY}])+")
_ANGLE = re.compile("[<>]")
_SHOWN = 24
_TEMPLATE_AS_NAME = re.compile(r"\{\{[^{}\n]*\}\}\s*\{")
_NOT_IN_A_CLASS = re.compile(r"[^a-z0-9-]")
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "\n": "", "\r\n": ""}


class _Scope(Struct):
    """A graph or subgraph being parsed: its attributes, the defaults for nodes and edges, and its
    members in order.
    """

    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, str] = field(default_factory=dict)
    edges: dict[str, str] = field(default_factory=dict)
    members: dict[str, None] = field(default_factory=dict)


class _Parser:
    """Recursive descent; only subgraphs recurse, up to DEEPEST. `at` is the offset of the next
    token: reading a token also skips the blanks after it.
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
        """Raise DotError at the offset `at`, by default the next token."""
        at = self._at if at is None else at
        line = self._line(at)
        where = f"{display_line(str(self._path))}:" if self._path else ""
        column = at - self._line_starts[line] + 1
        raise DotError(f"{where}{line + 1}:{column}: {display_line(message)}")

    def _fail_before(self, message: str) -> NoReturn:
        """Raise DotError, quoting the next token."""
        rest = self._text[self._at : self._at + _SHOWN + 1].split("\n")[0].strip()
        cut = rest if len(rest) <= _SHOWN else rest[:_SHOWN] + "..."
        self._fail(f"{message}: {cut or 'the end of the text'}")

    def _skip(self, blanks: re.Pattern[str] = _BLANKS) -> None:
        found = blanks.match(self._text, self._at)
        self._at = found.end() if found is not None else self._at
        if self._text.startswith("/*", self._at):
            self._fail("This comment is never closed with */.")

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        found = pattern.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        self._skip()
        return found[0]

    def _take(self, token: str, blanks: re.Pattern[str] = _BLANKS) -> bool:
        """Read `token`; False if the next token is another."""
        if not self._text.startswith(token, self._at):
            return False
        self._at += len(token)
        self._skip(blanks)
        return True

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _quoted(self) -> str | None:
        """A string (`"a"`, `"a" + "b"`) or HTML (`<b>`) without its quotes, or None."""
        if self._peek() == "<":
            return self._html()
        if self._peek() != '"':
            return None
        parts: list[str] = []
        while not parts or self._take("+"):
            text = self._match(_STRING)
            if text is None:
                self._fail("This text has no closing quote.")
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
            self._fail("This HTML has no closing >.")
        text = self._text[start : self._at]
        self._skip()
        return text

    def _name(self) -> str | None:
        """A name, quoted or bare; None if the next token is not one."""
        text = self._quoted()
        return self._match(_NAME) if text is None else text.replace('\\"', '"')

    def _value(self) -> str | None:
        """The value after a `=`; None without a `=`."""
        if not self._take("=", _BLANKS_BEFORE_VALUE):
            return None
        text = self._quoted()
        if text is not None:
            return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), text)
        text = self._match(_VALUE)
        if text is None:
            self._fail_before("A value is missing (text in double quotes) before")
        return text

    # grammar

    def read(self) -> None:
        """Read the first graph; add a remark if there are more."""
        self._skip()
        start = self._at
        word = (self._match(_NAME) or "").lower()
        if word == "strict":
            word = (self._match(_NAME) or "").lower()
        if word not in ("digraph", "graph"):
            self._at = start
            self._fail_before("A pipeline starts with digraph, not with")
        if word == "graph":
            self._undirected(start)
        if _TEMPLATE_AS_NAME.match(self._text, self._at):
            self._fail_before("This template is not filled in")
        self.name = self._name() or ""
        opened = self._at
        if not self._take("{"):
            self._fail_before("A { is missing before")
        self._statements(self.top, opened, 0)
        if self._at < len(self._text):
            message = "Only the first graph of the file is read."
            self.remarks.append(Remark("more-text", message, self._line(self._at)))

    def _statements(self, scope: _Scope, opened: int, depth: int) -> None:
        """Statements up to the closing brace of the one at `opened`."""
        while not self._take("}"):
            if self._at >= len(self._text):
                self._fail("This { is never closed.", opened)
            if not self._take(";"):
                self._statement(scope, depth)

    def _statement(self, scope: _Scope, depth: int) -> None:
        start = self._at
        word = (self._match(_NAME) or "").lower()
        if word in ("graph", "node", "edge") and self._peek() == "[":
            defaults = {"graph": scope.attributes, "node": scope.nodes, "edge": scope.edges}[word]
            defaults.update(self._attribute_lists())
            return
        self._at = start
        first, is_node = self._end(scope, depth)
        if is_node and (value := self._value()) is not None:
            scope.attributes[first[0]] = value
            return
        ends = [first]
        while self._arrow():
            if self._peek() in (";", "}", ""):
                self._fail_before("The edge has no target before")
            ends.append(self._end(scope, depth)[0])
        attributes = self._attribute_lists()
        if len(ends) == 1 and is_node:
            node = self.nodes[first[0]]
            node.line = node.line if node.declared else self._line(start)
            node.declared = True
            node.attributes.update(attributes)
        for sources, targets in pairwise(ends):
            if len(self.edges) + len(sources) * len(targets) > MAX_EDGES:
                self._fail(f"This statement exceeds the maximum of {MAX_EDGES:,} edges.", start)
            for source, target in product(sources, targets):
                self._add_edge(source, target, scope.edges | attributes, self._line(start))

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

    def _end(self, scope: _Scope, depth: int) -> tuple[list[str], bool]:
        """Read a node or a subgraph, alone or as an end of an edge: the names of its nodes, and
        whether it is a single node.
        """
        line, bare = self._line(self._at), self._peek() not in ('"', "<")
        name = self._name()
        if name is not None and bare and name.lower() == "subgraph":
            self._name()
            if self._peek() != "{":
                self._fail_before("A subgraph needs a { before")
            name = None
        opened = self._at
        if name is None and self._take("{"):
            return self._subgraph(scope, opened, depth), False
        if name is None:
            self._fail_before("This is not a DOT statement")
        while self._take(":"):  # `:port:compass` after a node name
            self._name()
        if self._peek() != "=":  # otherwise it is an attribute of the scope
            scope.members[name] = None
            self.nodes.setdefault(name, _Written(line, dict(scope.nodes)))
        return [name], True

    def _subgraph(self, scope: _Scope, opened: int, depth: int) -> list[str]:
        """Read the rest of a subgraph; returns the names of its nodes."""
        if depth >= DEEPEST:
            self._fail(f"Subgraphs are nested deeper than {DEEPEST}.", opened)
        inner = _Scope(nodes=dict(scope.nodes), edges=dict(scope.edges))
        self._statements(inner, opened, depth + 1)
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
                self.remarks.append(Remark("no-effect", message, self._line(opened)))
        return list(inner.members)

    def _attribute_lists(self) -> dict[str, str]:
        """Read `[a=1, b=2] [c=3]`; empty without a list."""
        attributes: dict[str, str] = {}
        opened = self._at
        while self._take("["):
            while not self._take("]"):
                if self._take(",") or self._take(";"):
                    continue
                if self._at >= len(self._text):
                    self._fail("This [ is never closed.", opened)
                key = self._name()
                if key is None:
                    self._fail_before("The name of an attribute is missing before")
                value = self._value()
                attributes[key] = "true" if value is None else value
            opened = self._at
        return attributes

    def _arrow(self) -> bool:
        start = self._at
        if self._take("--"):
            self._undirected(start)
            return True
        return self._take("->")

    def _undirected(self, at: int) -> None:
        if not any(remark.rule == "undirected" for remark in self.remarks):
            message = "Undirected edges are followed from left to right."
            self.remarks.append(Remark("undirected", message, self._line(at)))
