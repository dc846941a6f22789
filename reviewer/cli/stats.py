"""`reviewer stats`: counts of candidates, measurements of compressions."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import emit, json_option, print_text
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.engine import Engine
    from reviewer.llm.spending import SpendingTotal

USES_SHOWN, USE_CHARS = 10, 70
DAYS_SHOWN, SESSIONS_SHOWN = 7, 5
COLUMNS = ("waiting", "deferred", "promoted", "rejected", "beyond_cap")


@click.command(cls=Verb)
@json_option("One JSON object per project.")
@pass_session
def stats(session: Session, as_json: bool) -> None:
    """Durations are in milliseconds. Compressions are measured across all projects, and so are
    questions to models: by day, by session and in total, at the prices in your settings.
    """
    with session.listing() as engine:
        names = [engine.project] if engine.project else engine.project_names()
        lines = [_project(engine, name) for name in names]
        measures = engine.compression.measures.summary()
        uses = engine.recall.uses(engine.project)
    emit(
        lines,
        as_json,
        lambda line: (line["project"], *(f"{line[column]:,}" for column in COLUMNS), ""),
        head=("project", *(column.replace("_", " ") for column in COLUMNS), ""),
        right=range(1, len(COLUMNS) + 1),
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
            measure.name.rpartition(".")[2],
            measure.label,
            f"{measure.count:,}",
            f"{measure.total:,.0f}" if measure.name.endswith("LlmTokens") else "",
            f"{measure.mean:,.2f}",
            f"{measure.least:,.2f}",
            f"{measure.most:,.2f}",
            "",
        ),
        head=("compression", "", "times", "sum", "mean", "least", "most", "") if measures else (),
        right=range(2, 7),
    )


def _print_gap(rows: Sized, as_json: bool) -> None:
    """A blank line before rows for a person."""
    if rows and not as_json:
        print_text("")


def _print_questions(as_json: bool) -> None:
    from reviewer.llm.spending import asked, report

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
        head=("questions", "", "asked", "tokens in", "tokens out", "price") if questions else (),
        right=range(2, 5),
    )


def _price(spent: SpendingTotal) -> str:
    """`1.20`, and the number of questions without a price."""
    if spent.unpriced == 0:
        return f"{spent.price:,.2f}"
    return f"{spent.price:,.2f} and {spent.unpriced:,} without a price" if spent.price else "-"


def _project(engine: Engine, name: str) -> dict[str, Any]:
    counts = engine.queue.counts(name)
    return {
        "project": name,
        **{column: getattr(counts, column) for column in COLUMNS},
        "promoted_today": counts.promoted_today,
        "rejected_today": counts.rejected_today,
    }
