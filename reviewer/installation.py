"""How this program was installed, and the command that adds to it what an extra needs."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

DISTRIBUTION = "memory-reviewer"
"""Its name for pip. `reviewer` on the package index is another program."""


class InstallSource(NamedTuple):
    """What the program was installed from."""

    target: str
    """A folder, a URL, or the name of the distribution if it came from an index."""
    is_folder: bool = False
    editable: bool = False

    def with_extras(self, extras: Sequence[str]) -> list[str]:
        """The arguments of pip and uv that install it with these extras."""
        listed = f"[{','.join(extras)}]" if extras else ""
        if self.is_folder:
            return [*(["--editable"] if self.editable else []), self.target + listed]
        if self.target == DISTRIBUTION:
            return [DISTRIBUTION + listed]
        return [f"{DISTRIBUTION}{listed} @ {self.target}"]


def extra_command(name: str) -> str:
    """The command that installs an extra into the environment of this program."""
    return _command(extra=name)


def package_command(*packages: str) -> str:
    """The command that installs packages of others into the environment of this program."""
    return _command(packages=packages)


def package_alone_command(package: str) -> str:
    """The same for one package without what it depends on."""
    return shlex.join([*_install_here(), "--no-deps", package])


def _command(extra: str = "", packages: Sequence[str] = ()) -> str:
    prefix = Path(sys.prefix)
    source = _source()
    extras = [extra] if extra else []
    receipt = prefix / "uv-receipt.toml"
    if receipt.is_file():
        # It replaces what is installed: what was asked for before has to be named again.
        before, others = _receipt(receipt)
        words = ["uv", "tool", "install"]
        words += [word for each in (*others, *packages) for word in ("--with", each)]
        words += source.with_extras(sorted({*before, *extras}))
    elif prefix.parent.name.startswith("archive-v"):  # the cache of uv: started by uvx
        words = ["uvx", *(word for each in packages for word in ("--with", each))]
        words += ["--from", source.with_extras(extras)[-1], "reviewer"]
    else:
        words = [*_install_here(), *(source.with_extras(extras) if extra else packages)]
    return shlex.join(words)


def _install_here() -> list[str]:
    if find_spec("pip") is None:
        return ["uv", "pip", "install", "--python", sys.prefix]
    return [sys.executable, "-m", "pip", "install"]


def _source() -> InstallSource:
    from importlib.metadata import PackageNotFoundError, distribution  # late: takes long

    try:
        noted = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:  # it runs from its folder
        return InstallSource(str(Path(__file__).parents[1]), is_folder=True, editable=True)
    if noted is None:
        return InstallSource(DISTRIBUTION)
    source = json.loads(noted)
    url = str(source["url"])
    if "dir_info" in source:
        from urllib.request import url2pathname  # late: takes long

        folder = url2pathname(urlsplit(url).path)
        return InstallSource(
            folder, is_folder=True, editable=bool(source["dir_info"].get("editable"))
        )
    if "vcs_info" in source:
        vcs = source["vcs_info"]
        revision = vcs.get("requested_revision")
        url = f"{vcs['vcs']}+{url}" + (f"@{revision}" if revision else "")
    return InstallSource(url)


def _receipt(path: Path) -> tuple[list[str], list[str]]:
    """The extras and the other packages that a tool of uv was installed with."""
    import tomllib

    extras: list[str] = []
    others = []
    for entry in tomllib.loads(path.read_text("utf-8"))["tool"]["requirements"]:
        if entry["name"] == DISTRIBUTION:
            extras = entry.get("extras", [])
        else:
            others.append(_with(entry))
    return extras, others


def _with(entry: Mapping[str, Any]) -> str:
    if "git" in entry:
        return f"{entry['name']} @ git+{entry['git']}"
    for kind in ("directory", "editable", "path", "url"):
        if kind in entry:
            return str(entry[kind])
    extras = f"[{','.join(entry['extras'])}]" if entry.get("extras") else ""
    return f"{entry['name']}{extras}{entry.get('specifier', '')}"
