"""`reviewer sync`: two machines decide apart, and a folder keeps them in step."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import NOTE, Reviewer

Pair = tuple[Reviewer, Reviewer]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """Two machines that have read the same note, and a folder `shared` between them."""
    (tmp_path / "shared").mkdir()
    found = []
    for name in ("laptop", "desktop"):
        folder = tmp_path / name
        folder.mkdir()
        program = Reviewer(folder)
        note = folder / "kiosk-decisions.md"
        note.write_text(NOTE, encoding="utf-8")
        program.succeeds("--project", "kiosk", "ingest", note)
        found.append(program)
    return found[0], found[1]


def shared(program: Reviewer) -> Path:
    return program.folder.parent / "shared"


def sync(program: Reviewer) -> dict[str, object]:
    done = program("--project", "kiosk", "sync", shared(program), "--json")
    assert "Traceback" not in done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def state(program: Reviewer) -> dict[str, str]:
    rows = program.rows("--project", "kiosk", "queue", "list", "--status", "all")
    return {row["content"]: row["status"] for row in rows if row["kind"] != "conflict"}


def row_id(program: Reviewer, words: str) -> int:
    rows = program.rows("--project", "kiosk", "queue", "list", "--status", "all")
    return next(
        int(row["id"]) for row in rows if words in row["content"] and row["kind"] != "conflict"
    )


def verdict(program: Reviewer, words: str) -> str:
    """What was decided about the row with those words."""
    return next(status for content, status in state(program).items() if words in content)


def decide(program: Reviewer, verb: str, words: str) -> None:
    program.succeeds("--project", "kiosk", verb, row_id(program, words))


def remember(program: Reviewer, text: str) -> None:
    program.succeeds("--project", "kiosk", "remember", text, "--type", "knowledge", "--promote")


def reword(program: Reviewer, words: str, new: str) -> None:
    file = program.folder / "new.txt"
    file.write_text(new, encoding="utf-8")
    program.succeeds("--project", "kiosk", "edit", row_id(program, words), "--content-file", file)


def test_decisions_go_both_ways(pair: Pair) -> None:
    laptop, desktop = pair
    decide(laptop, "promote", "thermal paper")
    decide(desktop, "reject", "two seconds")
    remember(laptop, "Only the laptop knows the PIN is dead")
    for program in (laptop, desktop, laptop):
        sync(program)
    assert state(laptop) == state(desktop)
    assert verdict(desktop, "Only the laptop") == "active"
    assert verdict(laptop, "two seconds") == "invalid"
    quiet = sync(desktop)
    assert (quiet["sent"], quiet["taken"], quiet["act"]) == (0, 0, 0)
    for program in pair:
        program.nothing_lost()


def test_concurrent_verdicts_wait_at_the_top_of_the_queue(pair: Pair) -> None:
    laptop, desktop = pair
    decide(laptop, "promote", "thermal paper")
    decide(desktop, "reject", "thermal paper")
    sync(laptop)
    assert len(sync(desktop)["conflicts"]) == 1  # type: ignore[arg-type]
    sync(laptop)
    assert state(laptop) == state(desktop)
    top = laptop.rows("--project", "kiosk", "queue", "list", "--limit", 1)[0]
    assert ("thermal paper" in top["content"], "concurrent" in top["flags"]) == (True, True)
    assert (sync(laptop)["sent"], sync(desktop)["sent"]) == (0, 0)
    decide(desktop, "promote", "thermal paper")
    sync(desktop), sync(laptop)
    assert state(laptop) == state(desktop)
    assert verdict(laptop, "thermal") == "active"


def test_concurrent_wordings_wait_together_and_are_settled_once_for_both(pair: Pair) -> None:
    laptop, desktop = pair
    decide(laptop, "promote", "thermal paper")
    sync(laptop), sync(desktop)
    wordings = {"Use paper without BPA only", "BPA paper is banned"}
    for program, new in zip(pair, sorted(wordings), strict=True):
        reword(program, "thermal paper", new)
    sync(laptop), sync(desktop), sync(laptop)
    assert state(laptop) == state(desktop)
    for program in pair:
        shown = program.rows("--project", "kiosk", "queue", "show", row_id(program, "BPA"))[0]
        assert (shown["status"], shown["flags"]) == ("candidate", ["concurrent"])
        assert wordings <= {shown["content"], *(each["content"] for each in shown["wordings"])}
    reword(desktop, "BPA", "No paper with BPA")
    decide(desktop, "promote", "No paper")
    sync(desktop), sync(laptop)
    for program in pair:
        assert [k for k, v in state(program).items() if v == "active"] == ["No paper with BPA"]
        shown = program.rows("--project", "kiosk", "queue", "show", row_id(program, "No paper"))[0]
        assert shown["flags"] == []
        program.nothing_lost()


def test_an_undone_sync_stays_undone(pair: Pair) -> None:
    laptop, desktop = pair
    remember(laptop, "The laptop alone knows this fact")
    decide(laptop, "promote", "thermal paper")
    sync(laptop)
    act = sync(desktop)["act"]
    desktop.succeeds("--project", "kiosk", "undo", act)
    sync(desktop), sync(laptop), sync(desktop)
    assert not any("laptop alone" in each for each in state(desktop))
    assert verdict(laptop, "laptop alone") == "active"
    assert verdict(laptop, "thermal") == "candidate"


def test_no_evidence_leaves(pair: Pair) -> None:
    laptop, _ = pair
    decide(laptop, "promote", "two seconds")
    sync(laptop)
    assert b'"passages"' not in b"".join(each.read_bytes() for each in shared(laptop).iterdir())


def only_file(program: Reviewer) -> Path:
    (path,) = shared(program).glob("*.reviewer.jsonl")
    return path


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def damage(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b'{"verdict": 7}\n', *lines[1:]]))


def nest(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b'{"more": ' + b"[" * 100_000 + b"\n", *lines[1:]]))


def lead_elsewhere(path: Path) -> None:
    other = path.with_name("elsewhere")
    path.rename(other)
    path.symlink_to(other)


def replace_by_a_strangers(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04 not ours\n")


def replace_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "taken", "says"),
    [
        (cut, 1, "has not arrived"),
        (damage, 2, "line 2, is left out"),
        (nest, 2, "line 2, is left out"),
        (lead_elsewhere, 0, "a link"),
        (replace_by_a_strangers, 0, "is not a file of decisions"),
        (replace_by_a_folder, 0, "a folder"),
    ],
)
def test_bad_files_are_named_and_stop_nothing(
    pair: Pair, spoil: Callable[[Path], None], taken: int, says: str
) -> None:
    laptop, desktop = pair
    decide(laptop, "promote", "thermal paper")
    decide(laptop, "promote", "two seconds")
    sync(laptop)
    spoil(only_file(laptop))
    decide(desktop, "promote", "paper width")
    found = sync(desktop)
    assert (found["sent"], found["taken"]) == (1, taken)
    assert says in str(found["problems"])


def test_a_line_that_is_missing_does_not_make_a_conflict(pair: Pair) -> None:
    laptop, desktop = pair
    decide(laptop, "promote", "thermal paper")
    sync(laptop), sync(desktop)
    whole = only_file(laptop)
    reword(laptop, "thermal paper", "First new wording of the paper rule")
    sync(laptop)
    reword(laptop, "First new", "Second new wording of the paper rule")
    sync(laptop)
    kept = whole.read_bytes()
    lines = kept.splitlines(keepends=True)
    whole.write_bytes(b"".join([*lines[:2], lines[3]]))
    for found in (lines[:2], kept.splitlines(keepends=True)):
        assert sync(desktop)["conflicts"] == []
        assert state(desktop)["Second new wording of the paper rule"] == "active"
        whole.write_bytes(b"".join(found))


def test_a_folder_behind_a_link_and_one_that_is_gone(pair: Pair) -> None:
    laptop, desktop = pair
    decide(laptop, "promote", "thermal paper")
    link = laptop.folder / "link"
    link.symlink_to(shared(laptop), target_is_directory=True)
    laptop.succeeds("--project", "kiosk", "sync", link)
    assert sync(desktop)["taken"] == 1
    assert "cannot be read" in laptop.fails("--project", "kiosk", "sync", laptop.folder / "none")
    for path in shared(laptop).iterdir():
        path.unlink()
    assert sync(laptop)["sent"] == 1  # an empty folder is filled again
    assert (sync(desktop)["taken"], sync(desktop)["sent"]) == (0, 0)


def test_a_folder_that_cannot_be_written_is_read(pair: Pair) -> None:
    from tests.cli.capabilities import bound_by_permissions

    laptop, desktop = pair
    decide(laptop, "promote", "thermal paper")
    sync(laptop)
    decide(desktop, "promote", "two seconds")
    shared(laptop).chmod(0o500)
    done = desktop("--project", "kiosk", "sync", shared(desktop), preexec_fn=bound_by_permissions)
    assert (done.returncode, "with the next sync" in done.stderr) == (1, True)
    assert verdict(desktop, "thermal") == "active"
    shared(laptop).chmod(0o700)
    sync(desktop), sync(laptop)
    assert state(laptop) == state(desktop)


def test_what_could_not_be_sent_is_not_overruled_by_what_came(pair: Pair) -> None:
    from tests.cli.capabilities import bound_by_permissions

    laptop, desktop = pair
    decide(laptop, "reject", "thermal paper")
    sync(laptop)
    decide(desktop, "promote", "thermal paper")
    shared(laptop).chmod(0o500)
    for _ in range(2):
        desktop("--project", "kiosk", "sync", shared(desktop), preexec_fn=bound_by_permissions)
        assert verdict(desktop, "thermal") == "candidate"
    shared(laptop).chmod(0o700)
    sync(desktop), sync(laptop)
    assert state(laptop) == state(desktop)
    assert verdict(laptop, "thermal") == "candidate"


def test_a_copied_store_writes_a_file_of_its_own(pair: Pair) -> None:
    laptop, _ = pair
    decide(laptop, "promote", "thermal paper")
    sync(laptop)
    copy = Reviewer(laptop.folder.parent / "laptop" / "home")
    shutil.copy(laptop.db, copy.db)
    decide(copy, "promote", "two seconds")
    copy.succeeds("--project", "kiosk", "sync", shared(laptop))
    assert len(list(shared(laptop).glob("*.reviewer.jsonl"))) == 2
    assert sync(laptop)["taken"] == 1


def test_with_signers_only_signed_files_count(pair: Pair) -> None:
    laptop, desktop = pair
    key = laptop.folder.parent / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    signers = key.with_name("signers")
    signers.write_text(f"anna {key.with_suffix('.pub').read_text()}")
    for program, table in ((laptop, f'key = "{key}"'), (desktop, f'signers = "{signers}"')):
        settings = program.folder / "config.toml"
        settings.write_text(f"[sync]\n{table}\n")
        program.environment["REVIEWER_CONFIG"] = str(settings)
    decide(laptop, "promote", "thermal paper")
    sync(laptop)
    assert sync(desktop)["taken"] == 1
    forged = only_file(laptop)
    forged.write_bytes(forged.read_bytes().replace(b"promoted", b"rejected"))
    found = sync(desktop)
    assert (found["taken"], "is invalid" in str(found["problems"])) == (0, True)


def test_files_of_another_project_in_the_folder_are_left_alone(pair: Pair) -> None:
    laptop, desktop = pair
    decide(laptop, "promote", "thermal paper")
    sync(laptop)
    done = desktop("--project", "museum", "sync", shared(desktop), "--json")
    found = json.loads(done.stdout)
    assert (found["taken"], found["problems"]) == (0, [])
    assert verdict(desktop, "thermal") == "candidate"
