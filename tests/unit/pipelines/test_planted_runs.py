"""A run folder that somebody else made up: a resume touches nothing outside of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewer.errors import UnknownIdError
from reviewer.pipelines.events import RunError
from reviewer.pipelines.run_store import RunStore
from tests.unit.pipelines.running import Workshop

THREE = 'a [prompt="A"]; b [prompt="B"]; c [prompt="C"]\nstart -> a -> b -> c -> done'
MINE = "a file of the user\n"


@pytest.fixture
def planted(workshop: Workshop) -> Path:
    """The folder of a run that goes on with its third stage, `b`."""
    place = workshop.folder / "planted"
    workshop.start(workshop.write(THREE), run_dir=place, max_steps=2)
    return place


@pytest.fixture
def victim(workshop: Workshop) -> Path:
    """A file of the user, outside the run folder folder."""
    path = workshop.folder / "victim"
    path.write_text(MINE)
    return path


def link(path: Path, target: Path) -> None:
    """Put a link where the run has or will have a file."""
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


class TestWriting:
    @pytest.mark.parametrize(
        "name",
        [".checkpoint.json.new", "b-3/prompt.md", "b-3/response.md", "b-3/.status.json.new"],
    )
    def test_a_link_at_the_name_of_a_file_is_not_followed(
        self, workshop: Workshop, planted: Path, victim: Path, name: str
    ) -> None:
        link(planted / name, victim)
        assert workshop.resume(str(planted), max_steps=9).state == "done"
        assert victim.read_text() == MINE
        assert not victim.is_symlink()

    def test_a_linked_lock_makes_no_file_elsewhere(self, workshop: Workshop, planted: Path) -> None:
        elsewhere = workshop.folder / "elsewhere"
        link(planted / "lock", elsewhere)
        with pytest.raises(RunError, match="lock: it is a link, not a file"):
            workshop.resume(str(planted), max_steps=9)
        assert not elsewhere.exists()

    def test_a_pipe_in_place_of_the_lock_is_refused(
        self, workshop: Workshop, planted: Path
    ) -> None:
        as_a_pipe(planted / "lock")
        with pytest.raises(RunError, match="not a file"):
            workshop.resume(str(planted))

    def test_a_linked_stage_folder_is_refused(self, workshop: Workshop, planted: Path) -> None:
        outside = workshop.folder / "outside"
        outside.mkdir()
        (outside / "prompt.md").write_text(MINE)
        link(planted / "b-3", outside)
        failed = workshop.resume(str(planted), max_steps=9)
        assert failed.state == "failed"
        assert "b-3: it is a file or a link, not a folder" in failed.message
        assert [each.read_text() for each in outside.iterdir()] == [MINE]

    def test_a_conversation_is_not_written_through_a_link(
        self, workshop: Workshop, planted: Path, victim: Path
    ) -> None:
        link(planted / "conversation-all.json", victim)
        link(planted / ".conversation-all.json.new", victim)
        (view,) = workshop.runs.runs()
        workshop.runs.import_conversation(view.run_id)
        assert victim.read_text() == MINE


def as_a_link(path: Path) -> None:
    path.symlink_to(path.rename(path.with_name("aside")))


def as_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_a_file_that_would_fill_the_memory(path: Path) -> None:
    os.truncate(path, 10**12)


class TestReading:
    @pytest.mark.parametrize("name", ["run.json", "checkpoint.json", "pipeline.dot"])
    @pytest.mark.parametrize(
        ("make", "why"),
        [
            (as_a_link, "it is a link, not a file"),
            (as_a_pipe, "not a file"),
            (as_a_file_that_would_fill_the_memory, "larger than 256 MB"),
        ],
    )
    def test_what_is_no_plain_file_is_refused(
        self,
        workshop: Workshop,
        planted: Path,
        name: str,
        make: Callable[[Path], None],
        why: str,
    ) -> None:
        make(planted / name)
        with pytest.raises(RunError, match=why):
            workshop.resume(str(planted))

    def test_a_linked_status_ends_the_run_in_a_sentence(
        self, workshop: Workshop, planted: Path, victim: Path
    ) -> None:
        link(planted / "b-3" / "status.json", victim)
        failed = workshop.resume(str(planted), max_steps=9)
        assert failed.state == "failed"
        assert "status.json cannot be read: it is a link, not a file" in failed.message

    @pytest.mark.parametrize(
        ("name", "forged"),
        [
            ("checkpoint.json", {"next_node": "done", "next_edge": None}),
            ("checkpoint.json", {"logs": [], "completed_nodes": [], "next_node": ""}),
            ("checkpoint.json", {"next_edge": 99}),
            ("checkpoint.json", {"seal": ""}),
            ("run.json", {"max_steps": 9}),
            ("run.json", {"path": "/elsewhere/brew.dot"}),
        ],
    )
    def test_an_edited_file_is_refused(
        self, workshop: Workshop, planted: Path, name: str, forged: dict[str, object]
    ) -> None:
        edit(planted / name, forged)
        with pytest.raises(RunError, match="not as"):
            workshop.resume(str(planted))

    def test_a_question_cannot_be_skipped_by_writing_its_status(self, workshop: Workshop) -> None:
        place = workshop.folder / "gated"
        body = THREE.replace('b [prompt="B"]', "b [shape=hexagon]")
        workshop.start(workshop.write(body), run_dir=place, answers={"b": ["c"]})
        asked = workshop.folder / "asked"
        waits = workshop.start(workshop.write(body), run_dir=asked)
        (place / "b-3").rename(asked / "b-3")
        again = workshop.resume(str(asked))
        assert (waits.state, again.state) == ("waiting", "waiting")

    def test_a_run_of_another_store_does_not_go_on(
        self, workshop: Workshop, planted: Path, tmp_path: Path
    ) -> None:
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        with pytest.raises(UnknownIdError, match="There is no run"):
            Workshop(elsewhere).resume(str(planted))

    def test_a_run_of_an_earlier_version_is_begun_anew(
        self, workshop: Workshop, planted: Path
    ) -> None:
        with workshop.ledger.act("run") as act:
            act.update("pipeline_run", act.query("SELECT id FROM pipeline_run")[0][0], key="")
        with pytest.raises(RunError, match="Start it anew"):
            workshop.resume(str(planted))


def edit(path: Path, values: dict[str, object]) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


class TestOwner:
    @pytest.fixture
    def as_somebody_else(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)

    def test_a_run_of_another_user_does_not_go_on(
        self, workshop: Workshop, planted: Path, as_somebody_else: None
    ) -> None:
        before = sorted(planted.rglob("*"))
        with pytest.raises(RunError, match=f"{planted} belongs to another user"):
            workshop.resume(str(planted))
        assert sorted(planted.rglob("*")) == before

    def test_and_none_begins_in_a_folder_of_another_user(
        self, workshop: Workshop, as_somebody_else: None
    ) -> None:
        place = workshop.folder / "theirs"
        place.mkdir()
        with pytest.raises(RunError, match=f"{place} belongs to another user"):
            workshop.start(workshop.write(THREE), run_dir=place)
        assert not list(place.iterdir())

    def test_runs_are_still_listed(
        self, workshop: Workshop, planted: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (view,) = workshop.runs.runs()
        table = RunStore(workshop.database, workshop.ledger, workshop.clock)
        table.change(view.run_id, "running", "b")
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
        assert [each.state for each in workshop.runs.runs()] == ["interrupted"]
