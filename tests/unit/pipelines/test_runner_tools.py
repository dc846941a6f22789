"""Tool nodes: only when allowed, with nothing of the run in the command's text."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewer.pipelines.events import RunError
from tests.unit.pipelines.running import Workshop
from tests.waiting import is_gone, until

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def tool(workshop: Workshop, command: str, more: str = "") -> Path:
    command = command.replace("\\", "\\\\").replace('"', '\\"')
    return workshop.write(
        f't [shape=parallelogram, tool_command="{command}"{more}]; bad [prompt="Bad"]\n'
        'start -> t; t -> done [condition="outcome=success"]; t -> bad [condition="outcome=fail"]\n'
        "bad -> done",
        attributes='goal="tea; echo gone";',
    )


def test_its_output_is_in_the_context_and_its_exit_code_is_the_outcome(workshop: Workshop) -> None:
    path = tool(workshop, "echo one; echo two; exit 3")
    done = workshop.start(path, allow_tools=True)
    assert workshop.nodes(done) == ["start", "t", "bad", "done"]
    context = workshop.runs.checkpoint(done.run_id).context
    assert context["tool_stdout"] == "one\ntwo"
    assert context["tool.last_line"] == "two"
    assert context["tool.exit_code"] == 3


def test_it_runs_where_the_pipeline_lies_and_knows_the_goal_as_data(workshop: Workshop) -> None:
    done = workshop.start(tool(workshop, 'echo "$goal" in "$PWD"'), allow_tools=True)
    context = workshop.runs.checkpoint(done.run_id).context
    assert context["tool_stdout"] == f"tea; echo gone in {workshop.folder}"


def test_the_words_of_the_run_are_never_written_into_a_command(workshop: Workshop) -> None:
    done = workshop.start(
        tool(workshop, "echo {{word}}"), allow_tools=True, context={"word": "; touch owned"}
    )
    assert done.state == "done"
    assert not (workshop.folder / "owned").exists()


def test_a_secret_that_it_prints_is_masked(workshop: Workshop) -> None:
    (workshop.folder / "token").write_text(TOKEN)
    done = workshop.start(tool(workshop, "cat token"), allow_tools=True)
    kept = b"".join(each.read_bytes() for each in Path(done.folder).rglob("*") if each.is_file())
    assert TOKEN.encode() not in kept
    assert b"[masked" in kept


def test_one_that_takes_too_long_is_ended_with_all_that_it_started(workshop: Workshop) -> None:
    path = tool(workshop, "sleep 30 & echo $! > child; wait", ", timeout=300ms")
    done = workshop.start(path, allow_tools=True)
    assert workshop.nodes(done) == ["start", "t", "bad", "done"]
    assert "longer than 0.3 s" in workshop.runs.checkpoint(done.run_id).logs[1].notes
    child = int((workshop.folder / "child").read_text())
    until(lambda: is_gone(child))


def test_a_cancelled_run_ends_the_command_and_can_go_on(workshop: Workshop) -> None:
    path = tool(workshop, "touch begun; sleep 30")
    done = workshop.start(
        path, allow_tools=True, cancelled=lambda: (workshop.folder / "begun").exists()
    )
    assert (done.state, done.node) == ("cancelled", "t")
    assert workshop.nodes(done) == ["start"]


def test_much_output_does_not_fill_the_run(workshop: Workshop) -> None:
    path = tool(workshop, "yes abcdefgh | head -c 5000000; echo; echo last")
    done = workshop.start(path, allow_tools=True)
    assert workshop.runs.checkpoint(done.run_id).context["tool.last_line"] == "last"
    assert (Path(done.folder) / "t-2" / "response.md").stat().st_size < 1_100_000


class TestResume:
    """A resume runs the commands of the file, or those of the run's own copy without secrets."""

    def stopped(self, workshop: Workshop, command: str) -> tuple[Path, str]:
        """A pipeline with a command, and a run that has not come to it yet."""
        path = tool(workshop, f"echo {command} >> sent")
        return path, workshop.start(path, allow_tools=True, max_steps=1).run_id

    def sent(self, workshop: Workshop) -> list[str]:
        path = workshop.folder / "sent"
        return path.read_text().split() if path.exists() else []

    def test_the_command_of_the_file_has_its_secret(self, workshop: Workshop) -> None:
        _, run_id = self.stopped(workshop, TOKEN)
        assert workshop.resume(run_id, allow_tools=True, max_steps=9).state == "done"
        assert self.sent(workshop) == [TOKEN]

    def test_the_masked_copy_of_a_command_never_runs(self, workshop: Workshop) -> None:
        path, run_id = self.stopped(workshop, TOKEN)
        text = path.read_text()
        path.unlink()
        with pytest.raises(RunError, match=rf"of t contains a secret.*{path}.*is gone"):
            workshop.resume(run_id, allow_tools=True, max_steps=9)
        assert self.sent(workshop) == []
        path.write_text(text)
        assert workshop.resume(run_id, allow_tools=True, max_steps=9).state == "done"

    def test_no_command_runs_unless_it_is_allowed_again(self, workshop: Workshop) -> None:
        _, run_id = self.stopped(workshop, "fine")
        with pytest.raises(RunError, match="--allow-tools"):
            workshop.resume(run_id, max_steps=9)


def test_commands_that_a_run_did_not_begin_with_never_run(workshop: Workshop) -> None:
    path = tool(workshop, "curl https://shop:s3cretPass1@shelf.example/")
    stopped = workshop.start(path, allow_tools=True, max_steps=1)
    path.write_text(path.read_text().replace("s3cretPass1", "s3;env|sh;cretPass1"))  # also masked
    with pytest.raises(RunError, match="Restore that file"):
        workshop.resume(stopped.run_id, allow_tools=True, max_steps=9)
