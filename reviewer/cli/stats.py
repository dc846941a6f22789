"""`reviewer stats`: counts of candidates, measurements of compressions."""

from __future__ import annotations

from collections.abc import Sized

import click
from msgspec.structs import asdict

from reviewer.cli.output import emit, json_option, print_text
from reviewer.cli.session import Session, Verb, pass_session
from reviewer.llm.spending import SpendingTotal, asked, report

USES_SHOWN, USE_CHARS = 10, 70
DAYS_SHOWN, SESSIONS_SHOWN = 7, 5
COLUMNS = ("waiting", "deferred", "promoted", "rejected", "beyond_cap")


@click.command(cls=Verb)
@json_option("One JSON object per project.")
@pass_session
def stats(session: Session, as_json: bool) -> None:
    """Compressions, previews included, are measured across all projects, and so are questions to
    models: by day, by session and in total, at the prices in your settings.
    """
    with session.listing() as engine:
        names = [engine.project] if engine.project else engine.project_names()
        counts = [(name, engine.queue.counts(name)) for name in names]
        measures = engine.compression.measures.summary()
        uses = engine.recall.uses(engine.project)
    emit(
        counts,
        as_json,
        lambda row: (row[0], *(f"{getattr(row[1], column):,}" for column in COLUMNS), ""),
        head=("project", *(column.replace("_", " ") for column in COLUMNS), ""),
        right=range(1, len(COLUMNS) + 1),
        to_json=lambda row: {"project": row[0], **asdict(row[1])},
    )
    _print_gap(uses, as_json)
    emit(
        uses if as_json else uses[:USES_SHOWN],
        as_json,
        lines=lambda use: [
            f"#{use.memory} {use.words}: {' '.join(use.content.split())[:USE_CHARS]}"
        ],
        to_json=lambda use: {
            "use": use.memory,
            "used": use.used,
            "last": use.last,
            "starts": use.starts,
            "held": use.held,
            "saved": round(use.saved),
            "broken": use.broken,
        },
    )
    if len(uses) > USES_SHOWN and not as_json:
        print_text(f"... and {len(uses) - USES_SHOWN:,} more")
    _print_questions(as_json)
    _print_gap(measures, as_json)
    emit(
        measures,
        as_json,
        lambda measure: (
            measure.name.rpartition(".")[2].replace("Duration", "Duration (ms)"),
            measure.label,
            f"{measure.count:,}",
            f"{measure.total:,.0f}" if measure.name.endswith("LlmTokens") else "",
            f"{measure.mean:,.2f}",
            f"{measure.least:,.2f}",
            f"{measure.most:,.2f}",
            "",
        ),
        head=("compression in all projects", "", "times", "sum", "mean", "least", "most", "")
        if measures
        else (),
        right=range(2, 7),
    )


def _print_gap(rows: Sized, as_json: bool) -> None:
    """A blank line before rows for a person."""
    if rows and not as_json:
        print_text("")


def _print_questions(as_json: bool) -> None:
    questions = asked()
    days, dearest, whole = report(questions)
    _print_gap(questions, as_json)
    emit(
        [
            *(days if as_json else days[-DAYS_SHOWN:]),
            *(dearest if as_json else dearest[:SESSIONS_SHOWN]),
            *whole,
        ],
        as_json,
        lambda row: (
            row.by,
            row.label,
            f"{row.asked:,}",
            f"{row.tokens_in:,}",
            f"{row.tokens_out:,}",
            _price(row),
        ),
        head=("questions in all projects", "", "asked", "tokens in", "tokens out", "price")
        if questions
        else (),
        right=range(2, 5),
    )


def _price(spent: SpendingTotal) -> str:
    """`1.20`, and the number of questions without a price."""
    if spent.unpriced == 0:
        return f"{spent.price:,.2f}"
    return f"{spent.price:,.2f} and {spent.unpriced:,} without a price" if spent.price else "-"
