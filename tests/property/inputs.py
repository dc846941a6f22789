"""Properties of all inputs besides transcripts: pipelines, histories, context folders, patterns,
filters, settings. Any bytes give a result or one sentence, never a crash."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from reviewer.commits import search as commit_filters
from reviewer.commits.criteria import check_patterns, matches_everything, parse_patterns
from reviewer.errors import ReviewerError
from reviewer.packets.assembly import assemble
from reviewer.packets.context_folder import read_folder
from reviewer.packets.output import explained, to_json
from reviewer.packets.prepared import Prepared
from reviewer.packets.token_counts import Measurer
from reviewer.pipelines.conditions import is_true
from reviewer.pipelines.dot import read_pipeline
from reviewer.pipelines.history import read_history
from reviewer.pipelines.preamble import build_preamble
from reviewer.pipelines.resolve import entries
from reviewer.pipelines.run_folder import RunFolder
from reviewer.pipelines.values import MODES, Pipeline, RunHistory
from reviewer.pipelines.walk import walk
from reviewer.promotion.lists import filters as queue_filters
from reviewer.settings import load_settings
from reviewer.text.secrets.values import without_secrets
from reviewer.tui.keymap import load_keymap

NOW = datetime(2026, 2, 14, 10, tzinfo=UTC)

SEEDS: dict[str, tuple[bytes, ...]] = {
    "dot": (
        b'digraph desk {\n  goal="sell tickets"; node [shape=box, fidelity="summary:low"];\n'
        b'  start [shape=Mdiamond]; done [shape=Msquare]\n  subgraph cluster_a { label="Gate A";\n'
        b'    count [prompt="Count, $goal", timeout="10m", max_retries=2] }\n'
        b"  ask [shape=hexagon, label=<b>]; // a remark\n  start -> count -> ask -> done;\n"
        b'  ask -> count [label="[N] Again", condition="outcome=fail && count.size!=\\"3\\"",'
        b" weight=2, loop_restart=true]\n}\n",
        b'strict digraph "a\\"b" { a:n -> {b c} -> d [thread_id=x;fidelity=full] /* y */ }',
    ),
    "history": (
        b'{"goal":"sell","completed":[{"node":"count","status":"success","notes":"41","tools":'
        b'[{"name":"sh","input":{"a":[1]},"output":"x"}]}],"context":{"gate":7,"a.b":"c"}}',
        b'{"completed_nodes":["start","count"],"context":{"goal":"sell"},"logs":["x"]}',
    ),
    "folder": (
        b"# Tasks\n\n- [ ] Repair the drawer #p1 (due 2026-02-20)\n- [x] Done\n\n## Next\n\n- a\n",
        b"---\ntitle: x\n---\n# Decisions\n\n## [2026-01-02] Paper\n\n**Status**: superseded\n\n"
        b"**Decision**: We take 80 mm.\n\n```\nx\n```\n| a | b |\n|---|---|\n",
    ),
    "pattern": (b"(a+)+$\nticket \\d{2,4}", b"(?i)[^\\s]*?(?P<n>x|y)(?=z)\\p{Lu}\nplain"),
    "filter": (
        b'type:decision -status:rejected confidence>=0.8 "word for word" flag:secret',
        b"priority:pinned tokens>100 has:pattern -x",
    ),
    "condition": (b"outcome=success && context.a.b!=3", b"preferred_label=Yes"),
    "settings": (
        b'theme = "light"\n[keys]\npromote = ["A", "ctrl+a"]\n[model]\nbase_url = "http://::1/v1"\n'
        b"timeout = 3.5\n[compression]\ntier = 'core'\n",
    ),
}
"""Target -> small inputs of it, to be damaged."""


def feed_dot(data: bytes, folder: Path) -> None:
    """Read a pipeline, resolve all its ways, and build a preamble."""
    pipeline = read_pipeline(_file(data, folder, "any.dot"))
    shown = without_secrets(pipeline, Pipeline)
    list(walk(shown))
    list(entries(shown))
    for name in list(shown.nodes)[:2]:
        for mode in MODES:
            preamble = build_preamble(mode, shown, RunHistory(""), name)
            preamble.text.encode()


def feed_history(data: bytes, folder: Path) -> None:
    """Read a history and a checkpoint, and build a preamble of it."""
    path = _file(data, folder, "checkpoint.json")
    _sentence(RunFolder(folder).checkpoint)
    history = read_history(path)
    pipeline = read_pipeline(_file(SEEDS["dot"][0], folder, "seed.dot"))
    for mode in MODES:
        build_preamble(mode, pipeline, history, "count").text.encode()


def feed_folder(data: bytes, folder: Path) -> None:
    """Assemble a packet from a folder whose files all have these bytes."""
    context = folder / ".context"
    context.mkdir(exist_ok=True)
    for name in ("TASKS.md", "DECISIONS.md", "LEARNINGS.md", "CONSTITUTION.md"):
        (context / name).write_bytes(data)
    prepared = Prepared(read_folder(context), Measurer(estimated=True), now=NOW, task="repair")
    for budget in (60, 4000):
        packet = assemble(prepared, budget)
        packet.markdown.encode()
        assert packet.tokens_used <= budget or packet.over_budget
        to_json(packet)
        list(explained(packet))


def feed_pattern(data: bytes, folder: Path) -> None:
    """Compile patterns and check them against a text."""
    patterns = parse_patterns([], data.decode("utf-8", "surrogateescape").split("\n"))
    check_patterns(patterns, "ticket 41 " * 30 + "a" * 200, seconds_a_pattern=0.02)
    for pattern in patterns:
        matches_everything(pattern)


def feed_filter(data: bytes, folder: Path) -> None:
    """Parse the filters of the screens."""
    text = data.decode("utf-8", "surrogateescape")
    _sentence(lambda: commit_filters.parse_filter(text))
    queue_filters.parse_filter(text)


def feed_condition(data: bytes, folder: Path) -> None:
    """Judge the condition of an edge."""
    is_true(data.decode("utf-8", "replace"), {"outcome": "fail", "a": {"b": 3}, "n": None})


def feed_settings(data: bytes, folder: Path) -> None:
    """Read a settings file and a keymap."""
    path = _file(data, folder, "config.toml")
    _sentence(lambda: load_keymap(path))
    load_settings(path)


FEEDS: dict[str, Callable[[bytes, Path], None]] = {
    "dot": feed_dot,
    "history": feed_history,
    "folder": feed_folder,
    "pattern": feed_pattern,
    "filter": feed_filter,
    "condition": feed_condition,
    "settings": feed_settings,
}


def feed(target: str, data: bytes, folder: Path) -> None:
    """Give a target these bytes. AssertionError for a refusal without words; whatever else but
    ReviewerError comes out is a crash."""
    _sentence(lambda: FEEDS[target](data, folder))


def _sentence(call: Callable[[], object]) -> None:
    said = "a sentence"
    try:
        call()
    except ReviewerError as error:
        said = str(error)
    assert " " in said


def _file(data: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path
