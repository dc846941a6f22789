"""`reviewer stats`: counts of candidates, measurements of compressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reviewer.cli.output import print_json, print_text, safe, table
from reviewer.cli.session import Session, Verb, pass_session

if TYPE_CHECKING:
    from reviewer.compression.measures import MeasureSummary
    from reviewer.engine import Engine

MEASURED = ("label", "count", "total", "mean", "least", "most")
USES_SHOWN, USE_CHARS = 10, 70
COLUMNS = ("waiting", "deferred", "promoted", "rejected", "beyond_cap")


@click.command(cls=Verb)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per project.")
@pass_session
def stats(session: Session, as_json: bool) -> None:
    """Count candidates by project and status, and uses; summarize measurements.

    Durations are in milliseconds. Compressions are measured across all projects.
    """
    with session.listing() as engine:
        names = [engine.project] if engine.project else engine.queue.projects()
        lines = [_project(engine, name) for name in names]
        measures = engine.compression.statistics()
        uses = engine.recall.uses(engine.project)
    if as_json:
        for line in lines:
            print_json(line)
        for use in uses:
            print_json({"use": use.memory, "used": use.used, "last": use.last})
        for measure in measures:
            print_json(_measure(measure))
        return
    head = ("project", *(column.replace("_", " ") for column in COLUMNS), "")
    body = [
        (safe(line["project"]), *(f"{line[column]:,}" for column in COLUMNS), "") for line in lines
    ]
    for text in table([head, *body], right=frozenset(range(1, len(COLUMNS) + 1))):
        print_text(text)
    if uses:
        print_text("")
    for use in uses[:USES_SHOWN]:
        print_text(f"#{use.memory} {use.words}: {safe(' '.join(use.content.split())[:USE_CHARS])}")
    if len(uses) > USES_SHOWN:
        print_text(f"... and {len(uses) - USES_SHOWN:,} more")
    if measures:
        print_text("")
        rows = [
            (
                measure.name.rpartition(".")[2],
                safe(measure.label),
                f"{measure.count:,}",
                f"{measure.total:,.0f}" if measure.name.endswith("LlmTokens") else "",
                f"{measure.mean:,.2f}",
                f"{measure.least:,.2f}",
                f"{measure.most:,.2f}",
                "",
            )
            for measure in measures
        ]
        head = ("compression", "", "times", "sum", "mean", "least", "most", "")
        for text in table([head, *rows], right=frozenset(range(2, 7))):
            print_text(text)


def _measure(measure: MeasureSummary) -> dict[str, Any]:
    return {"metric": measure.name, **{name: getattr(measure, name) for name in MEASURED}}


def _project(engine: Engine, name: str) -> dict[str, Any]:
    counts = engine.queue.counts(name)
    return {
        "project": name,
        **{column: getattr(counts, column) for column in COLUMNS},
        "promoted_today": counts.promoted_today,
        "rejected_today": counts.rejected_today,
    }
