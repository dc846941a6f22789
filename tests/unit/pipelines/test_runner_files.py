"""What a run leaves: files for its owner only, a row in the store."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.pipelines.events import RunError
from reviewer.pipelines.values import Stage
from reviewer.store.undo import Undo
from reviewer.store.verify import verify
from tests.unit.pipelines.running import Workshop
from tests.unit.pipelines.test_runner import CHAIN


def as_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


class TestFiles:
    def test_prompt_and_answer_of_every_stage_are_kept_for_the_owner_only(
        self, workshop: Workshop
    ) -> None:
        done = workshop.start(workshop.write(CHAIN))
        folder = Path(done.folder)
        assert folder.parent.name == "store.db-runs"
        assert (folder / "build-3" / "prompt.md").read_text().endswith("Build it")
        assert (folder / "build-3" / "response.md").read_text() == "did: Build it"
        stage = workshop.runs.checkpoint(done.run_id).logs[2]
        assert (stage.node, stage.model, stage.step) == ("build", "scripted", 3)
        for path in [folder, *folder.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path

    def test_a_node_with_a_hostile_name_stays_in_the_folder(self, workshop: Workshop) -> None:
        path = workshop.write('"../../out" [prompt="x"]\nstart -> "../../out" -> done')
        done = workshop.start(path)
        assert done.state == "done"
        assert {each.parent for each in workshop.folder.rglob("prompt.md")} == {
            next(Path(done.folder).glob("*out*"))
        }

    def test_the_checkpoint_has_the_documents_keys(self, workshop: Workshop) -> None:
        done = workshop.start(workshop.write(CHAIN))
        keys = {"timestamp", "current_node", "completed_nodes", "node_retries", "context", "logs"}
        assert keys <= json.loads((Path(done.folder) / "checkpoint.json").read_text()).keys()

    @pytest.mark.parametrize(
        ("make", "why"),
        [
            (lambda path: path.symlink_to(path.rename(path.with_name("aside"))), "it is a link"),
            (as_a_pipe, "not a file"),
            (lambda path: os.truncate(path, 10**12), "larger than 256,000,000 bytes"),
        ],
    )
    def test_a_checkpoint_that_is_no_plain_file_is_refused(
        self, workshop: Workshop, make: Callable[[Path], object], why: str
    ) -> None:
        stopped = workshop.start(workshop.write(CHAIN), max_steps=1)
        make(Path(stopped.folder) / "checkpoint.json")
        with pytest.raises(RunError, match=why):
            workshop.resume(stopped.run_id)


@pytest.mark.parametrize("node", ["../../etc", "", "x" * 500, "née", "a\0b"])
def test_whatever_a_node_is_called_its_folder_is_one_plain_name(node: str) -> None:
    name = Stage(node, step=3).folder
    assert "/" not in name
    assert name.isascii()
    assert name.isprintable()
    assert not name.startswith(".")
    assert len(name) < 100


class TestStore:
    def test_a_run_is_registered_and_undo_does_not_see_it(self, workshop: Workshop) -> None:
        done = workshop.start(workshop.write(CHAIN))
        (view,) = workshop.runs.runs("tea")
        assert (view.run_id, view.state, view.name) == (done.run_id, "done", "brew")
        assert not view.can_resume
        assert Undo(workshop.database, workshop.ledger).next_undo() is None
        assert verify(workshop.database).ok
