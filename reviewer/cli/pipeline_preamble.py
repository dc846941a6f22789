"""`reviewer pipeline preamble`: what a stage's fresh session would begin with, mode by mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import count, narrate, print_json, print_text, safe, safe_lines
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import Carried, Preamble, Way

FILE = click.Path(path_type=Path, readable=False)
MODES = ("full", "truncate", "compact", "summary:low", "summary:medium", "summary:high")


@click.command(cls=Verb)
@click.argument("file", type=FILE)
@click.option("--node", metavar="NAME", required=True, help="The node that is about to run.")
@click.option(
    "--mode",
    type=click.Choice([*MODES, "all"]),
    help="The fidelity; by default the one that edge, node and graph resolve to.",
)
@click.option(
    "--history", type=FILE, metavar="RUN.json",
    help="The run so far, as below; also a checkpoint or the folder of a run.",
)  # fmt: skip
@click.option("--run", "run_id", metavar="RUN", help="A run of the store instead of a file.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a mode.")
@pass_session
def preamble(
    session: Session,
    file: Path,
    node: str,
    mode: str | None,
    history: Path | None,
    run_id: str | None,
    as_json: bool,
) -> None:
    """What a fresh session would begin with, within its mode's ceiling of tokens.

    Of `full` it shows what the thread's session holds, which is not sent again.

    RUN.json holds the stages that ran, oldest first; every key may be missing:

    \b
    {"run_id": "r1",
     "completed": [{"node": "plan", "outcome": "success", "notes": "...",
                    "tools": [{"name": "shell", "arguments": {}, "result": ""}],
                    "duration_s": 12.5}],
     "context": {"key": "any JSON value"},
     "retries": {"plan": [1, 3]}}
    """
    if history is not None and run_id is not None:
        raise click.UsageError("--history and --run name the same thing: give one of them")
    from reviewer.engine import RunHistory
    from reviewer.storeless import pipeline_rules

    rules = pipeline_rules()
    found = rules.read(file)
    run = RunHistory("")
    if history is not None:
        run = rules.read_history(history)
    elif run_id is not None:
        with session.reading() as engine:
            run = engine.pipelines.history_of(run_id)
    way = rules.way_of_run(found, run, node)
    chosen = mode or way.fidelity.value
    for each in MODES if chosen == "all" else (chosen,):
        text = rules.preamble(found, each, run, node)
        thread = rules.carried(found, run, way) if each == "full" else None
        if as_json:
            print_json(_as_json(text, thread, way))
        else:
            _tell(text, thread, titled=chosen == "all")


def _tell(text: Preamble, thread: Carried | None, *, titled: bool) -> None:
    if titled:
        print_text(f"== {text.mode}")
    for line in safe_lines(thread.text if thread else text.text):
        print_text(line)
    if thread is not None:
        narrate(
            f'full: thread "{safe(thread.thread)}" holds {count(len(thread.stages), "stage")}, '
            f"{count(thread.tokens, 'token')}; nothing is sent again. After a resume the first "
            f"such node gets {thread.after_resume} instead."
        )
        return
    missing = [
        f"{count(text.left_out, 'oldest stage')} left out" if text.left_out else "",
        f"{count(text.values_left_out, 'value')} left out" if text.values_left_out else "",
        f"{count(text.shortened, 'text')} shortened" if text.shortened else "",
    ]
    told = "; ".join(each for each in missing if each)
    narrate(f"{text.mode}: {text.tokens:,} of {text.budget:,} tokens" + (f"; {told}" * bool(told)))


def _as_json(text: Preamble, thread: Carried | None, way: Way) -> dict[str, Any]:
    found: dict[str, Any] = {
        "mode": text.mode,
        "node": way.node.name,
        "text": thread.text if thread else text.text,
        "tokens": thread.tokens if thread else text.tokens,
        "budget": text.budget,
        "left_out": text.left_out,
        "values_left_out": text.values_left_out,
        "shortened": text.shortened,
        "encoding": "cl100k_base",
        "resolved": way.fidelity.value,
        "resolved_by": way.fidelity.rule,
    }
    if thread is not None:
        found |= {
            "thread": thread.thread,
            "carries": [stage.node for stage in thread.stages],
            "after_resume": thread.after_resume,
        }
    return found
