"""What is odd about a pipeline is said, with its line; what is sound is not."""

from __future__ import annotations

import pytest

from reviewer.pipelines.dot import parse_dot

SOUND = "s [shape=Mdiamond]\na [prompt=x]\ne [shape=Msquare]\ns -> a -> e\n"


def remarks(body: str) -> dict[str, str]:
    return {each.rule: each.message for each in parse_dot("digraph {\n" + body + "}").warnings}


def test_nothing_is_said_of_a_sound_pipeline() -> None:
    assert remarks(SOUND) == {}


@pytest.mark.parametrize(
    ("body", "rule", "says"),
    [
        ("", "empty", "no nodes"),
        ("a [prompt=x] a -> e\ne [shape=Msquare]", "no-start", "Mdiamond"),
        ("s [shape=Mdiamond] s -> a", "no-exit", "Msquare"),
        (SOUND + "t [shape=Mdiamond] t -> a", "two-starts", "s, t"),
        (SOUND + "lost [prompt=x] lost -> a", "unreachable", "lost"),
        (SOUND + "b [prompt=x] a -> b", "dead-end", "No path to an exit from b"),
        (SOUND + "a -> nowhere", "edge-to-nowhere", "nowhere is named by an edge but never"),
        (SOUND + 'a [fidelity="sumary:low"]', "unknown-mode", "Did you mean summary:low?"),
        (SOUND + "default_fidelity=huge", "unknown-mode", "The graph: unknown fidelity 'huge'"),
        (SOUND + "p [shape=house] a -> p -> e", "unsupported-handler", "stack.manager_loop"),
        (SOUND + "t [shape=parallelogram] a -> t -> e", "shell", "--allow-tools"),
        (SOUND + "u [type=odd] a -> u -> e", "unknown-type", "'odd'"),
        (SOUND + "subgraph { thread_id=x; a }", "no-effect", "node [thread_id=...]"),
        (SOUND + "b [thread_id=x] a -> b -> e", "thread-unused", "b has a thread"),
        (SOUND + "a -> e [thread_id=x]", "thread-unused", "a -> e has a thread"),
        (SOUND + "a [max_retries=many]", "no-number", "'many'"),
        (SOUND + 'a -> e [condition="x contains y"]', "condition", "x contains y"),
        (SOUND + "a -- e", "undirected", "Undirected"),
        (SOUND + 'a -> "" -> e', "no-name", 'A node is named ""'),
    ],
)  # fmt: skip
def test_each_oddity_is_named(body: str, rule: str, says: str) -> None:
    found = remarks(body)
    assert rule in found
    assert says in found[rule]


@pytest.mark.parametrize(
    "body",
    [
        SOUND + "a [color=red xlabel=x height=2 note=z goal_gate=true]",
        SOUND + 'b [prompt="$city ${context.a.b} ${x}"] a -> b -> e',
        "start -> a -> exit",
        "node [timeout=1h] start -> exit",
    ],
)
def test_what_does_no_harm_is_not_remarked(body: str) -> None:
    assert remarks(body) == {}


def test_remarks_carry_lines_and_come_in_their_order() -> None:
    found = parse_dot("digraph {\n" + SOUND + "x [prompt=x]\na [fidelity=y]\n}").warnings
    assert [(each.rule, each.line) for each in found] == [("unknown-mode", 2), ("unreachable", 5)]
