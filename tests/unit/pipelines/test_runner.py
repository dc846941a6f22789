"""How a run walks: threads, preambles, retries, people, ends."""

from __future__ import annotations

import pytest

from reviewer.llm.model import ModelError
from reviewer.pipelines.events import RunError, StageDone, StageQuestion, StageStarted
from tests.unit.pipelines.running import Workshop

CHAIN = """
plan [prompt="Plan it"]; build [prompt="Build it"]
start -> plan -> build -> done
"""
LOOP = """
node [fidelity=full, thread_id=work]
write [prompt="Write"]; check [prompt="Check"]; other [prompt="Other", thread_id=aside]
start -> write -> check
check -> write [condition="outcome=fail"]
check -> other [condition="outcome=success"]
other -> done
"""


class TestThreads:
    def test_a_loop_in_one_thread_appends_to_one_conversation(self, workshop: Workshop) -> None:
        workshop.model.answers = ["w1", "c1\nOutcome: fail", "w2", "c2", "o1", "fine"]
        done = workshop.start(workshop.write(LOOP))

        assert done.state == "done"
        assert workshop.conversation_with(3) == [
            ("user", "Write"), ("assistant", "w1"),
            ("user", "Check"), ("assistant", "Outcome: fail"),
            ("user", "Write"), ("assistant", "w2"), ("user", "Check"),
        ]  # fmt: skip

    def test_without_an_id_the_thread_is_the_one_of_the_node_before(
        self, workshop: Workshop
    ) -> None:
        path = workshop.write(
            'a [prompt="A"]; b [prompt="B", fidelity=full]; c [prompt="C", fidelity=full]\n'
            "start -> a -> b -> c -> done"
        )
        workshop.start(path)
        started = [event for event in workshop.events if isinstance(event, StageStarted)]
        assert [each.thread for each in started] == ["", "", "a", "b", ""]
        assert workshop.conversation_with(2) == [("user", "C")]

    def test_turns_that_the_model_has_no_room_for_are_left_out_and_counted(
        self, workshop: Workshop
    ) -> None:
        answers = ["word " * 300 + "\nOutcome: fail" for _ in range(12)]
        workshop.model.answers = [*answers, "fine"]
        done = workshop.start(workshop.write(LOOP), context_tokens=1_000)

        assert done.state == "done"
        assert workshop.model.asked[-2][0].content.startswith("[")
        counted = [e.stage.left_out_turns for e in workshop.events if isinstance(e, StageDone)]
        assert max(counted) > 5
        (stage,) = (each for each in workshop.runs.checkpoint(done.run_id).logs if each.step == 13)
        assert stage.left_out_turns > 5
        assert stage.left_out_tokens > 1_000


class TestRetries:
    def test_without_max_retries_a_failing_model_stops_the_run_where_it_is(
        self, workshop: Workshop
    ) -> None:
        workshop.model.answers = ["planned", ModelError("The endpoint is gone."), "built", "fine"]
        done = workshop.start(workshop.write(CHAIN))

        assert (done.state, done.node) == ("failed", "build")
        assert "The endpoint is gone." in done.message
        assert workshop.nodes(done) == ["start", "plan"]
        assert workshop.slept == []
        # A resume tries that stage again, and no other.
        assert workshop.resume(done.run_id).state == "done"
        assert workshop.model.prompts() == ["Plan it", "Build it", "Build it"]

    def test_max_retries_are_attempts_after_the_first_with_growing_pauses(
        self, workshop: Workshop
    ) -> None:
        workshop.model.answers = [*[ModelError("busy")] * 3, "planned", "fine"]
        path = workshop.write(CHAIN.replace('"Plan it"', '"Plan it", max_retries=3'))
        done = workshop.start(path)

        assert done.state == "done"
        assert len(workshop.model.asked) == 5
        assert sum(workshop.slept) == pytest.approx(0.2 + 0.4 + 0.8)
        assert workshop.runs.checkpoint(done.run_id).node_retries == {"plan": 3}

    def test_attempts_of_a_shared_conversation_leave_only_the_one_that_counts(
        self, workshop: Workshop
    ) -> None:
        workshop.model.answers = ["Outcome: retry", "w1", "c1", "o1", "fine"]
        path = workshop.write(LOOP.replace('"Write"', '"Write", max_retries=1'))
        workshop.start(path)
        assert workshop.conversation_with(2) == [
            ("user", "Write"), ("assistant", "w1"), ("user", "Check"),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("attributes", "edge", "word", "target"),
        [
            ("", "", "fail", "done"),
            (", allow_partial=true", "", "partial_success", "done"),
            ("", 'plan -> build [condition="outcome=retry"]', "retry", "build"),
        ],
    )
    def test_what_becomes_of_retry_when_no_attempt_is_left(
        self, workshop: Workshop, attributes: str, edge: str, word: str, target: str
    ) -> None:
        workshop.model.answers = ["Outcome: retry", "Outcome: retry", "fine"]
        done = workshop.start(
            workshop.write(
                f'plan [prompt="P", max_retries=1{attributes}]; build [prompt="B"]\n'
                f"start -> plan -> done; build -> done; {edge}"
            )
        )
        ended = workshop.runs.checkpoint(done.run_id).logs[1]
        assert ended.word == word
        assert workshop.nodes(done)[2] == target


