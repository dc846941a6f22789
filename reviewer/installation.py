"""How this program was installed, and the command that adds packages to it.

The distribution is called DISTRIBUTION; `reviewer` on the package index is somebody else's.
"""

from __future__ import annotations

import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

DISTRIBUTION = "memory-reviewer"


def to_add(extra: str) -> str:
    """The command that installs an extra of `pyproject.toml`."""
    try:
        found = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return adding((), Path(sys.prefix))
    origin = found.read_text("direct_url.json")
    return adding(
        packages_of(extra, found.requires or ()), Path(sys.prefix), folder_of(origin or "{}"), extra
    )


def to_add_packages(*packages: str) -> str:
    """The command that installs packages beside the program."""
    return adding(packages, Path(sys.prefix))


def adding(packages: tuple[str, ...], prefix: Path, folder: str = "", extra: str = "") -> str:
    """The command that adds packages to the environment at `prefix`.

    `folder`: the source folder that the program was installed from; `extra` names the packages
    there.
    """
    names = " ".join(map(shlex.quote, packages))
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx inject {DISTRIBUTION} {names}"
    if (prefix / "uv-receipt.toml").is_file():
        beside = " ".join(f"--with {shlex.quote(each)}" for each in packages)
        return f"uv tool install --force {beside} {shlex.quote(folder or DISTRIBUTION)}"
    python = shlex.quote(str(prefix / "bin" / "python")) if prefix.name else "python3"
    if folder and extra:
        return f"{python} -m pip install -e {shlex.quote(f'{folder}[{extra}]')}"
    from_here = shlex.quote(f".[{extra}]")
    return f"{python} -m pip install {names or from_here}"


def packages_of(extra: str, requirements: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """The packages of an extra, without the conditions behind them."""
    return tuple(
        requirement.partition(";")[0].strip().replace(" ", "")
        for requirement in requirements
        if f'extra == "{extra}"' in requirement.replace("'", '"')
    )


def folder_of(direct_url: str) -> str:
    """The folder in the text of a `direct_url.json` (PEP 610); empty if it names none."""
    try:
        origin = msgspec.json.decode(direct_url, type=dict[str, object])
    except msgspec.DecodeError:
        return ""
    address = urlsplit(str(origin.get("url", "")))
    return unquote(address.path) if address.scheme == "file" and "dir_info" in origin else ""
