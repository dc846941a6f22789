"""Whatever ends a program, the run goes on: no stage is lost, none counts twice."""

from __future__ import annotations

import json
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reviewer.llm.model import ModelError
from reviewer.pipelines.events import (
    RunError,
    StageStarted,
)
from reviewer.pipelines.run_folder import CHECKPOINT, RunFolder
from tests.unit.pipelines.running import Workshop

THREAD = """
node [fidelity=full, thread_id=work]
a [prompt="A"]; b [prompt="B"]; c [prompt="C"]
start -> a -> b -> c -> done
"""


class PowerCutError(BaseException):
    """The program is gone, without a chance to do anything."""


def stages_begun(workshop: Workshop) -> list[tuple[str, str, bool]]:
    """Node, fidelity and whether a resume had lost its session, of each stage with a model."""
    return [
        (each.node, each.fidelity, each.degraded)
        for each in workshop.events
        if isinstance(each, StageStarted) and each.handler == "codergen"
    ]


class TestDegradedOnce:
    """The first node after a resume."""

    def resumed_after(self, workshop: Workshop, stages: int, body: str = THREAD) -> None:
        stopped = workshop.start(workshop.write(body), max_steps=stages)
        workshop.events.clear()
        workshop.model.asked.clear()
        assert workshop.resume(stopped.run_id, max_steps=100).state == "done"

    def test_the_first_stage_after_a_resume_gets_a_summary_the_next_its_thread(
        self, workshop: Workshop
    ) -> None:
        self.resumed_after(workshop, 2)
        assert stages_begun(workshop) == [("b", "summary:high", True), ("c", "full", False)]
        (summary,) = workshop.model.asked[0]
        assert "did: A" in summary.content  # what the lost conversation knew
        assert summary.content.endswith("\n\nB")
        assert [role for role, _ in workshop.conversation_with(1)] == ["user", "assistant", "user"]
        assert workshop.model.asked[1][0] == summary

    def test_a_stage_with_a_session_of_its_own_does_not_use_up_the_one_hop(
        self, workshop: Workshop
    ) -> None:
        body = THREAD.replace('b [prompt="B"]', 'b [prompt="B", fidelity=compact]')
        self.resumed_after(workshop, 2, body)
        assert stages_begun(workshop) == [("b", "compact", False), ("c", "summary:high", True)]


class TestPowerCuts:
    """The program dies before or after any file is put in its place."""

    def walk_with_cuts(
        self, workshop: Workshop, monkeypatch: pytest.MonkeyPatch, at: int, *, after: bool
    ) -> bool:
        """Run with a power cut at the `at`-th file, then resume; says whether it came to that."""
        put, left = os.replace, [at]

        def cut(source: Path, target: Path, **places: Any) -> None:
            left[0] -= 1
            if left[0] == 0 and not after:
                raise PowerCutError
            put(source, target, **places)
            if left[0] == 0:
                raise PowerCutError

        path = workshop.write(THREAD)
        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", cut)
            with suppress(PowerCutError):
                workshop.start(path)
                return False
        for view in workshop.reopened().runs():
            assert view.state == "interrupted"
            done = workshop.resume(view.run_id)
            assert done.state == "done"
            assert workshop.nodes(done) == ["start", "a", "b", "c", "done"]
            steps = [entry.step for entry in workshop.runs.checkpoint(done.run_id).logs]
            assert steps == [1, 2, 3, 4, 5]
            asked = Counter(workshop.model.prompts())
            assert set(asked) == {"A", "B", "C"}
            # Only the stage in which the power went may have been asked twice.
            assert sum(asked.values()) <= 4
        return True

    @pytest.mark.parametrize("after", [False, True])
    def test_at_any_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
    ) -> None:
        at = 1
        while True:
            folder = tmp_path / f"cut-{at}"
            folder.mkdir()
            if not self.walk_with_cuts(Workshop(folder), monkeypatch, at, after=after):
                break
            at += 1
        assert at > 10

    def test_runs_are_listed_although_the_checkpoint_of_one_is_cut(
        self, workshop: Workshop
    ) -> None:
        def dies(prompt: str) -> str:
            raise PowerCutError

        workshop.model.answers = [dies]
        with pytest.raises(PowerCutError):
            workshop.start(workshop.write(THREAD))
        (view,) = workshop.reopened().runs()
        assert (view.state, view.current_node) == ("interrupted", "a")
        (Path(view.folder) / CHECKPOINT).write_bytes(b'{"run_id":')
        (view,) = workshop.runs.runs()
        assert (view.state, view.current_node) == ("interrupted", "start")


