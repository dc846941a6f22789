"""Writing: a backup first, one step, never over somebody else's change."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reviewer.errors import ConflictError, ReviewerError, SourceError
from reviewer.promotion.export.file_writer import PlannedFile, read_file, unified_diff, write_plan
from tests.present import present

Put = Callable[[Path, bytes], Path | None]

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    path = tmp_path / "project" / "AGENTS.md"
    path.parent.mkdir()
    path.write_bytes(b"mine\r\n")
    return path


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Write bytes over what a path holds."""

    def write(path: Path, after: bytes) -> Path | None:
        plan = PlannedFile(path=path, before=read_file(path), after=after)
        return write_plan(plan, backup_folder=tmp_path / "backups", clock=lambda: NOON)

    return write


def test_the_file_is_written_and_its_old_bytes_are_in_the_backup(target: Path, put: Put) -> None:
    backup = put(target, b"ours\n")
    assert target.read_bytes() == b"ours\n"
    assert present(backup).read_bytes() == b"mine\r\n"
    assert present(backup).name.startswith("AGENTS.md.")
    assert "20260301T120000" in present(backup).name
    assert os.listdir(target.parent) == ["AGENTS.md"]


def test_backups_are_private_and_never_overwritten(target: Path, put: Put, tmp_path: Path) -> None:
    first, second = put(target, b"two"), put(target, b"three")
    assert [present(first).read_bytes(), present(second).read_bytes()] == [b"mine\r\n", b"two"]
    assert present(first).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "backups").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755])
def test_permissions_are_kept(target: Path, put: Put, mode: int) -> None:
    target.chmod(mode)
    put(target, b"ours")
    assert target.stat().st_mode & 0o777 == mode


def test_a_new_file_gets_the_usual_permissions_and_its_folder(tmp_path: Path, put: Put) -> None:
    usual = tmp_path / "usual"
    usual.touch()
    path = tmp_path / ".context" / "DECISIONS.md"
    assert put(path, b"ours") is None
    assert path.read_bytes() == b"ours"
    assert path.stat().st_mode == usual.stat().st_mode
    assert not (tmp_path / "backups").exists()


def test_folders_of_a_mistyped_path_are_not_made(tmp_path: Path, put: Put) -> None:
    with pytest.raises(ReviewerError, match="was not written"):
        put(tmp_path / "a" / "b" / "AGENTS.md", b"ours")
    assert not (tmp_path / "a").exists()


def test_a_symbolic_link_stays_and_its_file_is_written(
    target: Path, put: Put, tmp_path: Path
) -> None:
    link = tmp_path / "CLAUDE.md"
    link.symlink_to(target)
    put(link, b"ours")
    assert link.is_symlink()
    assert target.read_bytes() == b"ours"


@pytest.mark.parametrize(
    ("planned", "now"), [(b"mine", b"theirs"), (b"mine", None), (None, b"theirs")]
)
def test_a_change_since_the_plan_is_a_conflict(
    target: Path, tmp_path: Path, planned: bytes | None, now: bytes | None
) -> None:
    plan = PlannedFile(path=target, before=planned, after=b"ours")
    target.unlink() if now is None else target.write_bytes(now)
    with pytest.raises(ConflictError, match="changed meanwhile"):
        write_plan(plan, backup_folder=tmp_path / "backups")
    assert (target.read_bytes() if target.exists() else None) == now


def test_a_change_during_the_write_is_a_conflict_and_leaves_nothing(
    target: Path, tmp_path: Path
) -> None:
    def another_writes_meanwhile() -> datetime:
        target.write_bytes(b"theirs")
        return NOON

    plan = PlannedFile(path=target, before=b"mine\r\n", after=b"ours")
    with pytest.raises(ConflictError):
        write_plan(plan, backup_folder=tmp_path / "backups", clock=another_writes_meanwhile)
    assert target.read_bytes() == b"theirs"
    assert os.listdir(target.parent) == ["AGENTS.md"]


def test_a_failed_write_leaves_the_file_and_no_rest(
    target: Path, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_space(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    with pytest.raises(ReviewerError, match="No space left"):
        put(target, b"ours")
    assert target.read_bytes() == b"mine\r\n"
    assert os.listdir(target.parent) == ["AGENTS.md"]


def test_nothing_is_written_without_a_backup(target: Path, put: Put, tmp_path: Path) -> None:
    (tmp_path / "backups").write_text("in the way")
    with pytest.raises(ReviewerError, match="backups"):
        put(target, b"ours")
    assert target.read_bytes() == b"mine\r\n"


def test_a_backup_that_does_not_fit_leaves_no_part_of_itself(
    target: Path, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReviewerError) as refused:
        put(target, b"ours")
    assert str(refused.value) == f"{target} was not written: No space left on device."
    assert os.listdir(tmp_path / "backups") == []


def test_an_unchanged_plan_writes_nothing(target: Path, put: Put, tmp_path: Path) -> None:
    moment = target.stat().st_mtime_ns
    assert put(target, b"mine\r\n") is None
    assert target.stat().st_mtime_ns == moment
    assert not (tmp_path / "backups").exists()


def test_a_link_to_a_file_of_another_kind_is_not_followed(put: Put, tmp_path: Path) -> None:
    profile = tmp_path / ".bashrc"
    profile.write_bytes(b"umask 077\n")
    link = tmp_path / "CLAUDE.md"
    link.symlink_to(profile)
    with pytest.raises(ReviewerError, match="a file of another kind"):
        put(link, b"ours")
    assert profile.read_bytes() == b"umask 077\n"


def test_a_read_only_file_is_respected(
    target: Path, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    with pytest.raises(ReviewerError, match="read-only"):
        put(target, b"ours")


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("pipe", "loop", "."):
        with pytest.raises(SourceError):
            read_file(tmp_path / name)
    assert read_file(tmp_path / "none") is None


def test_the_difference_shows_what_would_change_and_is_safe_to_show() -> None:
    before, after = b"one\ntwo\r\nsame\n\xffend", b"one\ntwo\nsame\n\x1b[31mend"
    plan = PlannedFile(path=Path("AGENTS.md"), before=before, after=after)
    assert unified_diff(plan, "AGENTS.md") == [
        "--- a/AGENTS.md",
        "+++ b/AGENTS.md",
        "@@ -1,4 +1,4 @@",
        " one",
        "-two␍",
        "+two",
        " same",
        "-\\xffend (no line ending)",
        "+␛[31mend (no line ending)",
    ]
