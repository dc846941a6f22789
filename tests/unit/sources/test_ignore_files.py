"""Ignore files: they match as in git, and hostile ones do no harm."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewer.sources.ignore_files import LARGEST
from reviewer.sources.walk import FoundPath, walk

from .builders import put

SECONDS = 2.0
"""Seconds for patterns that take a backtracking matcher hours, and this one milliseconds."""


def found(folder: Path) -> set[str]:
    return {os.path.relpath(e.path, folder) for e in walk([folder]) if not e.reason}


def trouble(folder: Path) -> list[FoundPath]:
    return [each for each in walk([folder]) if each.reason.startswith("ignore file ")]


@pytest.mark.parametrize(
    ("pattern", "path", "yes"),
    [
        ("secret.md", "docs/secret.md", True),
        ("file[0-9a].txt", "filea.txt", True),
        ("file[!0-9].txt", "file3.txt", False),
        ("file[^0-9].txt", "file3.txt", False),
        ("[]x]", "]", True),
        (r"\!kept\*", "!kept*", True),
        ("odd   ", "odd", True),
        (r"app/\[id\]", "app/[id]", True),
        (r"app/\[id\]", "app/i", False),
        ("# *", "anything", False),
    ],
)
def test_a_pattern_matches_as_git_documents(
    tmp_path: Path, pattern: str, path: str, yes: bool
) -> None:
    """Names, sets, escapes and spaces; for the rest git is asked."""
    put(tmp_path, ".gitignore", f"{pattern}\n")
    put(tmp_path, path)
    assert (path not in found(tmp_path)) is yes


NAMES = ["a", "b", "ab", "aab", "a.x", "b.x"]
PIECES = st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", ".x", "a*b", "*b*", "a.?"])
# git takes the stars of `a**/b` for a `**` of their own, because it compares `a` apart.
SEGMENTS = st.lists(PIECES, min_size=1, max_size=3).map(lambda p: "".join(p).replace("**", "*"))
LINES = st.builds(
    lambda sign, slash, pieces, end: sign + slash + "/".join(pieces) + end,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(st.one_of(SEGMENTS, st.just("**")), min_size=1, max_size=4),
    st.sampled_from(["", "", "/", " "]),
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    ignores=st.dictionaries(
        st.sampled_from(["", "a/", "ab/"]), st.lists(LINES, max_size=5), max_size=2
    ),
    paths=st.sets(
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(tuple), min_size=1, max_size=12
    ),
)
def test_the_found_files_are_those_that_git_would_add(
    tmp_path_factory: pytest.TempPathFactory,
    ignores: dict[str, list[str]],
    paths: set[tuple[str, ...]],
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    for path in paths:
        place = folder.joinpath(*path)
        if not place.exists() and not any(each.is_file() for each in place.parents):
            put(folder, str(place.relative_to(folder)))
    for where, lines in ignores.items():
        if (folder / where).is_dir():
            put(folder, f"{where}.gitignore", "\n".join(lines) + "\n")
    subprocess.run(["git", "init", "-q", folder], check=True)
    listed = subprocess.run(
        ["git", "-C", folder, "ls-files", "-z", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    assert found(folder) == {each for each in listed if each and not each.endswith(".gitignore")}
    shutil.rmtree(folder)


def test_a_tree_with_worst_cases_is_walked_at_once(tmp_path: Path) -> None:
    worst = ("*a" * 15, "**/a/" * 15, "*?" * 15, "*[a-z]" * 15, "a/**/" * 15, "**/a*a*/" * 5)
    lines = [f"{each}b{n}" for each in worst for n in range(50)]
    put(tmp_path, ".gitignore", "\n".join(lines))
    put(tmp_path, "/".join(["a"] * 60) + "/note.md")
    put(tmp_path, "a" * 250 + ".md")
    began = time.process_time()
    assert len(found(tmp_path)) == 2
    assert time.process_time() - began < SECONDS
    assert trouble(tmp_path) == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (os.mkfifo, "it is a folder, a pipe or a device, not a file"),
        (lambda path: path.symlink_to(put(path.parent, "rules.txt", "*.md\n")), "it is a link"),
        (lambda path: path.symlink_to("/dev/zero"), "it is a link"),
        (lambda path: path.write_text("#" * (LARGEST + 1)), "it is larger than 30,000 bytes"),
    ],
    ids=["pipe", "link", "link without end", "large"],
)
@pytest.mark.parametrize("above", [False, True])
def test_an_ignore_file_that_is_not_a_plain_file_is_named_and_not_used(
    tmp_path: Path, make: Callable[[Path], object], reason: str, above: bool
) -> None:
    inner = tmp_path / "inner"
    put(inner, "kept.md")
    (tmp_path / ".git").mkdir()
    make(tmp_path / ".gitignore")
    folder = inner if above else tmp_path
    assert "kept.md" in {Path(name).name for name in found(folder)}
    assert trouble(folder) == [
        FoundPath(tmp_path / ".gitignore", f"ignore file cannot be read: {reason}")
    ]


@pytest.mark.parametrize("line", ["out/", "out", "deep", "*"])
def test_a_folder_named_below_an_ignored_one_is_read(tmp_path: Path, line: str) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path, ".gitignore", f"{line}\n*.log.md\n")
    put(tmp_path, "out/deep/note.md")
    assert found(tmp_path / "out" / "deep") == {"note.md"}
