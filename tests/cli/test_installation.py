"""The command that adds an extra fits how the program was installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from reviewer import __version__, installation
from tests.cli.conftest import Reviewer

ROOT = Path(installation.__file__).parents[1]
PIP = f"{sys.executable} -m pip install "
UV = f"uv pip install --python {sys.prefix} "
FOLDER = {"url": "file:///src", "dir_info": {}}
EDITABLE = {"url": "file:///my%20src", "dir_info": {"editable": True}}
GIT = {
    "url": "https://git.example/reviewer",
    "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": "5f1c"},
}


@pytest.mark.parametrize(
    ("source", "has_pip", "command"),
    [
        (EDITABLE, True, f"{PIP}--editable '/my src[serve]'"),
        (GIT, True, f"{PIP}'memory-reviewer[serve] @ git+https://git.example/reviewer@v1'"),
        (None, True, f"{PIP}'memory-reviewer[serve]'"),
        (FOLDER, False, f"{UV}'/src[serve]'"),
    ],
    ids=["pip, editable", "pip, from git", "pip, from an index", "uv, from a folder"],
)
def test_the_command_fits_the_installation(
    reviewer: Reviewer,
    monkeypatch: pytest.MonkeyPatch,
    source: dict[str, object] | None,
    has_pip: bool,
    command: str,
) -> None:
    """`source` is what `direct_url.json` says."""
    told = SimpleNamespace(
        version=__version__, read_text=lambda _: json.dumps(source) if source else None
    )
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: told)
    monkeypatch.setattr(installation, "find_spec", lambda _: has_pip or None)
    assert installation.missing_extra("textual_serve.server") == (
        f"textual_serve, which this needs, is not installed. Install it: {command}"
    )
    monkeypatch.setitem(sys.modules, "textual_serve", None)
    found = {row["name"]: row["value"] for row in reviewer.rows("doctor")}
    assert found["extra serve"] == f"not installed; to add it: {command}"
    assert found["reviewer"] == f"{__version__} (memory-reviewer)"


def test_a_program_that_was_not_installed_adds_extras_from_its_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(installation, "DISTRIBUTION", "not-installed-anywhere")
    assert installation.extra_command("mcp").endswith(f" --editable '{ROOT}[mcp]'")
