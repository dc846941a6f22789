"""Whether a record still stands in its file, and the lines around one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from reviewer.engine import Engine
from reviewer.errors import SourceError
from reviewer.promotion.lists.source_view import BLOCK, LINE_CUT, record_state
from reviewer.promotion.views import QueueQuery, SourceState
from tests.unit.promotion.conftest import NOTE
from tests.unit.sources.builders import Session, put


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (b"one\ntwo\nthree\n", SourceState.SAME),
        (b"one\ntwo\nthree\nfour\n", SourceState.SAME),
        (b"zero\none\ntwo\nthree\n", SourceState.MOVED),
        (b"one\ntwa\nthree\n", SourceState.CHANGED),
        (b"", SourceState.CHANGED),
        (None, SourceState.GONE),
    ],
)
def test_state_of_a_record(tmp_path: Path, now: bytes | None, state: SourceState) -> None:
    path = tmp_path / "notes.md"
    if now is not None:
        path.write_bytes(now)
    assert record_state(path, 4, 8, hashlib.sha256(b"two\n").hexdigest(), quote="two") is state


def test_a_list_learns_cheaply_which_sources_changed(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path, "notes.md", NOTE)
    engine.intake.ingest([path], project="acme")
    numbers = list(engine.queue.ids(QueueQuery()))
    assert engine.sources.stale(numbers) == set()
    path.write_text(f"# Above\n\n{NOTE}")
    assert engine.sources.stale(numbers) == set(), "it only moved"
    path.write_text("Other words.\n")
    assert engine.sources.stale(numbers[:1]) == set(numbers[:1])
    monkeypatch.setattr("reviewer.promotion.lists.source_view.MAX_SEARCHED", 3)
    assert engine.sources.stale(numbers) == set(), "too long a file to look through"
    path.unlink()
    assert engine.sources.stale(numbers) == set(numbers)


def test_a_session_has_as_many_requests_in_the_list_as_when_it_is_opened(
    engine: Engine, tmp_path: Path
) -> None:
    path, told = tmp_path / "s1.jsonl", Session("s1")
    told.user("Paint the gate green.")
    told.user("<command-message>review</command-message>\n<command-name>/review</command-name>")
    told.user("<command-name>/clear</command-name>\n<command-args></command-args>")
    path.write_bytes(told.bytes())
    engine.intake.ingest([path], project="acme")
    (read,) = engine.sources.sessions("acme")
    opened = engine.contexts.import_file(path, project="acme").context.id
    assert read.requests == len(engine.contexts.persons_messages(opened)) == 2


@pytest.mark.parametrize(
    ("around", "context", "first", "lines", "total"),
    [
        (0, 1, 0, ("l0", "l1"), None),
        (5, 1, 4, ("l4", "l5", "l6"), None),
        (9, 2, 7, ("l7", "l8", "l9"), 10),
        (50, 2, 48, (), 10),
    ],
)
def test_a_window_of_lines(
    engine: Engine,
    tmp_path: Path,
    around: int,
    context: int,
    first: int,
    lines: tuple[str, ...],
    total: int | None,
) -> None:
    path = put(tmp_path, "ten.txt", "".join(f"l{n}\r\n" if n % 2 else f"l{n}\n" for n in range(10)))
    window = engine.sources.lines(str(path), around, context=context)
    assert (window.first_line, window.lines, window.total_lines) == (first, lines, total)


def test_a_line_longer_than_a_block_is_cut_and_counts_once(engine: Engine, tmp_path: Path) -> None:
    path = put(tmp_path, "long.txt", "first\n" + "x" * (3 * BLOCK) + "\nlast")
    window = engine.sources.lines(str(path), 1, context=5)
    assert [len(line) for line in window.lines] == [5, LINE_CUT, 4]
    assert window.total_lines == 3


def test_a_missing_file_is_named(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="gone"):
        engine.sources.lines(str(tmp_path / "gone.md"), 3)


def test_a_line_is_shown_without_its_secrets_also_where_it_is_cut(
    engine: Engine, tmp_path: Path
) -> None:
    token = "ghp_" + "x7Kd9QwErTy" * 4
    path = put(
        tmp_path, "notes.md", f"push with {token}\n{'x ' * (LINE_CUT // 2 - 8)}{token}\nend\n"
    )
    lines = engine.sources.lines(str(path), 0).lines
    assert lines[0] == "push with ghp_[masked github-token]"
    assert lines[1].endswith("x ghp_[masked gith")
    assert lines[2:] == ("end",)


def test_the_lines_of_a_key_stay_as_many_as_they_are(engine: Engine, tmp_path: Path) -> None:
    body = "\n".join("MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn" + str(number) for number in range(5))
    path = tmp_path / "key.md"
    path.write_text(
        f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nend\n"
    )
    lines = engine.sources.lines(str(path), 0).lines
    assert (len(lines), lines[-1]) == (8, "end")
    assert "MIIE" not in "".join(lines)