class TestFullDisk:
    @pytest.mark.parametrize("at", [1, 5])
    def test_the_run_fails_in_a_sentence_and_goes_on_once_there_is_room(
        self, workshop: Workshop, monkeypatch: pytest.MonkeyPatch, at: int
    ) -> None:
        left, sync = [at + 4], os.fsync  # the first four make the folder with its checkpoint

        def full(handle: int) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
            sync(handle)

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", full)
            failed = workshop.start(workshop.write(THREAD))
        assert failed.state == "failed"
        assert "No space left on device" in failed.message

        done = workshop.resume(failed.run_id)
        assert workshop.nodes(done) == ["start", "a", "b", "c", "done"]


class TestCancel:
    def test_between_stages(self, workshop: Workshop) -> None:
        done = workshop.start(
            workshop.write(THREAD), cancelled=lambda: len(workshop.model.asked) == 2
        )
        assert (done.state, done.node) == ("cancelled", "b")
        again = workshop.resume(done.run_id)
        assert workshop.nodes(again) == ["start", "a", "b", "c", "done"]

    def test_while_it_waits_for_the_next_attempt(self, workshop: Workshop) -> None:
        workshop.model.answers = [lambda _: ModelError("busy")]
        path = workshop.write('a [prompt="A", max_retries=9]\nstart -> a -> done')
        done = workshop.start(path, cancelled=lambda: len(workshop.slept) > 20)
        assert (done.state, done.node) == ("cancelled", "a")
        assert len(workshop.slept) == 21


class TestRefusals:
    def stopped(self, workshop: Workshop) -> tuple[str, Path]:
        path = workshop.write(THREAD)
        return workshop.start(path, max_steps=2).run_id, path

    def test_a_run_that_has_reached_its_exit(self, workshop: Workshop) -> None:
        done = workshop.start(workshop.write(THREAD))
        with pytest.raises(RunError, match="already reached its exit"):
            workshop.resume(done.run_id)

    def test_a_file_that_says_something_else_than_when_the_run_began(
        self, workshop: Workshop
    ) -> None:
        run_id, path = self.stopped(workshop)
        path.write_text(path.read_text().replace('"B"', '"Better"'))
        with pytest.raises(RunError, match=f"resume {run_id}"):
            workshop.resume(str(path))

    def test_but_by_its_id_it_goes_on_with_what_it_began_with(self, workshop: Workshop) -> None:
        run_id, path = self.stopped(workshop)
        path.unlink()
        done = workshop.resume(run_id, max_steps=9)
        assert done.state == "done"
        assert workshop.model.prompts() == ["A", "B", "C"]

    def test_a_cut_checkpoint(self, workshop: Workshop) -> None:
        run_id, _ = self.stopped(workshop)
        path = Path(workshop.runs.run(run_id).folder) / "checkpoint.json"
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(RunError, match="is damaged"):
            workshop.resume(run_id)

    @pytest.mark.parametrize(
        "edited",
        [{"next_node": "z"}, {"next_edge": 99}, {"next_node": "", "logs": []}, {"logs": [{}]}],
    )
    def test_an_edited_checkpoint(self, workshop: Workshop, edited: dict[str, object]) -> None:
        run_id, _ = self.stopped(workshop)
        path = Path(workshop.runs.run(run_id).folder) / "checkpoint.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | edited))
        with pytest.raises(RunError, match="Start again"):
            workshop.resume(run_id)

    def test_a_run_that_is_under_way(self, workshop: Workshop) -> None:
        run_id, _ = self.stopped(workshop)
        with (
            RunFolder(Path(workshop.runs.run(run_id).folder)).locked(),
            pytest.raises(RunError, match="in progress in another program"),
        ):
            workshop.resume(run_id)
