"""A file is put in place whole, and no planted link leads it astray."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from reviewer.files import open_plain, write_atomic


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "notes"
    path.write_text("old")
    return path


def test_the_new_file_takes_the_place_of_the_old_one(path: Path) -> None:
    write_atomic(path, b"new")
    assert path.read_bytes() == b"new"
    assert [each.name for each in path.parent.iterdir()] == ["notes"]


def test_only_the_owner_may_read_it(path: Path) -> None:
    path.chmod(0o666)
    write_atomic(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_is_replaced_and_its_target_stays(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    write_atomic(link, b"new")
    assert not link.is_symlink()
    assert (link.read_bytes(), path.read_bytes()) == (b"new", b"old")


def test_another_name_of_the_same_file_stays(path: Path) -> None:
    other = path.with_name("other")
    os.link(path, other)
    write_atomic(path, b"new")
    assert (path.read_bytes(), other.read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_when_it_fails_the_old_file_is_there_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space left"):
        write_atomic(path, b"new")
    assert path.read_text() == "old"
    assert [each.name for each in path.parent.iterdir()] == ["notes"]


def test_a_folder_in_its_place_is_an_error(path: Path) -> None:
    path.unlink()
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomic(path, b"new")
    assert [each.name for each in path.parent.iterdir()] == ["notes"]


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="needs a folder below /dev")
def test_a_pipe_that_anybody_made_below_dev_is_not_taken_for_one_of_the_shell() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        pipe = Path(folder, "pipe")
        os.mkfifo(pipe)
        with pytest.raises(OSError, match="named pipe"):
            open_plain(pipe)
