"""Which project a work tree belongs to, as a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.projects import (
    ForeignProjectError,
    StoredProject,
    Tree,
    choose,
    normal_remote,
    work_tree,
)


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("git@github.com:zoo/p.git", "github.com/zoo/p"),
        ("github.com:zoo/p/", "github.com/zoo/p"),
        ("ssh://git@GitHub.com/zoo/p.git", "github.com/zoo/p"),
        ("ssh://git@github.com:22/zoo/p", "github.com/zoo/p"),
        ("https://me:secret@github.com/zoo/p.git/", "github.com/zoo/p"),
        ("https://github.com:443/zoo/p?token=secret#x", "github.com/zoo/p"),
        ("https://github.com:8443/zoo/p", "github.com:8443/zoo/p"),
        ("https://github.com/zoo/P", "github.com/zoo/P"),
        ("file:///srv/git/p.git", "/srv/git/p"),
        ("/srv/git/p.git", "/srv/git/p"),
        ("../p", "/home/p"),
        ("", ""),
        ("https://github.com/zoo/\x1b[31mp", ""),
        ("https://github.com/" + "p" * 600, ""),
    ],
)
def test_one_remote_has_one_spelling(url: str, remote: str) -> None:
    assert normal_remote(url, Path("/home/tree")) == remote


@pytest.mark.parametrize(
    ("config", "remote"),
    [
        ('[remote "origin"]\n\turl = git@a.org:x/y.git\n', "a.org/x/y"),
        ('[REMOTE "origin"] URL=git@a.org:x/y.git\n', "a.org/x/y"),
        ('[remote "origin"]\n\tfetch = +refs/*\n\turl = "git@a.org:x/y" # ours\n', "a.org/x/y"),
        ('[remote "origin"]\n\turl = git@a.org:\\\nx/y\n', "a.org/x/y"),
        ('[remote "Origin"]\n\turl = git@a.org:x/y\n', ""),
        ('[remote "fork"]\n\turl = git@a.org:x/y\n', ""),
        ('[remote "origin"]\n[core]\n\turl = git@a.org:x/y\n', ""),
        ('[remote "origin"]\n\tpushurl = git@a.org:x/y\n', ""),
        ("", ""),
    ],
)
def test_the_remote_is_read_as_git_reads_it(tmp_path: Path, config: str, remote: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(config)
    (tmp_path / "deep").mkdir()
    assert work_tree(tmp_path / "deep") == Tree(tmp_path.name, str(tmp_path.resolve()), remote)


def test_a_submodule_has_the_remote_of_its_own_settings(tmp_path: Path) -> None:
    own = tmp_path / ".git" / "modules" / "sub"
    own.mkdir(parents=True)
    (own / "config").write_text('[remote "origin"]\n\turl = git@a.org:x/sub\n')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".git").write_text("gitdir: ../.git/modules/sub\n")
    found = work_tree(tmp_path / "sub")
    assert found == Tree("sub", str((tmp_path / "sub").resolve()), "a.org/x/sub")


P = StoredProject("p", "/a/p", "a.org/p")
UNBOUND = StoredProject("p", "", "")


@pytest.mark.parametrize(
    ("stored", "tree", "project"),
    [
        ([P], Tree("p", "/a/p", "a.org/p"), "p"),
        ([P], Tree("renamed", "/a/p", ""), "p"),
        ([P], Tree("clone", "/b/clone", "a.org/p"), "p"),
        ([P, StoredProject("clone", "", "")], Tree("clone", "/b/clone", "a.org/p"), "p"),
        ([UNBOUND], Tree("p", "/b/p", "b.org/p"), "p"),
        ([P], Tree("x", "/b/x", ""), "x"),
        ([], Tree("p", "/b/p", ""), "p"),
    ],
)
def test_a_tree_is_known_by_remote_and_root(
    stored: list[StoredProject], tree: Tree, project: str
) -> None:
    assert choose(stored, tree, None).project == project


def test_a_name_that_another_tree_has_is_refused_unless_it_is_meant() -> None:
    tree = Tree("p", "/b/p", "b.org/p")
    with pytest.raises(ForeignProjectError, match=r"/a/p or a\.org/p"):
        choose([P], tree, None)
    assert choose([P], tree, "p").project == "p"
    assert choose([P], tree, "other").claim is not None
