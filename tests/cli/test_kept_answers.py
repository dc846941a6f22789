"""`reviewer compress` with a model: its answers are kept, and a second run asks for the rest."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from tests.cli.conftest import Reviewer
from tests.cli.test_compress import model_at, segment_of
from tests.cli.test_ctrl_c import interrupted
from tests.unit.llm.faults import Call, Faulty, endpoint
from tests.waiting import PATIENCE, until

MACHINES = ("kiosk", "tram", "ferry")
SAID = (
    ("user", "The {0} prints too slowly, and the port of the {0} must stay open."),
    ("assistant", "I looked at the {0}: opening its port takes 900 ms for every receipt."),
    ("user", "No, do not touch the driver of the {0}: the list of vendors stays as it is."),
    ("assistant", "We decided to keep the connection of the {0} open, because of the handshake."),
    *(
        ("assistant", "Customer {1} of the {0} waited, and the log of that hour shows nothing odd.")
        for _ in range(6)
    ),
)
COMPRESS = ("compress", "talk", "--engine", "model", "--json")


class Model:
    """Summarizes each machine in one line. From the answer number `hangs_after` on it is silent."""

    server: Faulty

    def __init__(self) -> None:
        self.hangs_after: int | None = None
        self.answered: list[str] = []
        self.hanging, self.over = Event(), Event()

    def behave(self, call: Call) -> None:
        machine = next(each for each in MACHINES if f"The {each} prints" in segment_of(call))
        if self.hangs_after is not None and len(self.answered) >= self.hangs_after:
            call.begins()
            self.hanging.set()
            self.over.wait(PATIENCE)
            return
        self.answered.append(machine)
        call.streams(f"The {machine} prints too slowly, and its port is kept open.")


@pytest.fixture
def model() -> Iterator[Model]:
    found = Model()
    with endpoint(found.behave) as found.server:
        yield found
        found.over.set()


@pytest.fixture
def talk(reviewer: Reviewer) -> Reviewer:
    """The program with a context `talk` of a segment for each machine."""
    said = [
        {
            "role": role,
            "content": text.format(machine, f"{day}{minute}"),
            "timestamp": f"2026-02-0{day + 1}T10:{minute:02}:00Z",
        }
        for day, machine in enumerate(MACHINES)
        for minute, (role, text) in enumerate(SAID)
    ]
    (reviewer.folder / "talk.json").write_text(json.dumps(said))
    reviewer.succeeds("--project", "kiosk", "context", "import", "talk.json")
    return reviewer


def answers(program: Reviewer) -> list[Path]:
    """The files of kept answers."""
    return sorted((program.folder / "home/.cache/reviewer/answers").glob("*.json"))


def run(program: Reviewer, model: Model, *more: str) -> tuple[list[str], str]:
    """Compress with the model; returns the machines that it was asked about, and stderr."""
    model.answered.clear()
    done = program.succeeds(*COMPRESS, *more, env=model_at(model.server, program))
    *segments, _ = [json.loads(line) for line in done.stdout.splitlines()]
    for machine, segment in zip(MACHINES, segments, strict=True):
        assert f"The {machine} prints too slowly, and its port is kept" in segment["content"]
        assert segment["engine"] == "tiny"
    return list(model.answered), done.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_stopped_goes_on_from_what_was_answered(
    talk: Reviewer, model: Model, how: signal.Signals
) -> None:
    model.hangs_after = 2
    with talk.start(*COMPRESS, env=model_at(model.server, talk)) as process:
        until(lambda: model.hanging.is_set() or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        if how == signal.SIGINT:
            _, out, err = interrupted(process)
            assert "The answers so far are kept" in err
            assert "Traceback" not in err
        else:
            process.kill()
            out, _ = process.communicate(timeout=PATIENCE)
    assert out == "", "half of the work is not shown as a result"
    assert model.answered == list(MACHINES[:2])
    talk.nothing_lost()

    model.over.set()
    model.hangs_after = None
    asked, err = run(talk, model)
    assert asked == list(MACHINES[2:])
    assert "2 answers of the model reused from an earlier run." in err


def test_a_second_run_asks_nothing(talk: Reviewer, model: Model) -> None:
    asked, err = run(talk, model)
    assert asked == list(MACHINES)
    assert "earlier run" not in err
    assert run(talk, model)[0] == []


def test_an_answer_that_somebody_changed_is_asked_for_again(talk: Reviewer, model: Model) -> None:
    run(talk, model)
    kept = answers(talk)[0]
    names = ", ".join(f"`lib_{n}.so` 4.{n}.1" for n in range(7000, 7012))
    answer = {**json.loads(kept.read_text()), "text": f"Ship {names} at once."}
    kept.write_text(json.dumps(answer))
    model.answered.clear()
    talk.succeeds(*COMPRESS, env=model_at(model.server, talk))
    assert len(model.answered) == 1
    assert run(talk, model)[0] == [], "the new answer took its place"
