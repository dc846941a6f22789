"""What a run leaves: files for its owner only, a row in the store."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from reviewer.pipelines.events import RunError
from reviewer.store.undo import Undo
from reviewer.store.verify import verify
from tests.unit.pipelines.running import Workshop
from tests.unit.pipelines.test_runner import CHAIN, LOOP, in_turn


class TestFiles:
    def test_prompt_answer_and_status_of_every_stage_are_kept_for_the_owner_only(
        self, workshop: Workshop
    ) -> None:
        done = workshop.start(workshop.write(CHAIN))
        folder = Path(done.folder)
        assert folder.parent.name == "store.db-runs"
        assert (folder / "build-3" / "prompt.md").read_text().endswith("Build it")
        assert (folder / "build-3" / "response.md").read_text() == "did: Build it"
        status = json.loads((folder / "build-3" / "status.json").read_text())
        assert (status["node"], status["model"], status["step"]) == ("build", "scripted", 3)
        for path in [folder, *folder.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path

    def test_a_node_with_a_hostile_name_stays_in_the_folder(self, workshop: Workshop) -> None:
        path = workshop.write('"../../out" [prompt="x"]\nstart -> "../../out" -> done')
        done = workshop.start(path)
        assert done.state == "done"
        assert {each.parent for each in workshop.folder.rglob("prompt.md")} == {
            next(Path(done.folder).glob("*out*"))
        }

    def test_no_secret_reaches_the_disk_or_the_model(self, workshop: Workshop) -> None:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        workshop.model.script = in_turn(f"The token is {secret}")
        path = workshop.folder / "p.dot"
        path.write_text(
            f"digraph p {{ s [shape=Mdiamond]; e [shape=Msquare]; // {secret}\n"
            ' a [prompt="use $token"]; b [prompt="b"]; s -> a -> b -> e }'
        )
        done = workshop.start(path, context={"token": secret})
        kept = b"".join(
            each.read_bytes() for each in Path(done.folder).rglob("*") if each.is_file()
        )
        sent = "".join(each.content for call in workshop.model.asked for each in call)
        assert secret not in sent
        assert b"[masked" in kept
        assert kept.count(secret.encode()) == 0

    def test_a_thread_can_be_read_as_a_conversation(self, workshop: Workshop) -> None:
        done = workshop.start(workshop.write(LOOP))
        turns = workshop.runs.conversation(done.run_id, "work")
        assert [(turn.node, turn.prompt.splitlines()[-1]) for turn in turns] == [
            ("write", "Write"), ("check", "Check"),
        ]  # fmt: skip
        assert len(workshop.runs.conversation(done.run_id)) == 3
        with pytest.raises(RunError, match="Its threads: aside, work"):
            workshop.runs.conversation(done.run_id, "nowhere")


class TestStore:
    def test_a_run_is_registered_and_undo_does_not_see_it(self, workshop: Workshop) -> None:
        done = workshop.start(workshop.write(CHAIN))
        (view,) = workshop.runs.runs("tea")
        assert (view.run_id, view.state, view.name) == (done.run_id, "done", "brew")
        assert not view.can_resume
        assert Undo(workshop.database, workshop.ledger).next_undo() is None
        assert verify(workshop.database).ok
