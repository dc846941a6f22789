"""Packets of earlier calls, and packets in files."""

from __future__ import annotations

import stat
from datetime import UTC, datetime

import pytest

from reviewer.engine import Engine
from reviewer.errors import ReviewerError, SourceError
from reviewer.packets.assembling import TITLE
from reviewer.packets.kept import KeptOutput, Output, folder_seen, store_seen
from reviewer.packets.writing import write_packet

OUTPUT = Output("# Context packet\n", 4, ("a line",))


def test_an_output_is_given_again_while_nothing_changes(tmp_path, folder):
    seen = folder_seen(folder)
    KeptOutput(("kiosk", 8000), seen, tmp_path).put(OUTPUT)
    assert KeptOutput(("kiosk", 8000), seen, tmp_path).get() == OUTPUT
    assert KeptOutput(("kiosk", 4000), seen, tmp_path).get() is None
    (kept,) = tmp_path.glob("*.packet.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("change", ["edit", "new", "gone", "moved"])
def test_any_change_of_the_folder_is_seen(tmp_path, folder, change):
    before = folder_seen(folder)
    match change:
        case "edit":
            (folder / "TASKS.md").write_text("- [ ] Another\n")
        case "new":
            (folder / "GLOSSARY.md").write_text("Words.\n")
        case "gone":
            (folder / "TASKS.md").unlink()
        case "moved":
            (folder / "decisions").mkdir()
            (folder / "decisions" / "a.md").write_text("# A\n\nb\n")
    assert before != folder_seen(folder) != ""


def test_what_cannot_be_read_is_not_kept(tmp_path, folder):
    (folder / "LEARNINGS.md").unlink()
    (folder / "LEARNINGS.md").mkdir()
    assert folder_seen(folder) == ""
    KeptOutput(("kiosk",), "", tmp_path).put(OUTPUT)
    assert list(tmp_path.glob("*.packet.json")) == []
    with pytest.raises(SourceError):
        folder_seen(tmp_path / "gone")


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"seen": "SEEN", "text": 1}', "null"])
def test_a_damaged_output_is_made_again(tmp_path, damage):
    kept = KeptOutput(("kiosk",), "x", tmp_path)
    kept.put(OUTPUT)
    (path,) = tmp_path.glob("*.packet.json")
    path.write_text(damage.replace("SEEN", "x"))
    assert kept.get() is None


def test_any_change_of_a_store_is_seen(tmp_path):
    path = tmp_path / "store.db"
    assert store_seen(path) == ""
    engine = Engine.open(path, clock=lambda: datetime(2026, 7, 26, tzinfo=UTC))
    seen = {store_seen(path)}
    engine.state.set("kiosk", "paper width", "80 mm")
    seen.add(store_seen(path))
    engine.history.undo()
    seen.add(store_seen(path))
    engine.close()
    assert len(seen) == 3


def test_a_packet_replaces_an_earlier_one_and_nothing_else(tmp_path):
    path = tmp_path / "packet.md"
    write_packet(f"{TITLE}\n\nold\n", path)
    path.chmod(0o640)
    write_packet(f"{TITLE}\n\nnew\n", path)
    assert path.read_text().endswith("new\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.write_text("# Decisions\n\nwritten by hand\n")
    with pytest.raises(ReviewerError, match="--force"):
        write_packet("x", path)
    assert "by hand" in path.read_text()
    write_packet("x", path, replace=True)
    assert path.read_text() == "x"


@pytest.mark.parametrize(
    "name", ["DECISIONS.md", "constitution.md", "decisions/0001-thin-paper.md"]
)
@pytest.mark.parametrize("there", [True, False])
def test_a_packet_never_replaces_what_it_was_made_from(tmp_path, folder, name, there):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    if there:
        path.write_text(f"{TITLE}\n\nan earlier packet, or empty\n")
    else:
        path.unlink(missing_ok=True)
    (tmp_path / "link").symlink_to(folder)
    for source, target in ((folder, path), (tmp_path / "link", path), (folder.parent, path)):
        with pytest.raises(ReviewerError, match="made from"):
            write_packet("x", target, replace=True, made_from=source)
    assert path.exists() == there
    write_packet("x", folder / "packet.md", made_from=folder)


def test_a_packet_never_replaces_the_store(tmp_path):
    store = tmp_path / "store.db"
    store.write_bytes(b"SQLite format 3\0")
    with pytest.raises(ReviewerError, match="made from"):
        write_packet("x", store, replace=True, made_from=store)
    assert store.read_bytes() == b"SQLite format 3\0"


@pytest.mark.parametrize("name", ["", "gone/packet.md", "a\0b"])
def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path, name):
    with pytest.raises(ReviewerError, match=r"cannot be written|no regular file|no file name"):
        write_packet("x", tmp_path / name)
    assert list(tmp_path.rglob("*packet*")) == []
