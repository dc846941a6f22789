"""Packets in files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from reviewer.errors import ReviewerError
from reviewer.packets import output
from reviewer.packets.assembly import TITLE
from reviewer.text.for_agents import AgentText


def write_packet(text: str, path: Path) -> None:
    output.write_packet(AgentText(text), path)


def test_a_packet_replaces_an_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "packet.md"
    write_packet(f"{TITLE}\n\nold\n", path)
    path.chmod(0o640)
    write_packet(f"{TITLE}\n\nnew\n", path)
    assert path.read_text().endswith("new\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.write_text("# Decisions\n\nwritten by hand\n")
    with pytest.raises(ReviewerError, match="another file"):
        write_packet("x", path)
    assert "by hand" in path.read_text()


@pytest.mark.parametrize("name", ["", "gone/packet.md", "a\0b"])
def test_a_failed_write_is_reported_and_leaves_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReviewerError, match=r"cannot be written|not a (regular file|file name)"):
        write_packet("x", tmp_path / name)
    assert list(tmp_path.rglob("*packet*")) == []
