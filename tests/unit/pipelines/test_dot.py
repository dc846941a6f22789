"""DOT as people write it becomes a pipeline; what is not DOT is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.errors import ReviewerError
from reviewer.pipelines.dot import DotError, parse_dot, read_pipeline
from reviewer.pipelines.values import Pipeline

BAKERY = """
// What the bakery does before it opens.
digraph bakery {
    graph [goal="Bread by six", default_fidelity="compact"]
    rankdir = LR
    node [shape=box max_retries=2]

    start [shape=Mdiamond]
    knead [prompt="Knead the dough\\nfor $goal", fidelity="full", thread_id="dough"];
    bake  [label="Bake it" prompt='' model=oven-2.5 class=hot]
    taste [shape=hexagon]
    done  [shape=Msquare]

    start -> knead -> bake
    bake -> taste [condition="outcome=success" fidelity=summary:low, weight=3]
    taste -> knead [label="[N] Not yet", thread_id=second]
    taste -> done
}
""".replace("prompt=''", 'prompt=""')


def pairs(pipeline: Pipeline) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in pipeline.edges]


def test_a_pipeline_is_read_whole() -> None:
    found = parse_dot(BAKERY)
    assert (found.name, found.goal, found.default_fidelity) == ("bakery", "Bread by six", "compact")
    assert [node.handler for node in found.nodes.values()] == [
        "start", "codergen", "codergen", "wait.human", "exit",
    ]  # fmt: skip
    knead, bake = found.nodes["knead"], found.nodes["bake"]
    assert (knead.fidelity, knead.thread_id) == ("full", "dough")
    assert knead.prompt == "Knead the dough\nfor $goal"
    assert (bake.label, bake.llm_model, bake.max_retries) == ("Bake it", "oven-2.5", 2)
    assert pairs(found) == [
        ("start", "knead"), ("knead", "bake"), ("bake", "taste"), ("taste", "knead"),
        ("taste", "done"),
    ]  # fmt: skip
    assert [edge.index for edge in found.edges] == [0, 1, 2, 3, 4]
    checked = found.edges[2]
    assert (checked.condition, checked.fidelity, checked.weight) == (
        "outcome=success", "summary:low", 3,
    )  # fmt: skip
    assert found.edges[3].thread_id == "second"
    assert found.warnings == ()


def test_lines_are_counted_from_zero() -> None:
    found = parse_dot(BAKERY)
    lines = BAKERY.split("\n")
    assert lines[found.nodes["knead"].line].strip().startswith("knead [")
    assert lines[found.edges[4].line].strip() == "taste -> done"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("a=1, b=2", {"a": "1", "b": "2"}),
        ("a=1 b=2", {"a": "1", "b": "2"}),
        ("a=1][b=2", {"a": "1", "b": "2"}),
        ("a = 1 , b", {"a": "1", "b": "true"}),
        ("model=gpt-5.2", {"model": "gpt-5.2"}),
        ("condition=outcome=success", {"condition": "outcome=success"}),
        ("color=#a0b0c0", {"color": "#a0b0c0"}),
        ("human.default_choice=yes", {"human.default_choice": "yes"}),
        ('a="one" + "two"', {"a": "onetwo"}),
        (r'a="say \"hi\"\nback\\slash \d"', {"a": 'say "hi"\nback\\slash \\d'}),
        ("a=<<b>bold</b>>", {"a": "<<b>bold</b>>"}),
        ('a="// no comment # none"', {"a": "// no comment # none"}),
        ("größe=5", {"größe": "5"}),
    ],
)
def test_attributes_as_people_write_them(attributes: str, expected: dict[str, str]) -> None:
    assert parse_dot("digraph { n [" + attributes + "\n] }").nodes["n"].attributes == expected


@pytest.mark.parametrize("head", ["digraph", "strict digraph", "graph", "DiGraph x", 'digraph "x"'])
def test_heads_of_graphs(head: str) -> None:
    assert pairs(parse_dot(f"{head} {{ a -> b }}")) == [("a", "b")]


def test_without_a_name_the_file_gives_one() -> None:
    assert parse_dot("digraph { a }", Path("x/release.dot")).name == "release"
    assert parse_dot("digraph { a }").name == "pipeline"


def test_defaults_hold_from_where_they_stand_and_inside_their_braces() -> None:
    found = parse_dot(
        "digraph { before; node [fidelity=full]; edge [weight=2]; outer;"
        " subgraph { node [fidelity=truncate]; inner } after; outer -> after }"
    )
    assert [found.nodes[name].fidelity for name in ("before", "outer", "inner", "after")] == [
        None, "full", "truncate", "full",
    ]  # fmt: skip
    assert found.edges[0].weight == 2


def test_classes_come_from_the_labels_of_enclosing_subgraphs_innermost_first() -> None:
    found = parse_dot(
        """digraph { label="Whole"
        subgraph cluster_1 { label="Oven  & Heat!"
            subgraph cluster_2 { graph [label="Top Rack"] a }
            b
        }
        subgraph no_label { c } }"""
    )
    assert found.nodes["a"].classes == ("top-rack", "oven--heat")
    assert found.nodes["b"].classes == ("oven--heat",)
    assert found.nodes["c"].classes == ()


def test_names_of_the_graphs_fidelity_and_thread() -> None:
    for name in ("default_fidelity", "context_fidelity_default"):
        assert parse_dot(f"digraph {{ {name}=full }}").default_fidelity == "full"
        assert parse_dot(f"digraph {{ graph [{name}=full] }}").default_fidelity == "full"
    for name in ("default_thread_id", "default_thread", "thread_id", "context_thread_default"):
        assert parse_dot(f"digraph {{ {name}=loaf }}").default_thread_id == "loaf"


@pytest.mark.parametrize(
    ("attributes", "handler"),
    [
        ("", "codergen"),
        ("shape=diamond", "conditional"),
        ("shape=hexagon", "wait.human"),
        ("shape=parallelogram", "tool"),
        ("shape=circle type=start", "start"),
        ("shape=diamond type=unheard-of", "conditional"),
    ],
)
def test_type_before_shape_decides_what_runs_a_node(attributes: str, handler: str) -> None:
    assert parse_dot(f"digraph {{ n [{attributes}] }}").nodes["n"].handler == handler


def test_a_name_makes_a_start_or_exit_only_where_nothing_else_does() -> None:
    plain = parse_dot("digraph { Start -> work -> end }")
    assert [node.handler for node in plain.nodes.values()] == ["start", "codergen", "exit"]
    shaped = parse_dot("digraph { go [shape=Mdiamond]; go -> start -> exit; exit [prompt=x] }")
    assert shaped.nodes["start"].handler == "codergen"
    assert shaped.nodes["exit"].handler == "codergen"


@pytest.mark.parametrize(
    ("text", "place", "about"),
    [
        ("", "1:1", "starts with digraph"),
        ("digraph x\n a -> b }", "2:2", "{ is missing"),
        ("digraph {\n a -> b", "1:9", "never closed"),
        ('digraph {\n  a [label="x]\n}', "2:12", "closing quote"),
        ("digraph { a [x=1 }", "1:18", "attribute is missing"),
        ("digraph { a -> }", "1:16", "no target"),
        ("digraph { a /* b }", "1:13", "never closed"),
        ("digraph { a [x='b c'] }", "1:16", "double quotes"),
        ("digraph { a [x=“b”] }", "1:16", "value is missing"),
        ("digraph { subgraph a }", "1:22", "needs a {"),
        ("digraph {" + "{" * 200, "1:110", "nested"),
        (
            "digraph { {"
            + "".join(f"a{n} " for n in range(999))
            + "} -> {"
            + "".join(f"b{n} " for n in range(999))
            + "} }",
            "1:11",
            "maximum of 500,000 edges",
        ),
    ],
)
def test_what_is_not_dot_is_refused_in_one_line_with_its_place(
    text: str, place: str, about: str
) -> None:
    with pytest.raises(DotError) as refusal:
        parse_dot(text, Path("some/loaf.dot"))
    message = str(refusal.value)
    assert message.startswith(f"some/loaf.dot:{place}: ")
    assert about in message
    assert "\n" not in message
    assert message.isprintable()


def test_text_behind_the_first_graph_is_only_remarked() -> None:
    found = parse_dot("digraph a { b }\ndigraph c { d }")
    assert list(found.nodes) == ["b"]
    assert [(remark.rule, remark.line) for remark in found.warnings][-1] == ("more-text", 1)


def test_files_of_other_encodings_and_no_files(tmp_path: Path) -> None:
    marked, wide, latin = (tmp_path / name for name in ("a.dot", "b.dot", "c.dot"))
    marked.write_bytes("\ufeffdigraph { a }".encode())
    wide.write_text("digraph { a }", "utf-16")
    latin.write_bytes('digraph { a [label="M\xfcsli"] }'.encode("latin-1"))
    assert [len(read_pipeline(path).nodes) for path in (marked, wide, latin)] == [1, 1, 1]
    with pytest.raises(ReviewerError, match="is a folder"):
        read_pipeline(tmp_path)
    with pytest.raises(ReviewerError, match="No such file"):
        read_pipeline(tmp_path / "none.dot")


def test_five_thousand_nodes_and_a_deep_chain_are_read() -> None:
    text = "".join(
        f'n{i} [prompt="Loaf {i}"]\nn{i} -> n{i + 1} [weight={i}]\n' for i in range(5000)
    )
    found = parse_dot("digraph { " + text + "}")
    assert (len(found.nodes), len(found.edges)) == (5001, 5000)
    assert (
        len(parse_dot("digraph { " + " -> ".join(f"n{i}" for i in range(5000)) + "}").edges) == 4999
    )
