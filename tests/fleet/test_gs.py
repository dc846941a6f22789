"""Sessions and parts in a bucket of Google: an emulator of its storage on this machine."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fleet.conftest import FACTS, Fleet, rows, session_lines
from tests.fleet.test_bucket import _Forbidding, serving

ONLY_HTTP = "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"
"""Otherwise gcsfs asks for the kind of a bucket by gRPC first, which no emulator answers."""
with pytest.MonkeyPatch.context() as imported:
    imported.setenv(ONLY_HTTP, "false")
    gcsfs = pytest.importorskip("gcsfs", reason="the extra `fleet-test` is not installed")
emulator = pytest.importorskip(
    "gcp_storage_emulator.server", reason="the extra `fleet-test` is not installed"
)


@pytest.fixture(autouse=True)
def only_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ONLY_HTTP, "false")


def options(address: str, **more: Any) -> dict[str, Any]:
    """What leads gcsfs to a server of this machine."""
    return {"endpoint_url": address, "token": "anon", **more}


class Bucket:
    """A bucket `team` that is served on this machine."""

    def __init__(self, address: str) -> None:
        self.address = address
        gcsfs.GCSFileSystem.clear_instance_cache()
        self.fs = gcsfs.GCSFileSystem(**options(address))

    def put(self, name: str, data: bytes) -> str:
        """Write an object; returns its URL."""
        self.fs.pipe_file(f"team/{name}", data)
        return f"gs://team/{name}"


@pytest.fixture
def bucket(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """An empty bucket, which the program reaches."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket="team")
    server.start()
    made = Bucket(f"http://127.0.0.1:{port}")
    variable = json.dumps({"gs": options(made.address)})
    monkeypatch.setenv("REVIEWER_FSSPEC", variable)
    fleet.environment |= {"REVIEWER_FSSPEC": variable, ONLY_HTTP: "false"}
    yield made
    server.stop()


def test_a_bucket_is_read_as_a_folder_is(fleet: Fleet, bucket: Bucket) -> None:
    for number in range(3):
        bucket.put(f"logs/{number}.jsonl", session_lines(f"s{number}", *FACTS[:3]).encode())
    counts = fleet.ok("run", "gs://team/logs", "--out", fleet.parts)
    assert (counts["files"], counts["failed"]) == (3, 0)
    found = [row for path in fleet.parts.glob("*.files.parquet") for row in rows(path)]
    assert sorted(row["path"] for row in found)[0] == "gs://team/logs/0.jsonl"
    assert all(row["etag"] and row["modified_ns"] for row in found)
    assert fleet.candidates()[0]["sessions"] == 3
    pattern = fleet.ok("run", "gs://team/logs/[01]*", "--out", fleet.folder / "some")
    assert pattern["files"] == 2


def test_a_bucket_that_answers_403(fleet: Fleet) -> None:
    with serving(_Forbidding) as address:
        fleet.environment |= {
            "REVIEWER_FSSPEC": json.dumps({"gs": options(address)}),
            ONLY_HTTP: "false",
        }
        said = fleet.fails("run", "gs://team/logs", "--out", fleet.parts)
    assert "access denied (403). Check the credentials and the policy." in said


def test_without_gcsfs_the_sentence_says_how_to_install_it(fleet: Fleet) -> None:
    hidden = fleet.folder / "hidden"
    hidden.mkdir()
    (hidden / "gcsfs.py").write_text("raise ImportError('Please install gcsfs')\n")
    fleet.environment["PYTHONPATH"] = str(hidden)
    said = fleet.fails("run", "gs://team/logs", "--out", fleet.parts)
    assert said.rstrip().endswith("pip install gcsfs")
