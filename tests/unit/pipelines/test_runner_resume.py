"""Whatever ends a program, the run goes on: no stage is lost, none counts twice."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from reviewer.errors import UnknownIdError
from reviewer.llm.model import ModelError
from reviewer.pipelines.checkpoint import read_checkpoint, write_checkpoint
from reviewer.pipelines.events import (
    CheckpointError,
    Event,
    RunError,
    RunStarted,
    StageDone,
    StageStarted,
)
from reviewer.pipelines.run_folder import RunFolder, StageStatus
from reviewer.pipelines.service import RunOptions
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

    def test_the_summary_tells_what_the_lost_conversation_knew(self, workshop: Workshop) -> None:
        self.resumed_after(workshop, 2)
        (only,) = workshop.model.asked[0]
        assert "did: A" in only.content
        assert only.content.endswith("\n\nB")

    def test_the_thread_begins_anew_with_that_summary(self, workshop: Workshop) -> None:
        self.resumed_after(workshop, 2)
        assert [role for role, _ in workshop.conversation_with(1)] == ["user", "assistant", "user"]
        assert "did: A" in workshop.model.asked[1][0].content

    def test_a_stage_with_a_session_of_its_own_does_not_use_up_the_one_hop(
        self, workshop: Workshop
    ) -> None:
        body = THREAD.replace('b [prompt="B"]', 'b [prompt="B", fidelity=compact]')
        self.resumed_after(workshop, 2, body)
        assert stages_begun(workshop) == [("b", "compact", False), ("c", "summary:high", True)]

    def test_a_run_that_never_stopped_is_not_degraded(self, workshop: Workshop) -> None:
        workshop.start(workshop.write(THREAD))
        assert [fidelity for _, fidelity, _ in stages_begun(workshop)] == ["full"] * 3


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
        assert at > 15

    def test_a_stage_that_had_ended_is_taken_over_and_not_asked_again(
        self, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keep = RunFolder.write_status

        def cut(folder: RunFolder, status: StageStatus) -> None:
            keep(folder, status)
            if status.node == "b":
                raise PowerCutError

        with monkeypatch.context() as patched:
            patched.setattr(RunFolder, "write_status", cut)
            with pytest.raises(PowerCutError):
                workshop.start(workshop.write(THREAD))
        (view,) = workshop.reopened().runs()
        assert view.current_node == "b"  # where it goes on, not where it began
        done = workshop.resume(view.run_id)
        assert workshop.nodes(done) == ["start", "a", "b", "c", "done"]
        assert workshop.model.prompts() == ["A", "B", "C"]

    def test_a_stage_taken_over_is_not_the_one_that_gets_a_summary(
        self, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keep = RunFolder.write_status

        def cut(folder: RunFolder, status: StageStatus) -> None:
            keep(folder, status)
            if status.node == "b":
                raise PowerCutError

        with monkeypatch.context() as patched:
            patched.setattr(RunFolder, "write_status", cut)
            with pytest.raises(PowerCutError):
                workshop.start(workshop.write(THREAD))
        (view,) = workshop.reopened().runs()
        workshop.events.clear()
        workshop.resume(view.run_id)
        assert stages_begun(workshop) == [("b", "full", False), ("c", "summary:high", True)]

    def test_runs_are_listed_although_the_checkpoint_of_one_is_cut(
        self, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def cut(folder: RunFolder, status: StageStatus) -> None:
            raise PowerCutError

        with monkeypatch.context() as patched:
            patched.setattr(RunFolder, "write_status", cut)
            with pytest.raises(PowerCutError):
                workshop.start(workshop.write(THREAD))
        (before,) = workshop.reopened().runs()
        RunFolder(Path(before.folder)).checkpoint.write_bytes(b'{"run_id":')
        (view,) = workshop.runs.runs()
        assert (view.state, view.current_node) == ("interrupted", "start")


class TestLongRuns:
    """A run of many stages appends to its checkpoint instead of rewriting it."""

    def chain(self, workshop: Workshop, stages: int, node: str) -> Path:
        names = [f"n{number}" for number in range(stages)]
        return workshop.write(f"node [{node}]\n{' -> '.join(['start', *names, 'done'])}")

    def bytes_of_checkpoints(self, workshop: Workshop, stages: int) -> int:
        """Of all versions of the checkpoint together."""
        folder, sizes = Path(), dict[object, int]()

        def watch(event: Event) -> None:
            nonlocal folder
            if isinstance(event, RunStarted):
                folder = Path(event.folder)
            for path in folder.glob("checkpoint.*"):
                stat = path.stat()
                key = path.name if path.suffix == ".log" else (stat.st_ino, stat.st_mtime_ns)
                sizes[key] = stat.st_size

        path = self.chain(workshop, stages, "shape=diamond")
        assert workshop.runs.start_run(path, "tea", watch=watch).state == "done"
        return sum(sizes.values())

    def test_twice_the_stages_write_twice_as_much(self, workshop: Workshop) -> None:
        short, long = (self.bytes_of_checkpoints(workshop, stages) for stages in (150, 300))
        assert long < 2.2 * short

    def test_stages_after_the_last_checkpoint_are_not_repeated(self, workshop: Workshop) -> None:
        def die(event: Event) -> None:
            if isinstance(event, StageDone) and event.step == 140:
                raise PowerCutError

        path = self.chain(workshop, 145, 'prompt="P", fidelity=truncate')
        options = RunOptions(model=workshop.model)
        with pytest.raises(PowerCutError):
            workshop.runs.start_run(path, "tea", options, watch=die)
        (view,) = workshop.reopened().runs()
        os.truncate(Path(view.folder) / "checkpoint.log", 20_000)
        assert len(workshop.runs.checkpoint(view.run_id).completed_nodes) < 140
        done = workshop.resume(view.run_id)
        assert done.state == "done"
        assert workshop.nodes(done) == ["start", *(f"n{number}" for number in range(145)), "done"]
        assert len(workshop.model.asked) == 145

    def test_a_run_that_pauses_has_all_stages_in_its_checkpoint(self, workshop: Workshop) -> None:
        path = self.chain(workshop, 145, "shape=diamond")
        done = workshop.start(path, max_steps=141)
        assert len(workshop.nodes(done)) == 141


class TestAnswers:
    """What is not synced may be gone after a power cut. What was answered is synced, once."""

    @pytest.mark.parametrize("left", ["nothing", "empty files", "an unfinished line"])
    def test_no_answer_is_asked_for_again(self, workshop: Workshop, left: str) -> None:
        answers: list[str | ModelError] = ["one", "two", ModelError("no credit"), "three"]
        workshop.model.script = lambda _: answers.pop(0)
        failed = workshop.start(workshop.write(THREAD))
        folder = Path(failed.folder)
        (folder / "checkpoint.log").unlink(missing_ok=True)
        for path in [each for each in folder.glob("*-*/*") if each.is_file()]:
            path.unlink() if left == "nothing" else path.write_bytes(b"")
        if left == "an unfinished line":
            with (folder / "answers.log").open("ab") as log:
                log.write(b'\n{"status":{"step":4,"no')
        done = workshop.resume(failed.run_id)
        assert workshop.nodes(done) == ["start", "a", "b", "c", "done"]
        assert workshop.model.prompts() == ["A", "B", "C", "C"]
        assert [(folder / f"{name}/response.md").read_text() for name in ("a-2", "b-3", "c-4")] == [
            "one", "two", "three",
        ]  # fmt: skip

    def test_a_stage_is_synced_once(
        self, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def syncs(stages: int) -> int:
            count, sync = [0], os.fsync

            def counted(handle: int) -> None:
                count[0] += 1
                sync(handle)

            names = [f"n{number}" for number in range(stages)]
            path = workshop.write(f'node [prompt="P"]\n{" -> ".join(["start", *names, "done"])}')
            with monkeypatch.context() as patched:
                patched.setattr(os, "fsync", counted)
                assert workshop.start(path).state == "done"
            return count[0]

        assert syncs(30) - syncs(10) == 20


class TestFullDisk:
    @pytest.mark.parametrize("at", range(1, 6))
    def test_the_run_fails_in_a_sentence_and_goes_on_once_there_is_room(
        self, workshop: Workshop, monkeypatch: pytest.MonkeyPatch, at: int
    ) -> None:
        left, sync = [at + 6], os.fsync  # the first six make the folder with its checkpoint

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
        workshop.model.script = lambda _: ModelError("busy")
        path = workshop.write('a [prompt="A", max_retries=9]\nstart -> a -> done')
        done = workshop.start(path, cancelled=lambda: len(workshop.slept) > 20)
        assert (done.state, done.node) == ("cancelled", "a")
        assert len(workshop.slept) == 21

    def test_while_it_asks(self, workshop: Workshop) -> None:
        stop = []

        def ask(_: object) -> None:
            stop.append(True)

        path = workshop.write("a [shape=hexagon]\nstart -> a -> done")
        done = workshop.start(path, ask=ask, cancelled=lambda: bool(stop))
        assert done.state == "cancelled"


class TestRefusals:
    def stopped(self, workshop: Workshop) -> tuple[str, Path]:
        path = workshop.write(THREAD)
        return workshop.start(path, max_steps=2).run_id, path

    def test_a_run_that_has_reached_its_exit(self, workshop: Workshop) -> None:
        done = workshop.start(workshop.write(THREAD))
        with pytest.raises(RunError, match="nothing left"):
            workshop.resume(done.run_id)

    def test_a_run_that_nobody_knows(self, workshop: Workshop) -> None:
        with pytest.raises(UnknownIdError, match="pipeline runs"):
            workshop.resume("nothing")

    def test_a_file_that_says_something_else_than_when_the_run_began(
        self, workshop: Workshop
    ) -> None:
        run_id, path = self.stopped(workshop)
        path.write_text(path.read_text().replace('"B"', '"Better"'))
        with pytest.raises(CheckpointError, match=f"resume {run_id}"):
            workshop.resume(str(path))

    def test_but_by_its_id_it_goes_on_with_what_it_began_with(self, workshop: Workshop) -> None:
        run_id, path = self.stopped(workshop)
        path.unlink()
        done = workshop.resume(run_id, max_steps=9)
        assert done.state == "done"
        assert workshop.model.prompts() == ["A", "B", "C"]

    def test_the_checkpoint_of_another_pipeline(self, workshop: Workshop) -> None:
        run_id, _ = self.stopped(workshop)
        other = workshop.start(workshop.write(THREAD, name="bake"), max_steps=2)
        mine = Path(workshop.runs.run(run_id).folder)
        (mine / "checkpoint.json").write_bytes(
            (Path(other.folder) / "checkpoint.json").read_bytes()
        )
        with pytest.raises(CheckpointError, match="another pipeline"):
            workshop.resume(run_id)

    def test_a_cut_checkpoint(self, workshop: Workshop) -> None:
        run_id, _ = self.stopped(workshop)
        path = Path(workshop.runs.run(run_id).folder) / "checkpoint.json"
        path.write_bytes(path.read_bytes()[:-20])
        with pytest.raises(CheckpointError, match="cut or damaged"):
            workshop.resume(run_id)

    def test_a_run_that_is_under_way(self, workshop: Workshop) -> None:
        run_id, _ = self.stopped(workshop)
        with (
            RunFolder(Path(workshop.runs.run(run_id).folder)).locked(),
            pytest.raises(RunError, match="under way in another program"),
        ):
            workshop.resume(run_id)

    def test_a_folder_that_is_none_of_a_run(self, workshop: Workshop) -> None:
        with pytest.raises(RunError, match="not the folder of a run"):
            workshop.resume(str(workshop.folder))


class TestPlaces:
    def test_a_run_may_be_kept_elsewhere_and_resumed_by_its_folder(
        self, workshop: Workshop
    ) -> None:
        place = workshop.folder / "elsewhere"
        workshop.start(workshop.write(THREAD), run_dir=place, max_steps=2)
        assert workshop.resume(str(place), max_steps=9).state == "done"

    def test_a_file_goes_on_with_its_latest_run_that_can(self, workshop: Workshop) -> None:
        path = workshop.write(THREAD)
        first = workshop.start(path, max_steps=2)
        workshop.start(path)
        done = workshop.resume(str(path), max_steps=9)
        assert (done.run_id, done.state) == (first.run_id, "done")


class TestLog:
    """What a kill leaves of the lines that stages append to the checkpoint."""

    @staticmethod
    def run_and_kill(workshop: Workshop) -> Path:
        """The folder of a run that was killed after its third stage."""

        def die(event: Event) -> None:
            if isinstance(event, StageDone) and event.step == 3:
                raise PowerCutError

        path = workshop.write(
            'plan [prompt="Plan"]; build [prompt="Build"]; look [prompt="Look"]\n'
            "start -> plan -> build -> look -> done"
        )
        with pytest.raises(PowerCutError):
            workshop.runs.start_run(path, "tea", RunOptions(model=workshop.model), watch=die)
        (view,) = workshop.reopened().runs()
        return Path(view.folder)

    @pytest.fixture
    def killed(self, workshop: Workshop) -> Path:
        return self.run_and_kill(workshop)

    def test_the_log_is_part_of_the_checkpoint_for_every_reader(
        self, workshop: Workshop, killed: Path
    ) -> None:
        (view,) = workshop.runs.runs()
        assert view.current_node == "look"
        whole = workshop.runs.checkpoint(view.run_id)
        assert whole.completed_nodes == ["start", "plan", "build"]
        assert whole.context["last_response"] == "did: Build"
        read = workshop.runs.rules.read_history(killed)
        assert [stage.node for stage in read.completed] == whole.completed_nodes
        assert read.context == whole.context

    def test_cut_at_any_byte_the_run_goes_on_and_repeats_nothing(
        self, killed: Path, tmp_path: Path
    ) -> None:
        log = (killed / "checkpoint.log").read_bytes()
        first, complete = log.index(b"\n") + 1, len(log)
        cuts = {0, 1, first - 1, first, first + 1, complete - 1, complete, *range(0, complete, 97)}
        for at in sorted(cuts):
            beside = tmp_path / f"cut-{at}"
            beside.mkdir()
            workshop = Workshop(beside)
            place = self.run_and_kill(workshop)
            (place / "checkpoint.log").write_bytes(log[:at])
            known = read_checkpoint(place / "checkpoint.json").completed_nodes
            assert known == ["start", "plan", "build"][: log[:at].count(b"\n")]
            done = workshop.resume(str(place))
            assert done.state == "done", (at, done.message)
            assert workshop.model.prompts() == ["Plan", "Build", "Look"]
            assert not (place / "checkpoint.log").exists()
            walked = read_checkpoint(place / "checkpoint.json").completed_nodes
            assert walked == ["start", "plan", "build", "look", "done"]

    @pytest.mark.parametrize("damage", [b"{}", b"[1]", b'{"after": 1, "logs": [{}]}', b"\xff"])
    def test_a_damaged_line_and_what_follows_is_left_out(
        self, workshop: Workshop, killed: Path, damage: bytes
    ) -> None:
        lines = (killed / "checkpoint.log").read_bytes().splitlines(keepends=True)
        lines[1] = damage + b"\n"
        (killed / "checkpoint.log").write_bytes(b"".join(lines))
        assert read_checkpoint(killed / "checkpoint.json").completed_nodes == ["start"]
        done = workshop.resume(str(killed))
        assert (done.state, len(workshop.model.asked)) == ("done", 3)

    def test_lines_that_the_checkpoint_has_already_count_once(
        self, workshop: Workshop, killed: Path
    ) -> None:
        log = (killed / "checkpoint.log").read_bytes()
        whole = read_checkpoint(killed / "checkpoint.json")
        write_checkpoint(killed / "checkpoint.json", whole)
        (killed / "checkpoint.log").write_bytes(log)  # as if killed before it was removed
        assert read_checkpoint(killed / "checkpoint.json") == whole

    def test_a_checkpoint_of_an_earlier_version_without_a_log_still_opens(
        self, workshop: Workshop, killed: Path
    ) -> None:
        write_checkpoint(killed / "checkpoint.json", read_checkpoint(killed / "checkpoint.json"))
        assert not (killed / "checkpoint.log").exists()
        done = workshop.resume(str(killed))
        assert (done.state, len(workshop.model.asked)) == ("done", 3)
