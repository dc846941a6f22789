"""The command that adds an extra fits how the program was installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from reviewer import __version__, installation
from tests.cli.conftest import Reviewer

ROOT = Path(installation.__file__).parents[1]
METADATA = """Metadata-Version: 2.4
Name: memory-reviewer
Version: 0.1.0
Provides-Extra: serve
Requires-Dist: click>=8.2
"""
FOLDER = {"url": "file:///src", "dir_info": {}}
EDITABLE = {"url": "file:///my%20src", "dir_info": {"editable": True}}
GIT = {
    "url": "https://git.example/reviewer",
    "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": "5f1c"},
}
PIP = "{python} -m pip install "


class Case(NamedTuple):
    """An environment, and the command that adds the extra `serve` to it."""

    source: Mapping[str, object] | None
    """What `direct_url.json` says; None for an installation from an index."""
    command: str
    has_pip: bool = True


CASES = {
    "pip, editable": Case(EDITABLE, PIP + "--editable '/my src[serve]'"),
    "pip, from git": Case(
        GIT, PIP + "'memory-reviewer[serve] @ git+https://git.example/reviewer@v1'"
    ),
    "pip, from an index": Case(None, PIP + "'memory-reviewer[serve]'"),
    "uv, a venv": Case(
        FOLDER, "uv pip install --python {prefix} '/src[serve]'", has_pip=False
    ),
}  # fmt: skip


@pytest.fixture
def installed(tmp_path: Path) -> Callable[[Case], Path]:
    """Makes the environment of a case, in which the package `textual-serve` is missing."""

    def make(case: Case) -> Path:
        prefix = tmp_path / "venv"
        venv.create(prefix, with_pip=False, symlinks=True)
        paths = {"base": str(prefix), "platbase": str(prefix)}
        packages = Path(sysconfig.get_path("purelib", "venv", paths))
        info = packages / f"memory_reviewer-{__version__}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(METADATA)
        if case.source is not None:
            (info / "direct_url.json").write_text(json.dumps(case.source))
        if case.has_pip:
            (packages / "pip").mkdir()
        absent = ["textual_serve", *([] if case.has_pip else ["pip"])]
        hide = f"import sys; sys.modules.update(dict.fromkeys({absent}))"
        ours = [str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))]
        (packages / "ours.pth").write_text("\n".join([hide, *ours]))
        return prefix

    return make


@pytest.mark.parametrize("way", CASES)
def test_the_command_fits_the_installation(
    reviewer: Reviewer, installed: Callable[[Case], Path], way: str
) -> None:
    case = CASES[way]
    prefix = installed(case)
    python = prefix / ("Scripts" if os.name == "nt" else "bin") / "python"
    command = case.command.format(python=python, prefix=prefix)

    def called(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [python, "-P", "-m", "reviewer", "--db", reviewer.db, *words], env=reviewer.environment,
            cwd=reviewer.folder, capture_output=True, text=True, check=False,
        )  # fmt: skip

    refused = called("serve")
    assert (refused.returncode, refused.stdout) == (1, "")
    said = f"textual_serve, which this needs, is not installed. Install it: {command}\n"
    assert refused.stderr == said
    done = called("doctor", "--json")
    found = {row["name"]: row["value"] for row in map(json.loads, done.stdout.splitlines())}
    assert found["extra serve"] == f"not installed; to add it: {command}"
    assert found["reviewer"] == f"{__version__} (memory-reviewer)"


def test_a_program_that_was_not_installed_adds_extras_from_its_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installation, "DISTRIBUTION", "not-installed-anywhere")
    assert installation.extra_command("mcp").endswith(f" --editable '{ROOT}[mcp]'")
