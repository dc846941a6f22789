"""What tests of every kind may ask for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reviewer.llm.local import LocalServer
from reviewer.llm.model import ModelError
from reviewer.settings import ModelSettings

MODEL_SECONDS = 300
"""A weak model beside other tests on two cores answers slowly."""


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
    try:
        server = LocalServer(threads=1)  # beside the other tests
    except ModelError as missing:
        pytest.skip(str(missing))
    yield ModelSettings(
        base_url=server.base_url, name=server.name, timeout=200, concurrency=server.parallel
    )
    server.close()