class TestPeople:
    GATE = """
    gate [shape=hexagon, label="Ship $goal?"]; fix [prompt="Fix it"]
    start -> gate
    gate -> done [label="[Y] Yes, ship"]
    gate -> fix [label="[N] Not yet"]
    fix -> gate
    """

    @pytest.mark.parametrize("answer", ["[Y] Yes, ship", "y", "done", "1"])
    def test_an_answer_is_a_label_a_key_or_a_node(self, workshop: Workshop, answer: str) -> None:
        done = workshop.start(workshop.write(self.GATE), answers={"gate": [answer]})
        assert workshop.nodes(done) == ["start", "gate", "done"]

    def test_a_question_shows_what_the_stage_before_it_answered(self, workshop: Workshop) -> None:
        workshop.model.answers = [lambda prompt: "two cups" if prompt.endswith("Brew") else "fine"]
        body = 'brew [prompt="Brew"]; start -> brew -> gate; gate [shape=hexagon]; gate -> done'
        workshop.start(workshop.write(body), ask=lambda question: "done")
        (question,) = [each for each in workshop.events if isinstance(each, StageQuestion)]
        assert question.about == "two cups"

    def test_the_answer_decides_whatever_the_conditions_say(self, workshop: Workshop) -> None:
        body = self.GATE.replace('"[Y] Yes, ship"', '"Yes", condition="outcome=success"')
        done = workshop.start(workshop.write(body), answers={"gate": ["n", "yes"]})
        assert workshop.nodes(done) == ["start", "gate", "fix", "gate", "done"]


WAYS: dict[str, tuple[str, list[str], str, str]] = {
    "a conditional asks about the stage before it": (
        'test [prompt="T"]; ok [shape=diamond]; fix [prompt="F"]; start -> test -> ok; fix -> done'
        ' ok -> done [condition="outcome=success"]; ok -> fix [condition="outcome!=success"]',
        ["Outcome: fail"], "start test ok fix done", "",
    ),
    "an answer sets the context for conditions": (
        'look [prompt="L"]; brew [prompt="B"]; start -> look; brew -> done'
        ' look -> brew [condition="context.leaf=green"]; look -> done',
        ["Context: leaf = green"], "start look brew done", "",
    ),
    "a run that no edge leads on ends": (
        'look [prompt="L"]; start -> look; look -> done [condition="tea"]',
        [], "start look", "all of its edges have conditions",
    ),
    "a goal gate that failed sends the run back": (
        'taste [prompt="T", goal_gate=true, retry_target=taste]; start -> taste -> done',
        ["Outcome: fail", "good"], "start taste done taste done", "",
    ),
    "a goal gate that failed without a way back fails the run": (
        'taste [prompt="T", goal_gate=true]; start -> taste -> done',
        ["Outcome: fail"], "start taste", "goal gate taste",
    ),
}  # fmt: skip
"""Pipeline, answers, the nodes gone through, and why the run ended."""


class TestWays:
    @pytest.mark.parametrize("way", WAYS)
    def test_the_way_through_a_pipeline(self, workshop: Workshop, way: str) -> None:
        body, answers, nodes, message = WAYS[way]
        workshop.model.answers = [*answers, "fine"]
        done = workshop.start(workshop.write(body))
        assert workshop.nodes(done)[: len(nodes.split())] == nodes.split()
        assert (done.state == "done") is not bool(message)
        assert message in done.message

    def test_a_loop_without_an_end_is_stopped_and_may_be_allowed_more(
        self, workshop: Workshop
    ) -> None:
        path = workshop.write(
            'a [prompt="A"]; b [prompt="B"]\nstart -> a -> b -> a; b -> done [condition=never]'
        )
        done = workshop.start(path, max_steps=20)
        assert (done.state, done.stages) == ("stopped", 20)
        assert "a -> b -> a" in done.message

        assert workshop.resume(done.run_id, max_steps=25).stages == 25

    def test_a_value_to_begin_with_fills_prompts_and_an_open_goal(self, workshop: Workshop) -> None:
        path = workshop.write(
            'a [prompt="$goal with ${cup} $HOME {{goal}}"]\nstart -> a -> done',
            attributes='goal="$goal";',
        )
        workshop.start(path, context={"goal": "tea", "cup": "$goal cups"})
        assert workshop.model.prompts() == ["tea with $goal cups $HOME {{goal}}"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("digraph g { a -> b }", "No start.*No exit"),
            ("digraph g { a [shape=Mdiamond]; b [shape=Mdiamond]; e [shape=Msquare]; a -> e }",
             r"2 starts \(a, b\)"),
            ("digraph g { start [shape=Mdiamond]; start -> a -> start }", "No exit"),
            ('digraph g { s [shape=Mdiamond]; e [shape=Msquare]; s -> e [condition="a || b"] }',
             r"Line 1: s -> e: The condition .a \|\| b. cannot be read"),
            ("digraph g { s [shape=Mdiamond]; e [shape=Msquare]; p [shape=house];"
             " q [shape=folder]; s -> p -> q -> e }",
             r"stack.manager_loop is not supported.*: p. .*pipeline is not supported.*: q"),
            ('digraph g { s [shape=Mdiamond]; e [shape=Msquare];'
             ' t [shape=parallelogram, tool_command="rm -rf x"]; s -> t -> e }',
             "--allow-tools; read them first: t"),
        ],
    )  # fmt: skip
    def test_what_cannot_run_is_refused_before_it_starts(
        self, workshop: Workshop, text: str, sentence: str
    ) -> None:
        path = workshop.folder / "bad.dot"
        path.write_text(text)
        with pytest.raises(RunError, match=sentence):
            workshop.start(path)
        assert workshop.model.asked == []
        assert workshop.runs.runs() == []
