"""Which work tree a folder belongs to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reviewer.projects import Tree, work_tree

NOBODY = 65_534


def git(place: Path) -> Path:
    (place / ".git").mkdir(parents=True)
    return place


def test_the_tree_around_a_folder_is_found(tmp_path: Path) -> None:
    (git(tmp_path / "p") / "deep" / "er").mkdir(parents=True)
    assert work_tree(tmp_path / "p" / "deep" / "er") == Tree("p", str(tmp_path.resolve() / "p"))


@pytest.mark.parametrize("back", ["", "elsewhere/.git", "../../../../../victim/.git"])
def test_a_git_file_is_followed_only_if_the_other_side_links_back(
    tmp_path: Path, back: str
) -> None:
    about = git(tmp_path / "victim") / ".git" / "worktrees" / "x"
    about.mkdir(parents=True)
    (about / "commondir").write_text("../..\n")
    (about / "gitdir").write_text(f"{back}\n")
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / ".git").write_text(f"gitdir: {about}\n")
    found = work_tree(tmp_path / "planted")
    assert found is not None
    assert found.name == "planted"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives away")
@pytest.mark.parametrize("given", [".", ".git"])
def test_a_tree_of_somebody_else_counts_as_none_unless_git_trusts_it(
    tmp_path: Path, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = git(tmp_path / "shared")
    (place / "mine").mkdir()
    os.chown(place / given, NOBODY, NOBODY)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    assert work_tree(place / "mine") is None
    (tmp_path / "gitconfig").write_text(f"[safe]\n\tdirectory = {place}\n")
    assert work_tree(place / "mine") is not None
    (tmp_path / "gitconfig").write_text(f"[safe]\n\tdirectory = {place}\n\tdirectory =\n")
    assert work_tree(place / "mine") is None


@pytest.mark.parametrize(
    "content", ["gitdir: " + " " * 200_000, "[a" + " " * 120_000, "gitdir:\n", "\0", "x" * 4_000]
)
def test_an_odd_git_file_is_a_tree_of_its_own(tmp_path: Path, content: str) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_text(content)
    found = work_tree(tmp_path / "odd")
    assert found is not None
    assert found.name == "odd"
