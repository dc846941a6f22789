"""`reviewer fleet run --scheduler`: a real Dask scheduler and its workers."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from reviewer.fleet import run
from reviewer.fleet.values import FleetError
from tests.fleet.conftest import FACTS, Cluster, Fleet, evidence, whole_parts
from tests.waiting import until

pytestmark = pytest.mark.xdist_group("dask")


def same_moment(first: Path, second: Path) -> None:
    """Let a job count ages from the moment of another."""
    second.mkdir()
    plan = (first / "plan.ndjson").read_bytes().splitlines(keepends=True)[0]
    (second / "plan.ndjson").write_bytes(plan)


def test_all_tests_with_the_cluster_run_in_one_process(request: pytest.FixtureRequest) -> None:
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("the tests are not spread by groups")
    assert request.node.nodeid.endswith("@dask")


def test_a_cluster_finds_what_processes_find(twelve: Fleet, cluster: Cluster) -> None:
    twelve.run("--part-files", 2)
    there = twelve.folder / "cluster"
    same_moment(twelve.parts, there)
    counts = twelve.ok("run", twelve.sessions, "--out", there, "--part-files", 3,
                       "--scheduler", cluster.address)  # fmt: skip
    assert (counts["state"], counts["files"]) == ("done", 12)
    assert evidence(there) == evidence(twelve.parts)


def test_workers_spend_nothing_on_the_profiler_of_dask(cluster: Cluster) -> None:
    import distributed

    def running(dask_worker: Any) -> list[str]:
        return sorted(dask_worker.periodic_callbacks)

    with distributed.Client(cluster.address, timeout=30) as client:
        for names in client.run(running).values():
            assert "heartbeat" in names
            assert not any(name.startswith("profile") for name in names)


def test_a_worker_that_is_killed_costs_nothing(twelve: Fleet, cluster: Cluster) -> None:
    for number in range(150):
        twelve.session(f"more{number:03}.jsonl", *FACTS)
    twelve.run("--part-files", 20)
    there = twelve.folder / "cluster"
    same_moment(twelve.parts, there)
    pids = cluster.worker_pids()
    running = twelve.start("run", twelve.sessions, "--out", there, "--part-files", 1,
                           "--scheduler", cluster.address)  # fmt: skip
    until(lambda: whole_parts(there) > 2)
    os.kill(pids[0], signal.SIGKILL)
    assert whole_parts(there) < 162
    _, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    assert whole_parts(there) == 162
    assert evidence(there) == evidence(twelve.parts)


def test_a_scheduler_that_dies_ends_the_run_with_a_sentence(
    twelve: Fleet, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for number in range(300):
        twelve.session(f"more{number:03}.jsonl", *FACTS)
    mortal = Cluster(tmp_path_factory.mktemp("mortal"))
    try:
        mortal.start(workers=1)
        running = twelve.start("run", twelve.sessions, "--out", twelve.parts, "--part-files", 1,
                               "--scheduler", mortal.address)  # fmt: skip
        until(lambda: whole_parts(twelve.parts) > 2)
        for process in mortal.processes:
            process.kill()
        _, said = running.communicate(timeout=120)
    finally:
        mortal.stop()
    assert running.returncode == 1
    assert f"The Dask scheduler at {mortal.address} is gone" in said
    assert "run the same command to go on" in said
    assert "Traceback" not in said
    there = whole_parts(twelve.parts)
    counts = twelve.run("--part-files", 1)
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
    assert "A machine of the cluster cannot run reviewer's part" in said
    assert "with the extra `fleet`" in said


def test_no_scheduler_or_none_with_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "CONNECT_SECONDS", 1)
    with pytest.raises(FleetError, match="No Dask scheduler answers at tcp:"):
        run.DaskCluster("tcp://127.0.0.1:1")
    monkeypatch.undo()
    lonely = Cluster(tmp_path)
    try:
        lonely.start(workers=0)
        with pytest.raises(FleetError, match="has no workers"):
            run.DaskCluster(lonely.address)
    finally:
        lonely.stop()
        logging.disable(logging.NOTSET)  # which DaskCluster has changed
