"""How this program was installed, and the commands for adding extras and packages."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

DISTRIBUTION = "memory-reviewer"
"""Its name for pip. `reviewer` on the package index is another program."""

EXTRAS = {
    "mcp": ("mcp", "mcp_types", "pydantic"),
    "serve": ("textual_serve", "aiohttp"),
    "fleet": ("pyarrow",),
}
"""Extra -> the modules that it adds, the first of which tells whether it is installed."""


def missing_extra(module: str | None) -> str:
    """The sentence for a module that cannot be imported; empty if it is of no extra."""
    package = (module or "").partition(".")[0]
    extra = next((name for name, modules in EXTRAS.items() if package in modules), "")
    if not extra:
        return ""
    return f"{package}, which this needs, is not installed. Install it: {extra_command(extra)}"


def extra_command(name: str) -> str:
    """The command for installing an extra into this program's environment."""
    return package_command(*_with_extra(name))


def package_command(*packages: str) -> str:
    """The command for installing other packages into this program's environment."""
    if find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", "--python", sys.prefix, *packages])
    return shlex.join([sys.executable, "-m", "pip", "install", *packages])


def _with_extra(name: str) -> Iterator[str]:
    """The arguments for pip and uv: the program's source, with an extra."""
    from importlib.metadata import PackageNotFoundError, distribution  # late: slow

    try:
        source = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except PackageNotFoundError:  # it runs from its folder
        source = {"url": Path(__file__).parents[1].as_uri(), "dir_info": {"editable": True}}
    if "dir_info" in source:
        from urllib.request import url2pathname  # late: slow

        if source["dir_info"].get("editable"):
            yield "--editable"
        yield f"{url2pathname(urlsplit(source['url']).path)}[{name}]"
        return
    vcs = source.get("vcs_info", {})
    prefix, revision = f"{vcs['vcs']}+" if vcs else "", vcs.get("requested_revision")
    at = f"@{revision}" if revision else ""
    yield f"{DISTRIBUTION}[{name}]" + (f" @ {prefix}{source['url']}{at}" if source else "")
