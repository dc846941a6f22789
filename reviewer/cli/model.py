"""`reviewer model check`: test the configured model."""

from __future__ import annotations

import time

import click

from reviewer.cli.output import print_table, print_text, wrapped
from reviewer.cli.session import VerbSection
from reviewer.llm.model import ChatMessage
from reviewer.llm.open_model import open_model
from reviewer.settings import load_settings

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
    print_text(*wrapped(answer.text.strip(), "> "))
