"""`reviewer fleet run --scheduler`: a real Dask scheduler and its workers."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

import pytest

from reviewer.fleet import workers
from reviewer.fleet.values import FleetError
from tests.fleet.conftest import FACTS, Cluster, Fleet, evidence, same_moment, whole_parts
from tests.waiting import until

pytestmark = pytest.mark.xdist_group("dask")


def test_all_tests_with_the_cluster_run_in_one_process(request: pytest.FixtureRequest) -> None:
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("the tests are not spread by groups")
    assert request.node.nodeid.endswith("@dask")


def test_a_cluster_finds_what_processes_find(twelve: Fleet, cluster: Cluster) -> None:
    twelve.run()
    there = twelve.folder / "cluster"
    same_moment(twelve.parts, there)
    counts = twelve.ok("run", twelve.sessions, "--out", there,
                       "--scheduler", cluster.address)  # fmt: skip
    assert (counts["state"], counts["files"]) == ("done", 12)
    assert evidence(there) == evidence(twelve.parts)


def test_a_worker_that_is_killed_costs_nothing(twelve: Fleet, cluster: Cluster) -> None:
    for number in range(150):
        twelve.session(f"more{number:03}.jsonl", *FACTS)
    twelve.run()
    there = twelve.folder / "cluster"
    same_moment(twelve.parts, there)
    pids = cluster.worker_pids()
    running = twelve.start("run", twelve.sessions, "--out", there,
                           "--scheduler", cluster.address)  # fmt: skip
    until(lambda: whole_parts(there) > 2)
    os.kill(pids[0], signal.SIGKILL)
    assert whole_parts(there) < whole_parts(twelve.parts)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert evidence(there) == evidence(twelve.parts)


def test_a_scheduler_that_dies_ends_the_run_with_a_sentence(
    twelve: Fleet, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for number in range(300):
        twelve.session(f"more{number:03}.jsonl", *FACTS)
    mortal = Cluster(tmp_path_factory.mktemp("mortal"))
    try:
        mortal.start(workers=1)
        running = twelve.start("run", twelve.sessions, "--out", twelve.parts,
                               "--scheduler", mortal.address)  # fmt: skip
        until(lambda: whole_parts(twelve.parts) > 2)
        for process in mortal.processes:
            process.kill()
        _, said = running.communicate(timeout=120)
    finally:
        mortal.stop()
    assert running.returncode == 1
    assert "The job cannot go on" in said
    assert "run the same command to go on" in said
    assert "Traceback" not in said
    there = whole_parts(twelve.parts)
    counts = twelve.run()
    assert counts["parts_before"] >= there > 2
    assert counts["files"] == 312


def test_a_worker_without_the_package(
    twelve: Fleet, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workers of a cluster have an environment of their own."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class NotHere:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.partition('.')[0] == 'reviewer':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, NotHere())\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    bare = Cluster(folder)
    try:
        bare.start(workers=1)
        monkeypatch.delenv("PYTHONPATH")
        said = twelve.fails("run", twelve.sessions, "--out", twelve.parts,
                            "--scheduler", bare.address)  # fmt: skip
    finally:
        bare.stop()
    assert "every machine has this version of reviewer with the extra `fleet`" in said


def test_no_scheduler_or_none_with_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CONNECT_SECONDS", 1)
    with (
        pytest.raises(FleetError, match="No Dask scheduler answers at tcp:"),
        workers.dask_cluster("tcp://127.0.0.1:1"),
    ):
        pass
    monkeypatch.undo()
    lonely = Cluster(tmp_path)
    try:
        lonely.start(workers=0)
        with (
            pytest.raises(FleetError, match="has no workers"),
            workers.dask_cluster(lonely.address),
        ):
            pass
    finally:
        lonely.stop()
        logging.disable(logging.NOTSET)  # which `dask_cluster` has changed
